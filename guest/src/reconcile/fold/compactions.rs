//! Where a transcript or a replay tells that what was said before was compacted.

use crate::reconcile::turn::Turn;
use crate::reconcile::turn::sum::Sum;

/// How many are looked at, from the last.
const MOST: usize = 32;

/// All that are told, as far as they are looked at.
#[derive(Debug, Clone, Default)]
pub(in crate::reconcile) struct Compactions {
    /// The first thing told is one.
    pub(in crate::reconcile) is_first: bool,
    /// The entries of those behind the first thing told, and what of the answer that they stand in came before.
    behind: Vec<(u64, Sum)>,
    /// The tool call (its id, as JSON) that the last of them is told as, if it is.
    call: Option<String>,
}

impl Compactions {
    pub(in crate::reconcile) fn are_none(&self) -> bool {
        !self.is_first && self.behind.is_empty()
    }

    pub(in crate::reconcile) fn note(&mut self, number: u64, answered: Sum) {
        if self.behind.len() == MOST {
            self.behind.remove(0);
        }
        self.behind.push((number, answered));
        self.call = None;
    }

    /// The last of them is told as the tool call of this id (JSON).
    pub(super) fn begun_by(&mut self, call: Option<&str>) {
        self.call = call.map(str::to_owned);
    }

    /// The tool call of this id (JSON) has failed: if it was the last of them, nothing was compacted.
    pub(in crate::reconcile) fn failed(&mut self, call: &str) {
        if self.call.take_if(|begun| begun == call).is_some() {
            self.behind.pop();
        }
    }

    /// Which of these turns those behind the first thing told stand in, and what of the answer comes before them.
    pub(in crate::reconcile) fn places(&self, turns: &[Turn]) -> Vec<(usize, Sum)> {
        let has = |turn: &Turn, number: u64| turn.at.runs().any(|run| run.contains(&number));
        let place =
            |(number, answered): &(u64, Sum)| Some((turns.iter().position(|turn| has(turn, *number))?, *answered));
        let mut places: Vec<(usize, Sum)> = self.behind.iter().filter_map(place).collect();
        places.sort_unstable();
        places.dedup();
        places
    }
}
