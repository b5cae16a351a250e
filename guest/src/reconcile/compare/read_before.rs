//! Turns that an agent tells by their prompts alone, before those that its program has answered: it had read the session before anything
//! was answered to them in another window. What was queued in its own window it tells prompt by prompt behind them, as it was answered;
//! and the first of those prompts with theirs.

use std::collections::BTreeSet;
use std::ops::Range;

use super::all_said::AllSaid;
use super::joining::{Same, is_apart};
use super::together::queues;
use crate::reconcile::turn::sum::Sum;
use crate::reconcile::turn::{MOST_JOINED, Turn};

/// How many turns of a replay are looked at for those that tell what was queued.
const MOST: usize = 64;

/// Turns of a log, by their places, that are told by their prompts alone, and those that are told whole, with the first of which they are.
#[derive(Debug)]
pub(in crate::reconcile) struct ReadBefore {
    pub(in crate::reconcile) before: Vec<usize>,
    pub(in crate::reconcile) whole: Vec<usize>,
}

impl ReadBefore {
    /// The last of these, and those that are told by their prompts with it.
    pub(super) fn of(same: &Same) -> Option<Self> {
        let (last, before) = same.turns.split_last()?;
        Some(Self { before: before.to_vec(), whole: vec![*last] })
    }

    /// All of them, that are told by these turns of the replay.
    pub(super) fn told_by(self, told: Range<usize>) -> Same {
        Same { turns: [self.before, self.whole].concat(), told }
    }
}

/// Such turns among `its`, which are in the order in which they were begun, before what was queued, with the turns of the replay among
/// `theirs` that tell them, where those are not known to be the `same` as others.
pub(super) fn queued(
    log: &[Turn],
    its: &[usize],
    replay: &[Turn],
    theirs: Range<usize>,
    same: &[Same],
) -> Vec<(ReadBefore, Range<usize>)> {
    let found: BTreeSet<usize> = same.iter().flat_map(|same| &same.turns).copied().collect();
    let mut taken: BTreeSet<usize> = same.iter().flat_map(|same| same.told.clone()).collect();
    let mut all: Vec<(ReadBefore, Range<usize>)> = Vec::new();
    for queue in queues(its, log) {
        let before = under_way(&queue, its, log);
        let told = theirs.clone().filter(|told| !taken.contains(told)).find_map(|first| {
            let behind = (first..theirs.end).take_while(|told| !taken.contains(told)).take(MOST);
            told_from(first, (&before, &queue), behind, (log, its, replay))
        });
        let Some((before, told)) = told else { continue };
        let known = || found.iter().chain(all.iter().flat_map(|(other, _)| other.before.iter().chain(&other.whole)));
        let together = [&before[..], &queue].concat();
        if is_apart(&together, log) && !known().any(|at| together.contains(at)) {
            taken.extend(told.clone());
            all.push((ReadBefore { before, whole: queue }, told));
        }
    }
    all
}

/// The turns of other windows that were under way when the first of these was begun.
fn under_way(queue: &[usize], its: &[usize], log: &[Turn]) -> Vec<usize> {
    let Some(first) = queue.first().map(|at| &log[*at]) else { return Vec::new() };
    let is_under_way = |turn: &Turn| {
        let is_elsewhere = turn.window != 0 && first.window != 0 && turn.window != first.window;
        is_elsewhere && turn.begun_at() < first.begun_at() && first.is_begun_before_end_of(turn)
    };
    let others = its.iter().copied().filter(|at| log[*at].one_with != first.one_with);
    others.filter(|at| is_under_way(&log[*at])).collect()
}

/// From the first of these turns of the replay on, those that tell what was queued, if it has prompts of some of those before in front;
/// with all that is one with them.
fn told_from(
    first: usize,
    (before, queue): (&[usize], &[usize]),
    behind: impl Iterator<Item = usize>,
    (log, its, replay): (&[Turn], &[usize], &[Turn]),
) -> Option<(Vec<usize>, Range<usize>)> {
    let pieces = replay[first].pieces();
    let asked = log[*queue.first()?].user;
    let mut begins = (1..pieces.len().min(MOST_JOINED + 1)).filter(|begin| pieces[*begin] == asked);
    let (begin, read) = begins.find_map(|begin| Some((begin, with_prompts(&pieces[..begin], before, log)?)))?;
    let (mut ours, mut theirs) = (AllSaid::default(), AllSaid::default());
    for turn in queue.iter().map(|at| &log[*at]) {
        ours.add(turn, &[turn.user]);
    }
    for told in behind {
        let pieces = replay[told].pieces();
        theirs.add(&replay[told], if told == first { &pieces[begin..] } else { &pieces });
        if ours.is_same(&theirs, false) {
            let one_with: BTreeSet<u32> = read.iter().map(|at| log[*at].one_with).collect();
            let all = its.iter().copied().filter(|at| one_with.contains(&log[*at].one_with));
            return Some((all.collect(), first..told + 1));
        }
    }
    None
}

/// The last of these turns that have these prompts, in their order.
fn with_prompts(prompts: &[Sum], turns: &[usize], log: &[Turn]) -> Option<Vec<usize>> {
    let (mut found, mut turns) = (Vec::new(), turns.iter().rev());
    for prompt in prompts.iter().rev() {
        found.push(*turns.find(|at| log[**at].user == *prompt)?);
    }
    found.reverse();
    Some(found)
}
