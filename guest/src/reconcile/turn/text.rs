//! What was said, small enough to be kept for every turn of a long conversation and enough to compare it.
//!
//! Agents give a text back with other line ends, other white space, and cut into other pieces. So white space does not
//! count, nor does the backslash that marks a line's end, and what is compared are [sums](Sum).

use super::sum::Sum;
use super::tail::Tail;

/// The longest beginning of a text that is kept, in bytes.
const LONGEST_KEPT: usize = 64 * 1024;

impl Sum {
    /// Of this text.
    pub fn of(text: &str) -> Self {
        let mut writer = Writer::default();
        writer.push(text);
        writer.sum
    }
}

/// What a text is made of, in whatever order: of how many of each byte.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(in crate::reconcile) struct Letters(u64);

impl Letters {
    /// Of two texts together.
    #[must_use]
    pub(in crate::reconcile) fn and(self, other: Self) -> Self {
        Self(self.0.wrapping_add(other.0))
    }

    /// Of a text that counts as one letter.
    pub(in crate::reconcile) fn of_sum(sum: Sum) -> Self {
        let mut letters = Self::default();
        if !sum.is_empty() {
            letters.count(sum.hash_value() ^ sum.length().rotate_left(32));
        }
        letters
    }

    fn push(&mut self, byte: u8) {
        self.count(u64::from(byte) + 1);
    }

    /// Another letter, which counts as a number that no sum of others is likely to be.
    fn count(&mut self, letter: u64) {
        // The finalizer of SplitMix64.
        let mut number = letter.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = self.0.wrapping_add(number ^ (number >> 31));
    }
}

/// What is known of the beginnings of a text.
#[derive(Debug, Clone)]
enum Beginnings {
    /// The text itself, as far as it is kept.
    Kept(Box<[u8]>),
    /// These.
    Sums(Box<[Sum]>),
}

/// An agent's answer.
#[derive(Debug, Clone)]
pub struct Text {
    sum: Sum,
    letters: Letters,
    /// Of most texts nothing is known, so it takes little room there.
    beginnings: Option<Box<Beginnings>>,
}

impl Text {
    /// The whole of it.
    pub fn sum(&self) -> Sum {
        self.sum
    }

    /// What all of it is made of.
    pub(in crate::reconcile) fn letters(&self) -> Letters {
        self.letters
    }

    /// Whether this text is known to begin with that one.
    pub fn begins_with(&self, other: Sum) -> bool {
        if other.is_empty() || other == self.sum {
            return true;
        }
        match self.beginnings.as_deref() {
            None => false,
            Some(Beginnings::Kept(bytes)) => usize::try_from(other.length())
                .ok()
                .and_then(|length| bytes.get(..length))
                .is_some_and(|beginning| Sum::of_bytes(beginning) == other),
            Some(Beginnings::Sums(sums)) => sums.contains(&other),
        }
    }

    /// All of it, without what does not count, if it is kept.
    pub(in crate::reconcile) fn whole(&self) -> Option<&[u8]> {
        match self.beginnings.as_deref() {
            _ if self.sum.is_empty() => Some(&[]),
            Some(Beginnings::Kept(bytes)) if bytes.len() as u64 == self.sum.length() => Some(bytes),
            _ => None,
        }
    }

    /// How many bytes are kept of it.
    pub(in crate::reconcile) fn kept(&self) -> usize {
        if let Some(Beginnings::Kept(bytes)) = self.beginnings.as_deref() { bytes.len() } else { 0 }
    }

    /// This text and that one after it; what is known of the beginnings is that of the first.
    #[must_use]
    pub(in crate::reconcile) fn followed_by(&self, other: &Self) -> Self {
        let letters = self.letters.and(other.letters);
        Self { sum: self.sum.followed_by(other.sum), letters, beginnings: self.beginnings.clone() }
    }

    /// The text, of which it is known that it begins with this one.
    #[must_use]
    pub(in crate::reconcile) fn begun_with(self, beginning: Sum) -> Self {
        Self { beginnings: Some(Box::new(Beginnings::Sums(Box::new([beginning])))), ..self }
    }

    /// The text without its beginnings.
    #[must_use]
    pub(in crate::reconcile) fn settled(self) -> Self {
        Self { beginnings: None, ..self }
    }
}

/// Reads a text piece by piece.
#[derive(Debug, Default)]
pub(in crate::reconcile) struct Writer {
    sum: Sum,
    letters: Letters,
    /// A backslash came last: whether it counts shows with the next character.
    backslash: bool,
    /// The beginning, if it is to be kept.
    kept: Option<Vec<u8>>,
    /// The lengths at which the sum is to be noted, the greatest first.
    watched: Vec<u64>,
    noted: Vec<Sum>,
    tail: Option<Tail>,
}

impl Writer {
    /// Keeps the beginning of the text.
    pub(in crate::reconcile) fn keeping() -> Self {
        Self { kept: Some(Vec::new()), ..Self::default() }
    }

