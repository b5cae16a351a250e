//! What a list was found to be, kept for its next page. Whatever is not there is found out again.

use std::cmp::Ordering;

use super::keys;

/// The places of those sessions that a list can still show, as they were when its first page was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// Which list: a number for its filters, and the revision at which it began.
    pub list: (u64, u64),
    /// Behind which place in the list, by recency and id; none for all of it.
    pub behind: Option<(i64, String)>,
    /// Recency and id of each session, in the list's order.
    pub places: Vec<(i64, String)>,
}

impl Remembered {
    /// What is left of it behind a place, if this is that list's and reaches as far back.
    pub fn rest(&self, list: (u64, u64), behind: (i64, &str)) -> Option<&[(i64, String)]> {
        // What comes first in a list stands last among its keys.
        let is_behind = |recency: i64, id: &str| keys::compare_places((recency, id), behind) == Ordering::Less;
        let reaches = self.behind.as_ref().is_none_or(|(recency, id)| !is_behind(*recency, id));
        let first = || self.places.partition_point(|(recency, id)| !is_behind(*recency, id));
        (self.list == list && reaches).then(|| &self.places[first()..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_of_the_same_list_is_given() {
        let places = [7, 5, 3].map(|recency| (recency, "s".to_owned()));
        let remembered = Remembered { list: (1, 2), behind: Some((8, "s".to_owned())), places: places.to_vec() };
        for (list, behind, expected) in [
            ((1, 2), (8, "s"), Some(3)),
            ((1, 2), (8, "r"), Some(3)),
            ((1, 2), (7, "t"), Some(3)),
            ((1, 2), (7, "s"), Some(2)),
            ((1, 2), (4, "s"), Some(1)),
            ((1, 2), (3, "s"), Some(0)),
            ((1, 2), (8, "t"), None),
            ((1, 2), (9, "s"), None),
            ((1, 3), (7, "s"), None),
            ((0, 2), (7, "s"), None),
        ] {
            assert_eq!(remembered.rest(list, behind).map(<[_]>::len), expected, "{list:?} {behind:?}");
        }
        let all = Remembered { behind: None, ..remembered };
        assert_eq!(all.rest((1, 2), (9, "s")).map(<[_]>::len), Some(3));
    }
}
