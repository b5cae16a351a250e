//! Answers of which an agent tells the beginning alone, though they had come to their end. A program of the agent's goes on from what
//! it read when it opened the session: where another one was in the midst of a turn then, and wrote the rest later, a replay that
//! follows what the first one has said since has the beginning, and behind it what was said next.
//!
//! Somebody who went back, and had the agent answer anew, is told something else: another answer, or something else behind it.

use std::collections::{BTreeMap, BTreeSet};

use crate::reconcile::turn::Turn;
use crate::reconcile::turn::sum::Sum;

/// How many such turns of a replay are looked at, the last ones, and how many of the log that have the same prompt.
const MOST: usize = 16;

/// A turn of a log, and one of a replay that may tell the beginning of its answer.
#[derive(Debug, Clone, Copy)]
pub(in crate::reconcile) struct InPart {
    pub(in crate::reconcile) at: usize,
    other: usize,
    /// What is told.
    pub(in crate::reconcile) told: Sum,
}

/// Those of which it is to be looked whether the log's answer begins with what is told, from the last.
pub(in crate::reconcile) fn looked_for(log: &[Turn], replay: &[Turn]) -> Vec<InPart> {
    // Where the same was said over and over, what is told more often than it was said.
    let mut more: BTreeMap<(Sum, Sum), usize> = BTreeMap::new();
    for theirs in replay {
        *more.entry(theirs.said()).or_default() += 1;
    }
    for said in log.iter().map(Turn::said) {
        more.entry(said).and_modify(|more| *more = more.saturating_sub(1));
    }
    let mut unlike = |other: &usize| {
        let (prompt, answer) = replay[*other].said();
        let Some(more) = more.get_mut(&(prompt, answer)).filter(|more| **more > 0) else { return false };
        *more -= 1;
        !prompt.is_empty() && !answer.is_empty()
    };
    // Behind the last it tells nothing.
    let unlike: Vec<usize> =
        (0..replay.len().saturating_sub(1)).rev().filter(|other| unlike(other)).take(MOST).collect();
    if unlike.is_empty() {
        return Vec::new();
    }
    let theirs: BTreeSet<(Sum, Sum)> = replay.iter().map(Turn::said).collect();
    let may_be_told_in_part =
        |turn: &Turn| turn.took_part == Some(true) && turn.is_finished() && !theirs.contains(&turn.said());
    let mut places: BTreeMap<Sum, Vec<usize>> = BTreeMap::new();
    for (at, turn) in log.iter().enumerate().filter(|(_, turn)| may_be_told_in_part(turn)) {
        places.entry(turn.user).or_default().push(at);
    }
    let longer = |other: usize| {
        let (prompt, told) = replay[other].said();
        let all = places.get(&prompt).into_iter().flatten().rev().take(MOST);
        let longer = all.filter(move |at| log[**at].agent.sum().length() > told.length());
        longer.map(move |at| InPart { at: *at, other, told })
    };
    unlike.into_iter().flat_map(longer).collect()
}

/// Notes of these, whose answers begin with what is told, from the last, that they do: where the agent goes on behind it as the log
/// does, and tells nothing otherwise of what it was prompted since.
pub(in crate::reconcile) fn note(log: &mut [Turn], replay: &[Turn], begun: impl IntoIterator<Item = InPart>) {
    // What it was prompted, and all that was said in those turns.
    let mut places: BTreeMap<Sum, Vec<usize>> = BTreeMap::new();
    let mut said: BTreeSet<(Sum, Sum)> = BTreeSet::new();
    for (at, turn) in log.iter().enumerate() {
        if turn.took_part != Some(false) && !turn.user.is_empty() {
            places.entry(turn.user).or_default().push(at);
            said.insert(turn.said());
        }
    }
    let mut behind = replay.len();
    for InPart { at, other, told } in begun {
        while behind > other + 1 {
            behind -= 1;
            let theirs = &replay[behind];
            let Some(prompted) = places.get(&theirs.user).filter(|_| !said.contains(&theirs.said())) else { continue };
            if !prompted.iter().rev().take(MOST).any(|at| is_as_told(&log[*at], theirs)) {
                return;
            }
        }
        let next = &replay[other + 1];
        let since = places.get(&next.user).map_or(&[][..], |all| &all[all.partition_point(|place| *place <= at)..]);
        if since.iter().take(MOST).any(|at| is_as_told(&log[*at], next)) {
            let turn = &mut log[at];
            turn.agent = turn.agent.clone().begun_with(told);
        }
    }
}

/// Whether a turn of the log is that one of the replay, as far as it came.
fn is_as_told(ours: &Turn, theirs: &Turn) -> bool {
    let (answer, told) = (ours.agent.sum(), theirs.agent.sum());
    let is_more = !ours.is_finished() && theirs.agent.begins_with(answer);
    let is_less = !ours.is_finished() && ours.agent.begins_with(told);
    ours.user == theirs.user && (answer == told || is_more || is_less || ours.is_told_in_part(theirs))
}
