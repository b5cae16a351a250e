//! Sums that others were told, which the agent of this window may have taken up.

use serde::{Deserialize, Serialize};

use crate::store::{Amount, Cost, Costs};

/// How many are kept: of more the first heard are forgotten.
const MOST_SUMS: usize = 64;

/// What others were told that one of the agent's sessions has cost, and what it was known to have cost. Which of it the agent
/// goes on counting from, if from any, shows when it says something itself.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(in crate::connection) struct OthersSums(Vec<Cost>);

impl OthersSums {
    /// The agent may have taken up these, too.
    pub(super) fn add(&mut self, sums: &Costs) {
        sums.iter().for_each(|sum| self.add_one(sum));
    }

    /// The agent may have taken up this one, too.
    pub(super) fn add_one(&mut self, sum: &Cost) {
        if self.0.contains(sum) {
            return;
        }
        if self.0.len() >= MOST_SUMS {
            self.0.remove(0);
        }
        self.0.push(sum.clone());
    }

    /// The agent may have taken up what another one may have.
    pub(super) fn add_all(&mut self, others: &Self) {
        others.0.iter().for_each(|sum| self.add_one(sum));
    }

    /// The agent has said this itself: what it can have taken up by then, if anything, is the largest that is not more. None of
    /// its unit counts any more.
    pub(super) fn settle(&mut self, said: &Cost) -> Amount {
        let of_unit = self.0.extract_if(.., |sum| sum.currency == said.currency);
        of_unit.map(|sum| sum.amount).filter(|amount| *amount <= said.amount).max().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_that_is_not_more_was_taken_up_and_each_unit_is_settled_by_itself() {
        let cost =
            |amount: &str, unit: &str| Cost { amount: Amount::parse(amount).unwrap(), currency: unit.to_owned() };
        let mut heard = OthersSums::default();
        for sum in [cost("3", "USD"), cost("1", "USD"), cost("2", "USD"), cost("5", "EUR"), cost("2", "USD")] {
            heard.add_one(&sum);
        }
        assert_eq!(heard.0.len(), 4);
        for (said, taken_up) in
            [(cost("2.5", "USD"), "2"), (cost("9", "USD"), "0"), (cost("4", "EUR"), "0"), (cost("6", "EUR"), "0")]
        {
            assert_eq!(heard.settle(&said).to_string(), taken_up, "{said:?}");
        }
    }

    #[test]
    fn sums_that_others_were_told_are_bounded() {
        let mut heard = OthersSums::default();
        for amount in 0..=MOST_SUMS {
            heard.add_one(&Cost { amount: Amount::parse(&amount.to_string()).unwrap(), currency: "USD".to_owned() });
        }
        assert_eq!(heard.0.len(), MOST_SUMS);
        assert_eq!(heard.settle(&Cost { amount: Amount::default(), currency: "USD".to_owned() }), Amount::default());
    }
}
