//! What the agent has said that its sessions cost which were open on this connection and are not any more: it may go on
//! counting where it was when one is opened again, whatever other windows were told meanwhile.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use crate::store::Costs;

/// The sums of the last few of them, by whose they are; see [`crate::transcript::speaker`].
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Sums(VecDeque<(String, Costs)>);

/// Of how many sessions they are remembered.
const MOST_SUMS: usize = 256;

impl Sums {
    /// This was said last of that one.
    pub(super) fn keep(&mut self, of: String, told: Costs) {
        self.0.retain(|(known, _)| *known != of);
        if self.0.len() >= MOST_SUMS {
            self.0.pop_front();
        }
        self.0.push_back((of, told));
    }

    /// What was said last of this one, if it was open before.
    pub(super) fn of(&self, of: &str) -> Option<&Costs> {
        self.0.iter().find(|(known, _)| known == of).map(|(_, told)| told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_are_remembered_of_the_last_few_sessions() {
        let mut sums = Sums::default();
        for number in 0..MOST_SUMS + 2 {
            sums.keep(number.to_string(), Costs::default());
            sums.keep("1".to_owned(), Costs::default());
        }
        assert_eq!(["0", "1", "2", "3"].map(|of| sums.of(of).is_some()), [false, true, false, true]);
        assert_eq!(sums.0.len(), MOST_SUMS);
    }
}
