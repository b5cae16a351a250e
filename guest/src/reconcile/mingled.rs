//! Turns that several windows had at the same time, as an agent tells them that keeps all its programs' words in one transcript:
//! each word stands there where it was said, so an answer goes on under the prompt of the other window. And what an agent says
//! while a prompt is on its way to it stands before that prompt in its transcript. The log knows which word belongs to which
//! turn. Where both say the same, however it is put together, what the log has is compared as one turn, and stays as it is.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::sum::Sum;
use super::text::Letters;
use super::turn::Turn;

/// How many turns at the same time are looked at.
const MOST: usize = 64;
/// In how many places of a replay they are looked for.
const MOST_PLACES: usize = 64;

/// Both sides, in which such turns are one.
pub(super) fn joined<'a>(log: &'a [Turn], replay: &'a [Turn]) -> (Cow<'a, [Turn]>, Cow<'a, [Turn]>) {
    let told = told_otherwise(log, replay);
    if told.is_empty() {
        return (Cow::Borrowed(log), Cow::Borrowed(replay));
    }
    let (mut ours, mut theirs) = (Joining::of(log), Joining::of(replay));
    for (group, told) in told {
        let (Some(one), Some(same)) = (ours.join(group), theirs.join(told)) else { continue };
        (same.user, same.agent, same.holds) = (one.user, one.agent.clone(), one.holds.clone());
    }
    (Cow::Owned(ours.finish()), Cow::Owned(theirs.finish()))
}

/// Such turns of a log, by their places, and those of a replay that say the same.
fn told_otherwise(log: &[Turn], replay: &[Turn]) -> Vec<(Vec<usize>, Range<usize>)> {
    let alike = |(ours, theirs): &(&Turn, &Turn)| key(ours) == key(theirs);
    let begin = log.iter().zip(replay).take_while(alike).count();
    let end = log[begin..].iter().rev().zip(replay[begin..].iter().rev()).take_while(alike).count();
    let (ours, theirs) = (begin..log.len() - end, begin..replay.len() - end);
    if ours.is_empty() || theirs.is_empty() {
        return Vec::new();
    }
    let mut its: Vec<usize> = ours.filter(|at| log[*at].took_part != Some(false)).collect();
    its.sort_by_key(|at| log[*at].at.start());
    let mut places: BTreeMap<Sum, Vec<usize>> = BTreeMap::new();
    for place in theirs {
        places.entry(replay[place].user).or_default().push(place);
    }
    let mut groups: Vec<(Vec<usize>, Order)> =
        at_once(log, &its).into_iter().map(|group| (group, Order::Any)).collect();
    groups.extend(its.iter().take(1).map(|first| (vec![*first], Order::AsSaid)));
    groups.extend(its.windows(2).map(|two| (two.to_vec(), Order::AsSaid)));
    groups.retain(|(group, _)| is_apart(group, log));
    groups.sort_by_key(|(group, order)| (group[0], *order));
    let (mut free, mut next) = (0, 0);
    let mut found = Vec::new();
    for (group, order) in groups {
        if group.iter().any(|at| *at < next) {
            continue;
        }
        let said: Vec<&Turn> = group.iter().map(|at| &log[*at]).collect();
        let starts = firsts(&said).into_iter().filter_map(|first| places.get(&first)).flatten();
        let starts = starts.copied().filter(|start| *start >= free).take(MOST_PLACES);
        let told = starts.filter_map(|start| told_from(start, &said, order, replay)).min_by_key(|told| told.start);
        if let Some(told) = told {
            (free, next) = (told.end, group.iter().max().map_or(0, |last| last + 1));
            found.push((group, told));
        }
    }
    found
}

fn key(turn: &Turn) -> (Sum, Sum) {
    (turn.user, turn.agent.sum())
}

/// In which order an agent may tell the words of some turns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Order {
    /// They were had at the same time.
    Any,
    /// What it said while a prompt was on its way to it is the last before that prompt to it, and the first behind it here.
    AsSaid,
}

/// What the first turn of a replay of these may begin with: agents put prompts together that follow each other.
fn firsts(turns: &[&Turn]) -> BTreeSet<Sum> {
    let mut together = Sum::default();
    let joined = turns.iter().map(|turn| {
        together = together.followed_by(turn.user);
        together
    });
    // Before its first prompt it may have said something.
    joined.chain(turns.iter().map(|turn| turn.user)).chain([Sum::default()]).collect()
}