    /// Notes the sums at these lengths.
    pub(in crate::reconcile) fn watching(lengths: &[u64]) -> Self {
        let mut watched: Vec<u64> = lengths.iter().copied().filter(|length| *length > 0).collect();
        watched.sort_unstable_by(|one, other| other.cmp(one));
        watched.dedup();
        Self { watched, ..Self::default() }
    }

    /// Notes the sums of the ends of these lengths, too, where they are not too long.
    #[must_use]
    pub(in crate::reconcile) fn with_ends(self, lengths: impl Iterator<Item = u64>) -> Self {
        Self { tail: Tail::of(lengths), ..self }
    }

    /// Whether nothing was written that counts.
    pub(in crate::reconcile) fn is_empty(&self) -> bool {
        self.sum.is_empty()
    }

    pub(in crate::reconcile) fn push(&mut self, text: &str) {
        for character in text.chars() {
            let ends_line = matches!(character, '\n' | '\r');
            if std::mem::take(&mut self.backslash) && !ends_line {
                self.count(b'\\');
            }
            match character {
                '\\' => self.backslash = true,
                '\u{200b}' | '\u{feff}' => {}
                character if character.is_whitespace() => {}
                character => {
                    character.encode_utf8(&mut [0; 4]).bytes().for_each(|byte| self.count(byte));
                }
            }
        }
    }

    /// Something comes next of which no more is known than this. Neither what it is made of nor where it ends is noted.
    pub(in crate::reconcile) fn push_sum(&mut self, sum: Sum) {
        if std::mem::take(&mut self.backslash) {
            self.count(b'\\');
        }
        self.sum = self.sum.followed_by(sum);
    }

    /// What it came to. A backslash at the very end marks the end of a line whose next one never came.
    pub(in crate::reconcile) fn finish(self) -> Text {
        let beginnings = match self.kept {
            Some(kept) => Some(Beginnings::Kept(kept.into_boxed_slice())),
            None if self.noted.is_empty() => None,
            None => Some(Beginnings::Sums(self.noted.into_boxed_slice())),
        };
        let beginnings = beginnings.map(Box::new);
        Text { sum: self.sum, letters: self.letters, beginnings }
    }

    /// The sum of what was written.
    pub(in crate::reconcile) fn sum(&self) -> Sum {
        self.sum
    }

    /// The sums at the lengths that were asked for, as far as they were reached.
    pub(in crate::reconcile) fn noted(&self) -> &[Sum] {
        &self.noted
    }

    /// Whether it is known to begin so.
    pub(in crate::reconcile) fn has_noted(&self, beginning: Sum) -> bool {
        self.noted.contains(&beginning)
    }

    /// What it ends with, of the lengths that were asked for.
    pub(in crate::reconcile) fn ends(&self) -> Vec<Sum> {
        self.tail.as_ref().map(|tail| tail.ends_of(self.sum)).unwrap_or_default()
    }

    fn count(&mut self, byte: u8) {
        if let Some(tail) = &mut self.tail {
            tail.note(self.sum);
        }
        self.sum.push(byte);
        self.letters.push(byte);
        if let Some(kept) = self.kept.as_mut().filter(|kept| kept.len() < LONGEST_KEPT) {
            kept.push(byte);
        }
        if self.watched.last() == Some(&self.sum.length()) {
            self.watched.pop();
            self.noted.push(self.sum);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn white_space_and_line_ends_do_not_count_and_everything_else_does() {
        let same = ["a b\\c", "ab\\c", " a\r\nb\\c\n", "a\\\nb\\c", "a\\\r\nb\\c", "a\u{a0}b\u{200b}\\c\\"];
        for text in same {
            assert_eq!(Sum::of(text), Sum::of("ab\\c"), "{text:?}");
        }
        for text in ["", "ab", "abc", "ab\\\\c", "Ab\\c", "ab\\cc", "b\\ca", "\0ab\\c"] {
            assert_ne!(Sum::of(text), Sum::of("ab\\c"), "{text:?}");
        }
    }

    #[test]
    fn a_beginning_is_known_from_either_side() {
        let long = "one two three";
        let mut kept = Writer::keeping();
        let mut watching = Writer::watching(&[3, 6, 3, 0, 99]);
        for piece in long.split_inclusive(' ') {
            kept.push(piece);
            watching.push(piece);
        }
        let (kept, watching) = (kept.finish(), watching.finish());
        for (beginning, is_one) in [("", true), ("one", true), ("on e tw o", true), ("two", false), ("onetwx", false)] {
            assert_eq!(kept.begins_with(Sum::of(beginning)), is_one, "{beginning}");
            assert_eq!(watching.begins_with(Sum::of(beginning)), is_one, "{beginning}");
        }
        assert!(!kept.begins_with(Sum::of("one two three four")));
        assert!(!kept.settled().begins_with(Sum::of("one")));
    }
}
