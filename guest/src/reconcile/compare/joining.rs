//! Turns of a log, and of its replay, that are compared as one turn.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use crate::reconcile::turn::Turn;

/// Turns of a log, by their places, and those of a replay that say the same otherwise.
pub(in crate::reconcile) struct Same {
    pub(in crate::reconcile) turns: Vec<usize>,
    pub(super) told: Range<usize>,
}

/// Both sides, in which all of these are one turn each, which is the same in both; and these groups of the log one turn.
pub(super) fn joined<'a>(
    log: &'a [Turn],
    replay: &'a [Turn],
    same: Vec<Same>,
    groups: Vec<Vec<usize>>,
) -> (Cow<'a, [Turn]>, Cow<'a, [Turn]>) {
    if same.is_empty() && groups.is_empty() {
        return (Cow::Borrowed(log), Cow::Borrowed(replay));
    }
    let (mut ours, mut theirs) = (Joining::of(log), Joining::of(replay));
    for Same { turns, told } in same {
        let (Some(one), Some(same)) = (ours.join(turns), theirs.join(told)) else { continue };
        (same.user, same.agent) = (one.user, one.agent.clone());
        same.parts.set_halves(one.parts.halves().to_vec());
    }
    for group in groups {
        ours.join(group);
    }
    (Cow::Owned(ours.finish()), Cow::Owned(theirs.finish()))
}

/// The turns among these that the agent may have taken part in, in the order in which they were begun.
pub(super) fn its_in(log: &[Turn], range: Range<usize>) -> Vec<usize> {
    let mut its: Vec<usize> = range.filter(|at| log[*at].took_part != Some(false)).collect();
    its.sort_by_key(|at| log[*at].at.start());
    its
}

/// Whether none of these is one to readers with a turn beside or between them, with which it stays.
pub(super) fn is_apart(group: &[usize], log: &[Turn]) -> bool {
    let (Some(first), Some(last)) = (group.iter().min(), group.iter().max()) else { return true };
    let of_group: BTreeSet<u32> = group.iter().map(|at| log[*at].one_with).collect();
    let mut others = (first.saturating_sub(1)..=last + 1).filter(|at| !group.contains(at));
    !others.any(|at| log.get(at).is_some_and(|turn| of_group.contains(&turn.one_with)))
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
