//! Turns that are one to readers: prompts that were not waited for, of which the last alone has an end.

use std::collections::BTreeMap;

use super::joining::is_apart;
use crate::reconcile::turn::Turn;

/// How many turns are one, and where the last of them ends, of some turns.
#[derive(Debug, Default)]
pub(super) struct Together(BTreeMap<u32, (usize, u64)>);

impl Together {
    pub(super) fn of<'a>(turns: impl Iterator<Item = &'a Turn>) -> Self {
        let mut all: BTreeMap<u32, (usize, u64)> = BTreeMap::new();
        for turn in turns {
            let (count, end) = all.entry(turn.one_with).or_default();
            (*count, *end) = (*count + 1, turn.ended_at().max(*end));
        }
        Self(all)
    }

    /// The last entry of all that is one with this turn.
    pub(super) fn end_of(&self, turn: &Turn) -> u64 {
        self.0.get(&turn.one_with).map_or(0, |(_, end)| *end)
    }

    /// Whether the agent was at several prompts at once, of which this is one: what it answered to each is not known.
    pub(super) fn is_queued(&self, turn: &Turn) -> bool {
        self.0.get(&turn.one_with).is_some_and(|(count, _)| *count > 1)
    }
}

/// Of these turns of a log, by their places, those of which several are one, together, and which stay as they are beside all others.
pub(super) fn queues(its: &[usize], log: &[Turn]) -> impl Iterator<Item = Vec<usize>> {
    let mut all: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for at in its {
        all.entry(log[*at].one_with).or_default().push(*at);
    }
    all.into_values().filter(|turns| turns.len() > 1 && is_apart(turns, log))
}
