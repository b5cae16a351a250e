//! What Codex tells of a review that its user called for: that it was begun, what it came to, and that once more as its answer. While
//! the review was had it told the answer alone. So what it says before counts for no words where the answer is as it says.

use super::text::Writer;

/// How it begins, before what is looked through.
const ENTERED: &str = "Entered review mode: ";
/// What stands before what it came to.
const EXITED: &str = "Exited review mode: ";

/// What is told of a review whose answer is not told yet.
#[derive(Debug, Default)]
pub(super) struct Review(Option<String>);

impl Review {
    /// The agent says this next, and that is written as far as it counts.
    pub(super) fn hear(&mut self, text: &str, agent: &mut Writer) {
        match self.0.take() {
            Some(told) if is_without_end(&told) && text.starts_with(EXITED) => {
                self.0 = Some(told + text);
                return;
            }
            Some(told) if !came_to(&told, text) => agent.push(&told),
            _ => {}
        }
        if text.starts_with(ENTERED) {
            self.0 = Some(text.to_owned());
        } else {
            agent.push(text);
        }
    }

    /// Nothing more is said.
    pub(super) fn finish(self, agent: &mut Writer) {
        self.0.iter().for_each(|told| agent.push(told));
    }
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
    use super::super::sum::Sum;
    use super::*;

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
