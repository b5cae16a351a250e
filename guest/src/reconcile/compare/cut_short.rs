//! Turns that did not come to their end: they were cancelled, have failed, or the agent or a window was killed. Of such a turn an
//! agent may have kept the prompt alone, or nothing; so it may of a slash command, though that was answered. Between that prompt and
//! the next one it tells no answer, so it tells both as one, though the log has what was answered until then. All of it is compared
//! as one turn, and what the log has stays as it is. So it is with turns that had come to their end in another window, where what was
//! said behind them is told as it was: the agent's program may have read the session before anything was answered in them.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::joining::{Same, is_apart};
use crate::reconcile::turn::sum::Sum;
use crate::reconcile::turn::{Turn, said_together};

/// How many turns before one are looked at for those whose prompts are told with its own.
const MOST: usize = 64;

/// Such turns among `its`, which are in the order in which they were begun, and the turns of the replay among `theirs` that tell
/// them, where those are not known to be the `same` as others.
pub(super) fn told_by_prompts(
    log: &[Turn],
    its: &[usize],
    replay: &[Turn],
    theirs: Range<usize>,
    same: &[Same],
) -> Vec<Same> {
    let found: BTreeSet<usize> = same.iter().flat_map(|same| &same.turns).copied().collect();
    let is_free = |told: &usize| same.iter().all(|same| !same.told.contains(told));
    let turns: Vec<&Turn> = its.iter().map(|at| &log[*at]).collect();
    // Those behind a turn whose prompt may be told with theirs, by what the user says.
    let mut ends: BTreeMap<Sum, Vec<usize>> = BTreeMap::new();
    for (at, two) in turns.windows(2).enumerate().filter(|(_, two)| !two[0].user.is_empty()) {
        ends.entry(two[1].user).or_default().push(at + 1);
    }
    let is_told_behind =
        |turn: &Turn, told: usize| replay[told + 1..].iter().any(|theirs| theirs.said() == turn.said());
    let (mut by_prompts, mut free) = (Vec::new(), 0);
    for told in theirs.filter(is_free) {
        let prompts = replay[told].pieces();
        let by_last = prompts.split_last().map(|(last, before)| (*last, before));
        // A prompt of no words (an image) is told with the words before it, unless it is told by itself.
        let is_wordless_next = replay.get(told + 1).is_some_and(|next| next.user.is_empty());
        let with_wordless = (!is_wordless_next).then_some((Sum::default(), &prompts[..]));
        let mut ways = by_last.into_iter().chain(with_wordless);
        let is_whole = |group: &Range<usize>| {
            let group = &its[group.clone()];
            // Where all that is said in them is told, they are compared as they are, unless the first would be taken for all of it, or
            // the last for another turn, in which the same is said.
            let is_wordless = group.last().is_some_and(|last| log[*last].user.is_empty());
            let is_taken_apart = is_wordless || group.last().is_some_and(|last| is_told_behind(&log[*last], told));
            let is_same = !is_taken_apart && said_together(group.iter().map(|at| &log[*at])) == replay[told].said();
            let is_known = may_be_told_by_prompts(group, log, &replay[told]);
            !is_same && is_known && group.iter().all(|at| !found.contains(at)) && is_apart(group, log)
        };
        let group = ways.find_map(|(last, before)| {
            if before.is_empty() {
                return None;
            }
            let ends = ends.get(&last).map_or(&[][..], |ends| ends);
            let ends = ends[ends.partition_point(|end| *end < free)..].iter().copied();
            let mut ends = ends.filter(|end| has_all_of(turns[*end], &replay[told]));
            let group = |end| Some(free + first_of(&turns[free..end], before)?..end + 1).filter(is_whole);
            ends.find_map(group)
        });
        if let Some(group) = group {
            free = group.end;
            by_prompts.push(Same { turns: its[group].to_vec(), told: told..told + 1 });
        }
    }
    by_prompts
}

/// Where the last of these turns begin that have these prompts, in their order, if the agent may have kept the prompts alone, and of
/// those between, and of commands, nothing.
fn first_of(turns: &[&Turn], prompts: &[Sum]) -> Option<usize> {
    let mut missing = prompts;
    for (at, turn) in turns.iter().enumerate().rev().take(MOST) {
        match missing.split_last() {
            Some((prompt, before)) if *prompt == turn.user => missing = before,
            _ if !turn.may_be_kept_in_part() && !turn.is_silent() => return None,
            _ => {}
        }
        if missing.is_empty() {
            return Some(at);
        }
    }
    None
}

/// Whether the agent may tell nothing between its prompt and the next one.
fn may_be_told_by_prompt(turn: &Turn) -> bool {
    turn.may_be_kept_in_part() || turn.agent.sum().is_empty()
}

/// Whether the agent may tell those of these turns that come before the last by their prompts alone: each, or, where the last has the
/// answer that is told, any of its own: the program that goes on had read the session before that was answered in another window, or the
/// answer was a notice, as of what went wrong, that it does not keep.
fn may_be_told_by_prompts(group: &[usize], log: &[Turn], theirs: &Turn) -> bool {
    let Some((last, before)) = group.split_last().map(|(last, before)| (&log[*last], before)) else { return false };
    let told = theirs.agent.sum();
    let is_gone_on_with = !told.is_empty() && last.agent.sum() == told;
    let mut before = before.iter().map(|at| &log[*at]);
    before.all(|turn| may_be_told_by_prompt(turn) || is_gone_on_with && turn.took_part == Some(true))
}

/// Whether a turn of the log has all of the answer that is told.
fn has_all_of(turn: &Turn, theirs: &Turn) -> bool {
    let told = theirs.agent.sum();
    told.is_empty() || told == turn.agent.sum() || !turn.is_finished() && turn.agent.begins_with(told)
}
