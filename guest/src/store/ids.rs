//! Ids of sessions, to be looked up among thousands.

use std::cmp::Ordering;
use std::iter;
use std::ops::Range;

/// Ids, each once and in their order. They stand in one text, one behind the other: thousands of texts take longer to make and
/// to free than to be looked up.
#[derive(Debug, Clone, Default)]
pub struct Ids {
    text: String,
    all: Vec<Id>,
}

/// Where an id stands in the text, and its first bytes as a number: these tell nearly all ids apart, where to compare texts
/// takes several times as long.
#[derive(Debug, Clone, Copy)]
struct Id {
    beginning: u64,
    start: usize,
    end: usize,
}

impl Id {
    fn range(self) -> Range<usize> {
        self.start..self.end
    }
}

impl Ids {
    /// Where this one stands among them.
    pub fn position(&self, id: &str) -> Option<usize> {
        let beginning = beginning(id);
        let compare = |other: &Id| other.beginning.cmp(&beginning).then_with(|| self.text[other.range()].cmp(id));
        self.all.binary_search_by(compare).ok()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.all.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// Where those stand that are among these others too, and where they stand there.
    pub fn common<'a>(&'a self, others: &'a Self) -> impl Iterator<Item = (usize, usize)> + 'a {
        let (mut at, mut other) = (0, 0);
        iter::from_fn(move || {
            while let (Some(one), Some(another)) = (self.all.get(at), others.all.get(other)) {
                let texts = || self.text[one.range()].cmp(&others.text[another.range()]);
                match one.beginning.cmp(&another.beginning).then_with(texts) {
                    Ordering::Less => at += 1,
                    Ordering::Greater => other += 1,
                    Ordering::Equal => {
                        (at, other) = (at + 1, other + 1);
                        return Some((at - 1, other - 1));
                    }
                }
            }
            None
        })
    }

    /// Leaves only those that are among these others too.
    pub fn retain_common(&mut self, others: &Self) {
        let common: Vec<Id> = self.common(others).map(|(at, _)| self.all[at]).collect();
        self.all = common;
    }

    /// The one at this place in their order.
    pub fn get(&self, at: usize) -> Option<&str> {
        self.all.get(at).map(|id| &self.text[id.range()])
    }

    /// All of them, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> + Clone {
        self.all.iter().map(|id| &self.text[id.range()])
    }
}

impl<'a> FromIterator<&'a str> for Ids {
    fn from_iter<I: IntoIterator<Item = &'a str>>(ids: I) -> Self {
        let mut text = String::new();
        let mut place = |id: &str| {
            let start = text.len();
            text.push_str(id);
            Id { beginning: beginning(id), start, end: text.len() }
        };
        let mut all: Vec<Id> = ids.into_iter().map(&mut place).collect();
        let of = |id: &Id| &text[id.range()];
        all.sort_unstable_by(|a, b| a.beginning.cmp(&b.beginning).then_with(|| of(a).cmp(of(b))));
        all.dedup_by(|a, b| a.beginning == b.beginning && of(a) == of(b));
        Self { text, all }
    }
}

/// The first bytes as a number: of two ids the one with the larger number is the later one.
fn beginning(id: &str) -> u64 {
    let mut first = [0; 8];
    let known = id.len().min(first.len());
    first[..known].copy_from_slice(&id.as_bytes()[..known]);
    u64::from_be_bytes(first)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Short ids, ids that begin alike, and such with bytes of zero.
        #[test]
        fn ids_are_a_set_in_the_order_of_texts(
            some in prop::collection::vec("[a-c\u{0}é]{0,10}", 0..40),
            others in prop::collection::vec("[a-c\u{0}é]{0,10}", 0..40),
        ) {
            let sets = [&some, &others].map(|ids| ids.iter().map(String::as_str).collect::<BTreeSet<&str>>());
            let [mut ids, other_ids] = [&some, &others].map(|ids| ids.iter().map(String::as_str).collect::<Ids>());
            prop_assert!(ids.iter().eq(sets[0].iter().copied()));
            for id in some.iter().chain(&others) {
                prop_assert_eq!(ids.position(id), sets[0].iter().position(|of| of == id));
            }
            let common: Vec<(Option<&str>, Option<&str>)> =
                ids.common(&other_ids).map(|(at, other)| (ids.get(at), other_ids.get(other))).collect();
            prop_assert!(common.into_iter().eq(sets[0].intersection(&sets[1]).map(|id| (Some(*id), Some(*id)))));
            ids.retain_common(&other_ids);
            prop_assert!(ids.iter().eq(sets[0].intersection(&sets[1]).copied()));
            prop_assert_eq!(ids.get(ids.len()), None);
        }
    }
}
