//! What Codex tells of a review that its user called for: that it was begun, what it came to, and that once more as its answer. While
//! the review was had it told the answer alone, or, from 2.6.0 on, twice. So what it says before counts for no words where the answer is
//! as it says, nor does the same answer once more.

use crate::reconcile::turn::text::Writer;
use crate::transcript::{ENTERED, EXITED};

/// What a review came to that was interrupted, and its answer then.
const INTERRUPTED: (&str, &str) = (
    "Reviewer failed to output a response.",
    "Review was interrupted. Please re-run /review and wait for it to complete.",
);
/// The commands that call for one.
const COMMANDS: [&str; 3] = ["/review", "/review-branch", "/review-commit"];

/// Whether the user calls for a review with this.
pub(super) fn is_call(text: &str) -> bool {
    text.split_whitespace().next().is_some_and(|command| COMMANDS.contains(&command))
}

/// What is told of a review whose answer is not told yet.
#[derive(Debug, Default)]
pub(super) struct Review {
    told: Option<String>,
    /// The answer that may be told once more, where the user has called for one.
    answer: Option<String>,
    is_called: bool,
}

impl Review {
    /// The user has called for it.
    pub(super) fn call(&mut self) {
        self.is_called = true;
    }

    /// The agent says this next, and that is written as far as it counts.
    pub(super) fn hear(&mut self, text: &str, agent: &mut Writer) {
        match self.told.take() {
            Some(told) if is_without_end(&told) && text.starts_with(EXITED) => {
                self.told = Some(told + text);
                return;
            }
            Some(told) if is_interrupted(&told, text) => agent.push(INTERRUPTED.0),
            Some(told) if !came_to(&told, text) => agent.push(&told),
            _ => {}
        }
        if text.starts_with(ENTERED) {
            self.told = Some(text.to_owned());
        } else if !self.is_told_again(text) {
            agent.push(text);
        }
    }

    /// Whether this is the answer that was told right before.
    fn is_told_again(&mut self, text: &str) -> bool {
        if !self.is_called {
            return false;
        }
        let before = self.answer.replace(text.trim().to_owned());
        before.is_some() && before == self.answer && self.answer.take().is_some_and(|answer| !answer.is_empty())
    }

    /// Nothing more is said.
    pub(super) fn finish(self, agent: &mut Writer) {
        self.told.iter().for_each(|told| agent.push(told));
    }
}

/// Whether it was interrupted, as it says there and here.
fn is_interrupted(told: &str, answer: &str) -> bool {
    answer.trim() == INTERRUPTED.1 && came_to(told, INTERRUPTED.0)
}

fn is_without_end(told: &str) -> bool {
    !told.contains(EXITED)
}

/// Whether the review came to just this.
fn came_to(told: &str, answer: &str) -> bool {
    let answer = answer.trim();
    let before = told.trim_end().strip_suffix(answer).filter(|_| !answer.is_empty());
    before.is_some_and(|before| before.trim_end().ends_with(EXITED.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reconcile::turn::sum::Sum;

    #[test]
    fn an_answer_counts_once_though_it_is_told_again_where_the_user_has_called_for_a_review() {
        for (is_called, told, expected) in [
            (true, &["It is well.", "It is well.\n"][..], "It is well."),
            (true, &["a", "b", "b", "b"], "abb"),
            (true, &["a", "b", "a"], "aba"),
            (false, &["It is well.", "It is well."], "It is well.It is well."),
            (
                false,
                &["Entered review mode: a", &format!("{EXITED}{}", INTERRUPTED.0), INTERRUPTED.1],
                &[INTERRUPTED.0, INTERRUPTED.1].concat(),
            ),
        ] {
            let (mut review, mut agent) = (Review { is_called, ..Review::default() }, Writer::default());
            for text in told {
                review.hear(text, &mut agent);
            }
            review.finish(&mut agent);
            assert_eq!(agent.sum(), Sum::of(expected), "{told:?}");
        }
    }

    #[test]
    fn a_review_is_called_for_by_its_command() {
        for (text, expected) in [
            ("/review", true),
            (" /review of all", true),
            ("/review-branch main", true),
            ("/reviews", false),
            ("/fix", false),
            ("", false),
        ] {
            assert_eq!(is_call(text), expected, "{text}");
        }
    }

    #[test]
    fn what_is_said_before_the_answer_counts_for_nothing_where_the_answer_is_as_it_says() {
        for (told, expected) in [
            (&["Entered review mode: aExited review mode: It is\nwell.", "It is\nwell."][..], "It is well."),
            (&["Hi.", "Entered review mode: a", "Exited review mode: b\n", "b", "c"], "Hi.bc"),
            (&["Entered review mode: aExited review mode: bExited review mode: c", "c"], "c"),
            (&["Entered review mode: aExited review mode: b", "c"], "Entered review mode: aExited review mode: bc"),
            (&["Entered review mode: aExited review mode: b"], "Entered review mode: aExited review mode: b"),
            (&["Entered review mode: a", "b"], "Entered review mode: ab"),
            (&["Exited review mode: b", "b"], "Exited review mode: bb"),
            (
                &["Entered review mode: a", "Entered review mode: bExited review mode: c", "c"],
                "Entered review mode: ac",
            ),
        ] {
            let (mut review, mut agent) = (Review::default(), Writer::default());
            for text in told {
                review.hear(text, &mut agent);
            }
            review.finish(&mut agent);
            assert_eq!(agent.sum(), Sum::of(expected), "{told:?}");
        }
    }
}
