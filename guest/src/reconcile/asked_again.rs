//! Prompts that an agent tells once more in the midst of what it answered to them: opencode does where it had to compact the conversation
//! first, behind the summary. What the log has of such a turn is compared as one turn, and stays as it is.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::joining::{self, Same};
use super::sum::Sum;
use super::turn::Turn;

/// How often a prompt is told at most.
const MOST: usize = 8;

/// Both sides, in which such turns of the replay are one.
pub(super) fn joined<'a>(log: &'a [Turn], replay: &'a [Turn]) -> (Cow<'a, [Turn]>, Cow<'a, [Turn]>) {
    let mut same = Vec::new();
    let mut ours: Option<BTreeMap<(Sum, Sum), Vec<usize>>> = None;
    let mut free = (0, 0);
    for stretch in stretches(replay) {
        let ours = ours.get_or_insert_with(|| places(log));
        for first in stretch.clone() {
            let ends = first + 2..=stretch.end.min(first + MOST);
            let told = ends.map(|end| first..end).filter(|told| told.start >= free.1).find_map(|told| {
                let answer = replay[told.clone()].iter().map(|turn| turn.agent.sum());
                let answer = answer.fold(Sum::default(), Sum::followed_by);
                let places = ours.get(&(replay[first].user, answer))?;
                let at = places.iter().find(|at| **at >= free.0)?;
                Some(Same { turns: vec![*at], told })
            });
            if let Some(found) = told {
                free = (found.turns[0] + 1, found.told.end);
                same.push(found);
            }
        }
    }
    joining::joined(log, replay, same, Vec::new())
}

/// Where turns stand one behind the other that begin with the same prompt, each answered.
fn stretches(replay: &[Turn]) -> impl Iterator<Item = std::ops::Range<usize>> {
    let is_asked_again = |before: &Turn, behind: &Turn| {
        !before.user.is_empty() && before.user == behind.user && !before.agent.sum().is_empty()
    };
    let mut begin = 0;
    let stretches = replay.chunk_by(is_asked_again).map(move |stretch| {
        begin += stretch.len();
        begin - stretch.len()..begin
    });
    stretches.filter(|stretch| stretch.len() > 1)
}

/// Where each turn of the agent's own stands in the log, by what is said in it.
fn places(log: &[Turn]) -> BTreeMap<(Sum, Sum), Vec<usize>> {
    let mut places: BTreeMap<(Sum, Sum), Vec<usize>> = BTreeMap::new();
    for (at, turn) in log.iter().enumerate().filter(|(_, turn)| turn.took_part != Some(false)) {
        places.entry(turn.said()).or_default().push(at);
    }
    places
}
