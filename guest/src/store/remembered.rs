//! What a list was found to be, kept for its next page. Whatever is not there is found out again.

use super::listed::{Listed, is_behind};

/// The places of those sessions that a list can still show, as they were when its first page was read.
#[derive(Debug)]
pub struct Remembered {
    /// Which list: a number for its filters, and the revision at which it began.
    pub list: (u64, u64),
    /// Behind which place in the list, by recency and id; none for all of it.
    pub behind: Option<(i64, String)>,
    /// The sessions.
    pub places: Listed,
}

impl Remembered {
    /// How many of its sessions do not stand behind a place, if this is that list's and reaches as far back.
    pub fn until(&self, list: (u64, u64), behind: (i64, &str)) -> Option<usize> {
        let reaches = self.behind.as_ref().is_none_or(|(recency, id)| !is_behind((*recency, id), behind));
        (self.list == list && reaches).then(|| self.places.until(behind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_of_the_same_list_is_given() {
        let places = || Listed::new(["r", "s", "t"].into_iter().collect(), [(5, 1), (3, 2), (7, 0)]);
        let mut remembered = Remembered { list: (1, 2), behind: Some((8, "s".to_owned())), places: places() };
        for (list, behind, expected) in [
            ((1, 2), (8, "s"), Some(0)),
            ((1, 2), (8, "r"), Some(0)),
            ((1, 2), (7, "s"), Some(0)),
            ((1, 2), (7, "r"), Some(1)),
            ((1, 2), (7, "q"), Some(1)),
            ((1, 2), (4, "s"), Some(2)),
            ((1, 2), (3, "t"), Some(3)),
            ((1, 2), (8, "t"), None),
            ((1, 2), (9, "s"), None),
            ((1, 3), (7, "r"), None),
            ((0, 2), (7, "r"), None),
        ] {
            assert_eq!(remembered.until(list, behind), expected, "{list:?} {behind:?}");
        }
        remembered.behind = None;
        assert_eq!(remembered.until((1, 2), (9, "s")), Some(0));
        let ids: Vec<&str> = remembered.places.ids(1..3).collect();
        assert_eq!(ids, ["s", "t"]);
    }
}
