//! Ids of sessions, to be looked up among thousands.

use std::vec;

/// Ids, each once and in their order. Each stands beside its first bytes, as a number: these tell nearly all ids apart, where
/// to compare texts takes several times as long.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ids(Vec<(u64, String)>);

impl Ids {
    /// Whether this one is among them.
    pub fn contains(&self, id: &str) -> bool {
        let beginning = beginning(id);
        self.0.binary_search_by(|(other, text)| other.cmp(&beginning).then_with(|| text.as_str().cmp(id))).is_ok()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Leaves only those that are among these others too.
    pub fn retain_common(&mut self, others: &Self) {
        self.0.retain(|of| others.0.binary_search(of).is_ok());
    }

    /// All of them, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(|(_, id)| id.as_str())
    }
}

impl FromIterator<String> for Ids {
    fn from_iter<I: IntoIterator<Item = String>>(ids: I) -> Self {
        let mut ids: Vec<(u64, String)> = ids.into_iter().map(|id| (beginning(&id), id)).collect();
        ids.sort_unstable();
        ids.dedup();
        Self(ids)
    }
}

impl IntoIterator for Ids {
    type Item = String;
    type IntoIter = std::iter::Map<vec::IntoIter<(u64, String)>, fn((u64, String)) -> String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter().map(|(_, id)| id)
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
        fn they_are_a_set_in_the_order_of_texts(
            some in prop::collection::vec("[a-c\u{0}é]{0,10}", 0..40),
            others in prop::collection::vec("[a-c\u{0}é]{0,10}", 0..40),
        ) {
            let set: BTreeSet<&String> = some.iter().collect();
            let mut ids: Ids = some.iter().cloned().collect();
            prop_assert!(ids.iter().eq(set.iter().copied()));
            for id in some.iter().chain(&others) {
                prop_assert_eq!(ids.contains(id), set.contains(id));
            }
            ids.retain_common(&others.iter().cloned().collect());
            prop_assert!(ids.into_iter().eq(set.into_iter().filter(|id| others.contains(id)).cloned()));
        }
    }
}