/// Which turns of a replay, from this one on, say the same as these, told otherwise.
fn told_from(start: usize, turns: &[&Turn], order: Order, replay: &[Turn]) -> Option<Range<usize>> {
    let whole = turns.iter().fold(Said::default(), |said, turn| said.and(turn));
    let mut said = Said::default();
    for (at, turn) in replay.iter().enumerate().skip(start).take(turns.len() + 1) {
        said = said.and(turn);
        if said.is_same(&whole, order) {
            let told = &replay[start..=at];
            let is_alike = told.iter().map(key).eq(turns.iter().map(|turn| key(turn)));
            return (!is_alike).then_some(start..at + 1);
        }
    }
    None
}

/// What the user and the agent say in some turns, whatever is said in which of them.
#[derive(Debug, Default)]
struct Said {
    /// The prompts, one behind the other, and each.
    asked: Sum,
    prompts: Vec<Sum>,
    /// What the agent says.
    answered: Sum,
    letters: Letters,
}

impl Said {
    fn and(mut self, turn: &Turn) -> Self {
        if !turn.user.is_empty() {
            self.prompts.push(turn.user);
            self.prompts.sort_unstable();
        }
        Self {
            asked: self.asked.followed_by(turn.user),
            answered: self.answered.followed_by(turn.agent.sum()),
            letters: self.letters.and(turn.agent.letters()),
            ..self
        }
    }

    fn is_same(&self, other: &Self, order: Order) -> bool {
        let asks_alike = (self.asked == other.asked, self.prompts == other.prompts);
        match order {
            Order::Any => self.letters == other.letters && (asks_alike.0 || asks_alike.1),
            Order::AsSaid => self.answered == other.answered && asks_alike == (true, true),
        }
    }
}

/// Those of these turns, by their places and in the order in which they were begun, that were begun before others had come to
/// their end; with them those that are one with one of them to readers.
fn at_once(log: &[Turn], its: &[usize]) -> Vec<Vec<usize>> {
    let mut spans: BTreeMap<u32, (u64, u64, Vec<usize>)> = BTreeMap::new();
    for at in its {
        let turn = &log[*at];
        let (start, end, turns) = spans.entry(turn.one_with).or_insert((u64::MAX, 0, Vec::new()));
        (*start, *end) = (turn.at.start().min(*start), turn.at.end().max(*end));
        turns.push(*at);
    }
    let mut spans: Vec<_> = spans.into_values().collect();
    spans.sort_unstable();
    let (mut groups, mut end_of_all): (Vec<Vec<usize>>, u64) = (Vec::new(), 0);
    let mut of_several = Vec::new();
    for (start, end, turns) in spans {
        match groups.last_mut().filter(|_| start < end_of_all) {
            Some(group) => {
                group.extend(turns);
                of_several.push(groups.len() - 1);
            }
            None => groups.push(turns),
        }
        end_of_all = end_of_all.max(end);
    }
    of_several.dedup();
    let groups = of_several.into_iter().map(|at| std::mem::take(&mut groups[at])).filter(|group| group.len() <= MOST);
    let in_order = groups.map(|mut group| {
        group.sort_by_key(|at| log[*at].at.start());
        group
    });
    in_order.collect()
}

/// Whether none of these is one to readers with a turn beside them, with which it stays.
fn is_apart(group: &[usize], log: &[Turn]) -> bool {
    let (first, last) = (group.iter().min().copied(), group.iter().max().copied());
    let neighbours = [first.and_then(|first| first.checked_sub(1)), last.map(|last| last + 1)];
    let mut neighbours = neighbours.into_iter().flatten().filter_map(|at| log.get(at));
    !neighbours.any(|turn| group.iter().any(|at| log[*at].one_with == turn.one_with))
}

/// Turns of which some are being made one.
struct Joining(Vec<Option<Turn>>);

impl Joining {
    fn of(turns: &[Turn]) -> Self {
        Self(turns.iter().cloned().map(Some).collect())
    }

    /// Makes these one, in the place of the first.
    fn join(&mut self, places: impl IntoIterator<Item = usize>) -> Option<&mut Turn> {
        let (mut first, mut joined) = (usize::MAX, None);
        for at in places {
            first = first.min(at);
            let Some(turn) = self.0[at].take() else { continue };
            match &mut joined {
                None => joined = Some(turn),
                Some(joined) => Turn::join(joined, &turn),
            }
        }
        joined.map(|joined| self.0[first].insert(joined))
    }

    fn finish(self) -> Vec<Turn> {
        self.0.into_iter().flatten().collect()
    }
}
