//! What a list was found to be, kept for its next page. Whatever is not there is found out again.

/// The places of those sessions that a list can still show, as they were when its first page was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// Which list: a number for its filters, and the revision at which it began.
    pub list: (u64, u64),
    /// Behind which place in the list; none for all of it.
    pub behind: Option<String>,
    /// Place in the list and id of each session, in the list's order.
    pub places: Vec<(String, String)>,
}

impl Remembered {
    /// What is left of it behind a place, if this is that list's and reaches as far back.
    pub fn rest(&self, list: (u64, u64), behind: &str) -> Option<&[(String, String)]> {
        let is_known = self.list == list && self.behind.as_deref().is_none_or(|known| behind <= known);
        is_known.then(|| &self.places[self.places.partition_point(|(place, _)| place.as_str() >= behind)..])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_known_of_the_same_list_is_given() {
        let places = ["7", "5", "3"].map(|place| (place.to_owned(), format!("s{place}")));
        let remembered = Remembered { list: (1, 2), behind: Some("8".to_owned()), places: places.to_vec() };
        for (list, behind, expected) in [
            ((1, 2), "8", Some(3)),
            ((1, 2), "7", Some(2)),
            ((1, 2), "4", Some(1)),
            ((1, 2), "3", Some(0)),
            ((1, 2), "9", None),
            ((1, 3), "7", None),
            ((0, 2), "7", None),
        ] {
            assert_eq!(remembered.rest(list, behind).map(<[_]>::len), expected, "{list:?} {behind}");
        }
        let all = Remembered { behind: None, ..remembered };
        assert_eq!(all.rest((1, 2), "9").map(<[_]>::len), Some(3));
    }
}
