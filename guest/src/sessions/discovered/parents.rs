//! What the session has cost from which another was forked.

use crate::store::{Amount, Cost, Costs};

/// What a fork's count may begin at: several sums where several processes or windows have told some of their own.
pub(super) struct Parents {
    /// What the parent was last said to have cost here.
    pub(super) told: Costs,
    /// What it is known to have cost.
    pub(super) known: Costs,
    /// What its row says.
    pub(super) listed: Option<Cost>,
}

impl Parents {
    /// The largest of its sums that is not more than what the fork is said to have cost; none where all are.
    pub(super) fn within(&self, of_fork: &Cost) -> Option<Cost> {
        let sums = self.told.iter().chain(self.known.iter()).chain(&self.listed);
        let sums = sums.filter(|sum| sum.currency == of_fork.currency && sum.amount <= of_fork.amount);
        sums.max_by_key(|sum| sum.amount).cloned()
    }

    /// What the fork begins at whose row says this. Where its row does not say which sum that is, it is what was said last: a
    /// smaller sum in the list is that of an older one. Where its row says less than all of them, it has begun at nothing: it
    /// was found with that sum, so nothing of its parent's was noted as what it began at.
    pub(super) fn begin(&self, of_fork: Option<&Cost>) -> Costs {
        let mut begins_at = self.told.clone();
        if let Some(listed) = &self.listed {
            begins_at.raise(listed);
        }
        let Some(of_fork) = of_fork else { return begins_at };
        if let Some(within) = self.within(of_fork) {
            begins_at.set(&within);
        } else if self.known.of(&of_fork.currency).or(begins_at.of(&of_fork.currency)).is_some() {
            begins_at = Costs::default();
            begins_at.set(&Cost { amount: Amount::default(), currency: of_fork.currency.clone() });
        }
        begins_at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars(amount: &str) -> Cost {
        Cost { amount: Amount::parse(amount).unwrap(), currency: "USD".to_owned() }
    }

    fn sums(amounts: &[&str]) -> Costs {
        let mut costs = Costs::default();
        for amount in amounts {
            costs.set(&dollars(amount));
        }
        costs
    }

    #[test]
    fn a_fork_begins_at_the_largest_sum_that_it_can_have_begun_at() {
        for (told, known, listed, of_fork, begins_at) in [
            (&[][..], &[][..], None, Some("3"), &[][..]),
            (&["2"], &["2"], None, None, &["2"]),
            (&["2"], &["2"], Some("3"), None, &["3"]),
            (&["2"], &["2"], Some("1"), None, &["2"]),
            (&["2"], &["2"], Some("1"), Some("1.5"), &["1"]),
            (&["1"], &["3"], None, None, &["1"]),
            (&["1"], &["3"], None, Some("3.5"), &["3"]),
            (&["1"], &["3"], None, Some("2"), &["1"]),
            // It has begun a count of its own.
            (&["2"], &["2"], Some("3"), Some("0.5"), &["0"]),
        ] {
            let parents = Parents { told: sums(told), known: sums(known), listed: listed.map(dollars) };
            let of_fork = of_fork.map(dollars);
            assert_eq!(parents.begin(of_fork.as_ref()), sums(begins_at), "{told:?} {known:?} {listed:?} {of_fork:?}");
        }
    }
}
