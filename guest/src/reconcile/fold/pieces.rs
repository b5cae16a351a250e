//! What a message of the user's was put together of. Agents give as one what was said with no answer between, and what several windows
//! said in the order in which it came to them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::reconcile::turn::sum::Sum;
use crate::reconcile::turn::text::Writer;

/// Up to how many places of a message it is looked for what goes on there.
const MOST_PLACES: usize = 256;

/// How many prompts are noted that a message begins with.
const MOST_BEGINNINGS: usize = 4;

/// Prompts that messages may be put together of.
#[derive(Debug, Default)]
pub(in crate::reconcile) struct Pieces {
    prompts: BTreeSet<Sum>,
    /// How long they are, the shortest first.
    lengths: BTreeSet<u64>,
}

impl FromIterator<Sum> for Pieces {
    fn from_iter<I: IntoIterator<Item = Sum>>(prompts: I) -> Self {
        let prompts: BTreeSet<Sum> = prompts.into_iter().filter(|prompt| !prompt.is_empty()).collect();
        let lengths = prompts.iter().map(|prompt| prompt.length()).collect();
        Self { prompts, lengths }
    }
}

impl Pieces {
    /// Whether there are none.
    pub(in crate::reconcile) fn is_empty(&self) -> bool {
        self.prompts.is_empty()
    }

    /// Whether this is one of the prompts.
    pub(in crate::reconcile) fn contains(&self, message: Sum) -> bool {
        self.prompts.contains(&message)
    }

    /// The prompts that this message is: itself, or those that it is put together of.
    pub(super) fn all_of(&self, message: &str) -> Vec<Sum> {
        let whole = Sum::of(message);
        if self.contains(whole) { vec![whole] } else { self.of(message) }
    }

    /// The prompts that this message begins with, and goes on, the longest first. None where it is one of them by itself.
    pub(super) fn begun_by(&self, message: &str) -> Vec<Sum> {
        let ends = if self.prompts.is_empty() { Vec::new() } else { sums(message) };
        let Some((all, before)) = ends.split_last().filter(|(all, _)| !self.prompts.contains(all)) else {
            return Vec::new();
        };
        let lengths = self.lengths.range(..all.length()).rev();
        let begun = lengths.filter_map(|length| {
            let place = before.binary_search_by_key(length, |end| end.length()).ok()?;
            Some(before[place]).filter(|begun| self.prompts.contains(begun))
        });
        begun.take(MOST_BEGINNINGS).collect()
    }

    /// The fewest of the prompts that this message is, one behind the other. None where it is one of them by itself, or has
    /// anything else.
    pub(in crate::reconcile) fn of(&self, message: &str) -> Vec<Sum> {
        let ends = if self.prompts.is_empty() { Vec::new() } else { sums(message) };
        let Some(all) = ends.last().copied().filter(|all| !self.prompts.contains(all)) else { return Vec::new() };
        // Where pieces end: where each begins, and which it is.
        let mut found: BTreeMap<Sum, (Sum, Sum)> = BTreeMap::new();
        let mut begins = VecDeque::from([Sum::default()]);
        while let Some(begin) = begins.pop_front().filter(|_| !found.contains_key(&all)) {
            let lengths = self.lengths.iter().map(|length| begin.length() + length);
            for length in lengths.take_while(|length| *length <= all.length()) {
                let Ok(place) = ends.binary_search_by_key(&length, |end| end.length()) else { continue };
                let (end, piece) = (ends[place], ends[place].behind(begin));
                if self.prompts.contains(&piece) && found.len() < MOST_PLACES && !found.contains_key(&end) {
                    found.insert(end, (begin, piece));
                    begins.push_back(end);
                }
            }
        }
        let last = found.get(&all).copied();
        let pieces = std::iter::successors(last, |(begin, _)| found.get(begin).copied()).map(|(_, piece)| piece);
        let mut pieces: Vec<Sum> = pieces.collect();
        pieces.reverse();
        pieces
    }
}

/// The sums of what this begins with, the shortest first, the whole of it last. Each ends with a character.
fn sums(text: &str) -> Vec<Sum> {
    let mut writer = Writer::default();
    let characters = text.chars().filter_map(|character| {
        let before = writer.sum();
        writer.push(character.encode_utf8(&mut [0; 4]));
        Some(writer.sum()).filter(|sum| *sum != before)
    });
    characters.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_is_the_fewest_prompts_that_it_can_be_put_together_of() {
        let prompts = ["one", "two", "twothree", "three", "on", "e", "a b\\"];
        let pieces: Pieces = prompts.iter().map(|prompt| Sum::of(prompt)).collect();
        for (message, expected) in [
            ("two\n\none", &["two", "one"][..]),
            ("one two three two", &["one", "twothree", "two"]),
            ("on e e", &["one", "e"]),
            ("ab\\\ntwo", &["ab", "two"]),
            ("twothree", &[]),
            ("one four", &[]),
            ("four one", &[]),
            ("", &[]),
        ] {
            let expected: Vec<Sum> = expected.iter().map(|prompt| Sum::of(prompt)).collect();
            assert_eq!(pieces.of(message), expected, "{message}");
        }
        assert_eq!(Pieces::default().of("one"), []);
    }

    #[test]
    fn a_message_begins_with_prompts_that_it_goes_on() {
        let pieces: Pieces = ["one", "on", "two"].iter().map(|prompt| Sum::of(prompt)).collect();
        for (message, expected) in [
            ("one and two", &["one", "on"][..]),
            ("one", &[]),
            ("o n", &[]),
            ("onto", &["on"]),
            ("three", &[]),
            ("", &[]),
        ] {
            let expected: Vec<Sum> = expected.iter().map(|prompt| Sum::of(prompt)).collect();
            assert_eq!(pieces.begun_by(message), expected, "{message}");
        }
        assert_eq!(Pieces::default().begun_by("one"), []);
    }
}
