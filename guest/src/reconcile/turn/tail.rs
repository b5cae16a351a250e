//! What a text ends with, known without keeping the text.

use super::sum::Sum;

/// The longest end of a text that is looked for, in bytes.
const LONGEST_END: u64 = 4 * 1024;

/// What is needed to tell the sums of ends of a text, while it is read.
#[derive(Debug)]
pub(super) struct Tail {
    /// The lengths of the ends.
    lengths: Vec<u64>,
    /// The sums of all that came before each of the last bytes, each at the place of its length.
    before: Vec<Sum>,
}

impl Tail {
    /// For ends of these lengths; none where there are none, or all are too long.
    pub(super) fn of(lengths: impl Iterator<Item = u64>) -> Option<Self> {
        let lengths: Vec<u64> = lengths.filter(|length| (1..=LONGEST_END).contains(length)).collect();
        let longest = usize::try_from(lengths.iter().copied().max()?).ok()?;
        Some(Self { lengths, before: vec![Sum::default(); longest] })
    }

    /// Another byte comes behind what has this sum.
    pub(super) fn note(&mut self, before: Sum) {
        let place = self.place(before.length());
        if let Some(noted) = self.before.get_mut(place) {
            *noted = before;
        }
    }

    /// The ends of the text that has this sum.
    pub(super) fn ends_of(&self, all: Sum) -> Vec<Sum> {
        let lengths = self.lengths.iter().filter(|length| **length <= all.length());
        let before = lengths.filter_map(|length| self.before.get(self.place(all.length() - length)));
        before.map(|before| all.behind(*before)).collect()
    }

    fn place(&self, length: u64) -> usize {
        usize::try_from(length % self.before.len().max(1) as u64).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sum::Sum;
    use super::super::text::Writer;
    use super::LONGEST_END;

    #[test]
    fn an_end_is_known_that_was_looked_for() {
        let mut writer = Writer::default().with_ends([3, 5, 12, 15, 20, LONGEST_END + 1].into_iter());
        "one two three four".split_inclusive(' ').for_each(|piece| writer.push(piece));
        let ends = ["our", "efour", "two three four", "one two three four"];
        assert_eq!(writer.ends(), ends.map(Sum::of));
    }
}
