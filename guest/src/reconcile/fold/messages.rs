//! The messages that an answer is made of. An agent need not keep each: warnings, and what it says of errors, some tell only once.

use crate::reconcile::turn::sum::Sum;

/// How many messages of one answer are told from each other.
const MOST: usize = 64;

/// The messages of an answer under way.
#[derive(Debug, Default)]
pub(super) struct Messages {
    sums: Vec<Sum>,
    /// All that was said before the last of them.
    before: Sum,
}

impl Messages {
    /// Another message comes next, or something else; so much of the answer was said so far.
    pub(in crate::reconcile) fn end(&mut self, said: Sum) {
        if said.length() > self.before.length() && self.sums.len() <= MOST {
            self.sums.push(said.behind(self.before));
            self.before = said;
        }
    }

    /// All of them, where there are several and not too many.
    pub(in crate::reconcile) fn finish(mut self, said: Sum) -> Vec<Sum> {
        self.end(said);
        let are_told_apart = (2..=MOST).contains(&self.sums.len());
        if are_told_apart { self.sums } else { Vec::new() }
    }
}

/// Which of our messages theirs leave out, where they are ours otherwise, in order; they may be cut less finely.
pub(in crate::reconcile) fn left_out(ours: &[Sum], theirs: &[Sum]) -> Option<Vec<Sum>> {
    let (mut ours, mut left_out) = (ours, Vec::new());
    for told in theirs {
        let (first, end) = (0..ours.len()).find_map(|first| Some((first, end_of(&ours[first..], *told)? + first)))?;
        left_out.extend_from_slice(&ours[..first]);
        ours = &ours[end..];
    }
    left_out.extend_from_slice(ours);
    Some(left_out)
}

/// How many of these messages, from the first on, are that one.
fn end_of(messages: &[Sum], told: Sum) -> Option<usize> {
    let mut said = Sum::default();
    let so_far = messages.iter().map(|message| {
        said = said.followed_by(*message);
        said
    });
    let mut so_far = so_far.take_while(|said| said.length() <= told.length());
    so_far.position(|said| said == told).map(|last| last + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_out_is_known_by_what_is_told() {
        let sums = |messages: &[&str]| messages.iter().map(|message| Sum::of(message)).collect::<Vec<Sum>>();
        for (ours, theirs, expected) in [
            (&["a", "b"][..], &["a"][..], Some(&["b"][..])),
            (&["a", "b"], &["b"], Some(&["a"])),
            (&["a", "b", "c", "d"], &["b", "d"], Some(&["a", "c"])),
            (&["a", "b", "c", "d"], &["bc"], Some(&["a", "d"])),
            (&["a", "b"], &[], Some(&["a", "b"])),
            (&["a", "b"], &["a", "b"], Some(&[])),
            (&["a", "b"], &["b", "a"], None),
            (&["ab", "c"], &["a"], None),
            (&["a", "b", "c"], &["ac"], None),
            (&["a"], &["a", "b"], None),
        ] {
            assert_eq!(left_out(&sums(ours), &sums(theirs)), expected.map(sums), "{ours:?} {theirs:?}");
        }
    }

    #[test]
    fn an_answer_of_one_message_or_of_too_many_is_not_taken_apart() {
        for (count, expected) in [(0, 0), (1, 0), (2, 2), (MOST, MOST), (MOST + 1, 0), (2 * MOST, 0)] {
            let (mut messages, mut said) = (Messages::default(), Sum::default());
            for _ in 0..count {
                messages.end(said);
                messages.end(said);
                said = said.followed_by(Sum::of("a"));
            }
            assert_eq!(messages.finish(said).len(), expected, "{count}");
        }
    }
}
