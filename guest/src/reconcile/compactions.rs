//! Where a transcript or a replay tells that what was said before was compacted.

use super::sum::Sum;
use super::turn::Turn;

/// How many are looked at, from the last.
const MOST: usize = 32;

/// All that are told, as far as they are looked at.
#[derive(Debug, Clone, Default)]
pub(super) struct Compactions {
    /// The first thing told is one.
    pub(super) is_first: bool,
    /// The entries of those behind the first thing told, and what of the answer that they stand in came before.
    behind: Vec<(u64, Sum)>,
}

impl Compactions {
    pub(super) fn are_none(&self) -> bool {
        !self.is_first && self.behind.is_empty()
    }

    pub(super) fn note(&mut self, number: u64, answered: Sum) {
        if self.behind.len() == MOST {
            self.behind.remove(0);
        }
        self.behind.push((number, answered));
    }

    /// Which of these turns those behind the first thing told stand in, and what of the answer comes before them.
    pub(super) fn places(&self, turns: &[Turn]) -> Vec<(usize, Sum)> {
        let has = |turn: &Turn, number: u64| turn.at.runs().any(|run| run.contains(&number));
        let place =
            |(number, answered): &(u64, Sum)| Some((turns.iter().position(|turn| has(turn, *number))?, *answered));
        let mut places: Vec<(usize, Sum)> = self.behind.iter().filter_map(place).collect();
        places.sort_unstable();
        places.dedup();
        places
    }
}
