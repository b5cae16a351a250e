//! Which parts of a sum were counted: from an amount on up to another.

use serde::{Deserialize, Serialize};

use super::cost::{Amount, Cost, Costs};

/// How many are remembered.
const MOST_PARTS: usize = 16;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    from: Amount,
    to: Amount,
    currency: String,
}

impl Part {
    /// How much of it the other one has as well, in the same unit.
    fn shared_with(&self, other: &Self) -> Option<Self> {
        let (from, to) = (self.from.max(other.from), self.to.min(other.to));
        let is_part = self.currency == other.currency && from < to;
        is_part.then(|| Self { from, to, currency: self.currency.clone() })
    }

    fn touches(&self, other: &Self) -> bool {
        self.currency == other.currency && self.from <= other.to && other.from <= self.to
    }

    fn length(&self) -> Cost {
        Cost { amount: self.to.since(self.from).unwrap_or_default(), currency: self.currency.clone() }
    }
}

/// Which parts of a sum have been counted, for each unit by itself; no two of them overlap. Of more than can be remembered those
/// that came first are forgotten.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Counted(Vec<Part>);

impl Counted {
    /// What has come to a sum that was this amount before.
    pub fn up_to(sum: &Cost, from: Amount) -> Self {
        let part = Part { from, to: sum.amount, currency: sum.currency.clone() };
        Self(Some(part).filter(|part| part.from < part.to).into_iter().collect())
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// These, too.
    pub fn add_all(&mut self, others: &Self) {
        for other in &others.0 {
            let mut all = other.clone();
            self.0.retain(|part| {
                let touches = part.touches(&all);
                if touches {
                    all.from = all.from.min(part.from);
                    all.to = all.to.max(part.to);
                }
                !touches
            });
            if self.0.len() >= MOST_PARTS {
                self.0.remove(0);
            }
            self.0.push(all);
        }
    }

    /// What these and the others have both.
    #[must_use]
    pub fn shared_with(&self, others: &Self) -> Self {
        let shared = self.0.iter().flat_map(|part| others.0.iter().filter_map(|other| part.shared_with(other)));
        Self(shared.collect())
    }

    /// What these have and the others have not.
    #[must_use]
    pub fn without(&self, others: &Self) -> Self {
        let mut left = self.0.clone();
        for other in &others.0 {
            let parts = left.into_iter().flat_map(|part| {
                let Some(Part { from, to, .. }) = part.shared_with(other) else { return vec![part] };
                let below = Part { to: from, ..part.clone() };
                let above = Part { from: to, ..part };
                [below, above].into_iter().filter(|part| part.from < part.to).collect()
            });
            left = parts.collect();
        }
        Self(left)
    }

    /// What of those in which this sum lies, neither at the beginning nor at the end, is below it.
    #[must_use]
    pub fn cut_by(&self, sum: &Cost) -> Self {
        let lies_in = |part: &&Part| part.currency == sum.currency && part.from < sum.amount && sum.amount < part.to;
        let below = self.0.iter().filter(lies_in).map(|part| Part { to: sum.amount, ..part.clone() });
        Self(below.collect())
    }

    /// How much all of them are.
    pub fn sums(&self) -> Costs {
        let mut sums = Costs::default();
        self.0.iter().for_each(|part| sums.add(&part.length()));
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dollars(amount: u32) -> Cost {
        Cost { amount: Amount::parse(&amount.to_string()).unwrap(), currency: "USD".to_owned() }
    }

    fn parts(of: &[(u32, u32)]) -> Counted {
        let mut parts = Counted::default();
        for (from, to) in of {
            parts.add_all(&Counted::up_to(&dollars(*to), dollars(*from).amount));
        }
        parts
    }

    fn written(parts: &Counted) -> Vec<String> {
        let mut all: Vec<String> = parts.0.iter().map(|part| format!("{}-{}", part.from, part.to)).collect();
        all.sort_unstable();
        all
    }

    #[test]
    fn parts_that_touch_are_one() {
        for (of, all) in [
            (&[(1, 2), (2, 3)][..], &["1-3"][..]),
            (&[(1, 2), (3, 4)], &["1-2", "3-4"]),
            (&[(1, 2), (5, 6), (2, 5)], &["1-6"]),
            (&[(1, 4), (2, 3)], &["1-4"]),
            (&[(2, 2), (3, 1)], &[]),
        ] {
            assert_eq!(written(&parts(of)), all, "{of:?}");
        }
        let many: Vec<(u32, u32)> = (0..20).map(|at| (at * 2, at * 2 + 1)).collect();
        assert_eq!(parts(&many).0.len(), MOST_PARTS);
    }

    #[test]
    fn what_both_have_is_told_from_what_one_has() {
        for (one, other, shared, left) in [
            (&[(1, 5)][..], &[(2, 3)][..], &["2-3"][..], &["1-2", "3-5"][..]),
            (&[(1, 5)], &[(0, 9)], &["1-5"], &[]),
            (&[(1, 5)], &[(5, 6)], &[], &["1-5"]),
            (&[(1, 3), (5, 8)], &[(2, 6)], &["2-3", "5-6"], &["1-2", "6-8"]),
            (&[(1, 8)], &[(2, 3), (5, 6)], &["2-3", "5-6"], &["1-2", "3-5", "6-8"]),
        ] {
            assert_eq!(written(&parts(one).shared_with(&parts(other))), shared, "{one:?} {other:?}");
            assert_eq!(written(&parts(one).without(&parts(other))), left, "{one:?} {other:?}");
        }
        let euros = Counted::up_to(&Cost { currency: "EUR".to_owned(), ..dollars(3) }, dollars(1).amount);
        assert_eq!(euros.shared_with(&parts(&[(1, 3)])), Counted::default());
        assert_eq!(euros.without(&parts(&[(1, 3)])), euros);
    }

    #[test]
    fn what_is_below_a_sum_is_that_of_the_ones_in_which_it_lies() {
        let all = parts(&[(1, 3), (5, 9)]);
        for (sum, below) in [(1, &[][..]), (2, &["1-2"]), (3, &[]), (4, &[]), (7, &["5-7"]), (9, &[])] {
            assert_eq!(written(&all.cut_by(&dollars(sum))), below, "{sum}");
        }
        assert_eq!(all.sums().of("USD"), Some(dollars(6).amount));
    }
}
