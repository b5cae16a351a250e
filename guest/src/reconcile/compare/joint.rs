//! Turns that are one to readers, because a client did not wait for the end of one before it sent the next prompt.
//!
//! Each is compared by itself. But readers are given all that bears their tag at once, so nothing can be put in between
//! them: where something would be, they are compared as one turn.

use std::collections::{BTreeMap, BTreeSet};

use crate::reconcile::plan::{Piece, Plan};
use crate::reconcile::turn::Turn;

/// Those between whose turns a plan would put something in, or of which it would keep a part only, by [`Turn::one_with`].
pub(in crate::reconcile) fn torn(plan: &Plan, log: &[Turn]) -> BTreeSet<u32> {
    let several = several(log);
    let mut torn = BTreeSet::new();
    let mut before: BTreeMap<u32, Option<usize>> = BTreeMap::new();
    for turn in log.iter().filter(|turn| several.contains(&turn.one_with)) {
        // None: it is not kept.
        let inserts = inserts_before(plan, turn.at.start());
        if *before.entry(turn.one_with).or_insert(inserts) != inserts {
            torn.insert(turn.one_with);
        }
    }
    torn
}

/// Those of which there are several turns.
pub(in crate::reconcile) fn several(log: &[Turn]) -> BTreeSet<u32> {
    let mut all: Vec<u32> = log.iter().map(|turn| turn.one_with).collect();
    all.sort_unstable();
    all.windows(2).filter(|two| two[0] == two[1]).map(|two| two[0]).collect()
}

/// How much is put in before this entry, if it is kept.
fn inserts_before(plan: &Plan, number: u64) -> Option<usize> {
    let at = plan.pieces.iter().position(|piece| matches!(piece, Piece::Keep(range) if range.contains(&number)))?;
    Some(plan.pieces[..at].iter().filter(|piece| matches!(piece, Piece::Insert(_))).count())
}

/// The turns of a transcript, those of each of these as one.
pub(in crate::reconcile) fn joined(log: &[Turn], torn: &BTreeSet<u32>) -> Vec<Turn> {
    let mut turns: Vec<Turn> = Vec::with_capacity(log.len());
    let mut places: BTreeMap<u32, usize> = BTreeMap::new();
    for turn in log {
        if let Some(place) = places.get(&turn.one_with) {
            turns[*place].join(turn);
            continue;
        }
        if torn.contains(&turn.one_with) {
            places.insert(turn.one_with, turns.len());
        }
        turns.push(turn.clone());
    }
    turns
}
