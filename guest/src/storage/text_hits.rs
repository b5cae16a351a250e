//! The texts that a search has found.

use std::mem;

use super::{Result, StorageError, TextHit};

/// Texts that were found, in their order. The names of their owners stand in one text, one behind the other: there are
/// thousands, and to hand each over by itself takes longer than to find it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TextHits {
    owners: String,
    /// Where in `owners` the name of each text's owner ends; those of one owner that stand together have the same end.
    ends: Vec<u32>,
    parts: Vec<u32>,
    /// Where the last name begins.
    last: u32,
}

impl TextHits {
    /// What a storage has answered: the names of the owners in one text, where that of each text ends, and each text's part.
    /// `corrupt` where these do not fit together.
    pub fn from_raw(owners: String, ends: Vec<u32>, parts: Vec<u32>) -> Result<Self> {
        let (mut last, mut reached) = (0, 0);
        let fits = |end: &u32| {
            if *end > reached {
                last = mem::replace(&mut reached, *end);
            }
            *end == reached && *end > 0 && owners.is_char_boundary(*end as usize)
        };
        if ends.len() == parts.len() && ends.iter().all(fits) && reached as usize == owners.len() {
            Ok(Self { owners, ends, parts, last })
        } else {
            Err(StorageError::Corrupt(
                "the names, ends and parts that a search has found do not fit together".to_owned(),
            ))
        }
    }

    /// Gives what [`TextHits::from_raw`] takes: the names of the owners, their ends, and the parts.
    pub fn into_raw(self) -> (String, Vec<u32>, Vec<u32>) {
        (self.owners, self.ends, self.parts)
    }

    /// Adds a text. `corrupt` if its owner has no name, `too-large` if the names come to more than 4 GiB.
    pub fn push(&mut self, owner: &str, part: u32) -> Result<()> {
        if owner.is_empty() {
            return Err(StorageError::Corrupt("a text for search has an owner without a name".to_owned()));
        }
        let mut end = self.ends.last().copied().unwrap_or_default();
        if !self.is_last(owner) {
            let start = end;
            end = u32::try_from(self.owners.len() + owner.len()).map_err(|_| StorageError::TooLarge)?;
            self.owners.push_str(owner);
            self.last = start;
        }
        self.ends.push(end);
        self.parts.push(part);
        Ok(())
    }

    /// Puts another part of the same owner in the place of the last one.
    pub fn replace_last(&mut self, part: u32) {
        if let Some(last) = self.parts.last_mut() {
            *last = part;
        }
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Whether the last one is of this owner.
    pub fn is_last(&self, owner: &str) -> bool {
        !self.is_empty() && self.owners[self.last as usize..] == *owner
    }

    /// The last one.
    pub fn last(&self) -> Option<TextHit> {
        let part = *self.parts.last()?;
        Some(TextHit { owner: self.owners[self.last as usize..].to_owned(), part })
    }

    /// The owner and the part of each, in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u32)> {
        let mut name = 0..0;
        self.ends.iter().zip(&self.parts).map(move |(end, part)| {
            if *end > name.end {
                name = name.end..*end;
            }
            (&self.owners[name.start as usize..name.end as usize], *part)
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_put_in_comes_out_again(texts in prop::collection::vec(("[a-bé]{1,3}", 0..9_u32), 0..20)) {
            let mut hits = TextHits::default();
            for (owner, part) in &texts {
                hits.push(owner, *part).unwrap();
            }
            let expected = || texts.iter().map(|(owner, part)| (owner.as_str(), *part));
            prop_assert!(hits.iter().eq(expected()));
            prop_assert_eq!(hits.len(), texts.len());
            prop_assert_eq!(hits.last().map(|hit| (hit.owner, hit.part)), texts.last().cloned());
            let (owners, ends, parts) = hits.clone().into_raw();
            prop_assert_eq!(TextHits::from_raw(owners, ends, parts), Ok(hits));
        }

        /// Whatever a storage answers is refused or can be read.
        #[test]
        fn nothing_that_a_storage_answers_is_a_panic(
            owners in "[aé]{0,4}", ends in prop::collection::vec(0..8_u32, 0..5), parts in prop::collection::vec(0..9_u32, 0..5),
        ) {
            if let Ok(mut hits) = TextHits::from_raw(owners.clone(), ends.clone(), parts) {
                prop_assert!(hits.iter().all(|(owner, _)| owners.contains(owner) && !owner.is_empty()));
                prop_assert_eq!(hits.iter().last().map(|(owner, part)| TextHit { owner: owner.to_owned(), part }), hits.last());
                hits.push("next", 1).unwrap();
                prop_assert_eq!(hits.iter().last(), Some(("next", 1)));
            }
        }
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        for (owners, ends, parts, fits) in [
            ("ab", vec![1, 2], vec![0, 0], true),
            ("ab", vec![2, 2], vec![1, 0], true),
            ("", vec![], vec![], true),
            ("ab", vec![1, 2], vec![0], false),
            ("ab", vec![1], vec![0], false),
            ("ab", vec![1, 3], vec![0, 0], false),
            ("ab", vec![2, 1], vec![0, 0], false),
            ("ab", vec![0, 2], vec![0, 0], false),
            ("é", vec![1, 2], vec![0, 0], false),
            ("a", vec![], vec![], false),
        ] {
            let made = TextHits::from_raw(owners.to_owned(), ends.clone(), parts.clone());
            assert_eq!(made.is_ok(), fits, "{owners:?} {ends:?} {parts:?}");
        }
        assert!(TextHits::default().push("", 0).is_err());
    }
}
