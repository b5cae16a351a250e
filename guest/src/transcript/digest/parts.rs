//! What was said, by whom, as far as an account has room for it.

use std::collections::VecDeque;

use super::said::Contribution;
use crate::transcript::own_words;

/// The longest account, in bytes; the newest part is kept.
pub(super) const LIMIT: usize = 48 * 1024;
/// The longest single contribution where not all that was said has room.
const LONGEST_PART: usize = 8 * 1024;
/// What is being said is cut in its midst when it has become longer than this, far more than is told of it.
const LONGEST_HELD: usize = 4 * LIMIT;
/// What stands between contributions.
pub(super) const BETWEEN: &str = "\n\n";

/// Contributions in their order, as an account tells them: whole as long as all of them have room, and otherwise each its
/// beginning and its end, of which the oldest are dropped. Takes a few times the room of an account in memory, whatever is
/// said.
#[derive(Debug)]
pub(super) struct Contributions {
    /// Those that are at their end.
    said: VecDeque<(String, String)>,
    /// What is being said.
    open: Option<Open>,
    /// How many bytes those at their end take.
    bytes: usize,
    /// They have no room as a whole.
    are_shortened: bool,
    is_whole: bool,
}

/// A contribution that may not be at its end.
#[derive(Debug)]
struct Open {
    turn: Option<String>,
    speaker: String,
    /// The message that was said last of it.
    message: Option<String>,
    /// An account has no other inside it.
    stream: own_words::Stream,
    text: String,
}

impl Open {
    /// Another message of the same speaker's stands apart, unless an account goes on in it.
    fn take_in(&mut self, text: &str, message: Option<String>) {
        let is_another = self.message.is_some() && message.is_some() && self.message != message;
        if is_another && !self.text.ends_with('\n') && !self.stream.is_inside() {
            self.push(BETWEEN);
        }
        self.message = message;
        self.push(text);
    }

    fn push(&mut self, text: &str) {
        let text = self.stream.feed(text);
        self.text.push_str(if self.text.is_empty() { text.trim_start() } else { &text });
        if self.text.len() > LONGEST_HELD {
            let tail = self.text.ceil_char_boundary(self.text.len() - LIMIT);
            self.text.drain(self.text.floor_char_boundary(LIMIT)..tail);
        }
    }

    fn finish(mut self) -> (String, String) {
        self.text.push_str(&self.stream.finish());
        // Nor anything that looks like its end.
        (self.speaker, self.text.replace(own_words::CLOSING, ""))
    }
}

impl Default for Contributions {
    fn default() -> Self {
        Self { said: VecDeque::new(), open: None, bytes: 0, are_shortened: false, is_whole: true }
    }
}

impl Contributions {
    /// Adds what somebody said in a turn to it; what one says after the other is one contribution. Turns of two windows may
    /// have come to the log at once.
    pub(super) fn extend(&mut self, turn: Option<&str>, contributions: impl IntoIterator<Item = Contribution>) {
        for Contribution { speaker, text, message } in contributions {
            let is_same = |open: &Open| open.turn.as_deref() == turn && open.speaker == speaker;
            if !self.open.as_ref().is_some_and(is_same) {
                self.close();
            }
            let begin = || Open {
                turn: turn.map(str::to_owned),
                speaker,
                message: None,
                stream: own_words::Stream::default(),
                text: String::new(),
            };
            self.open.get_or_insert_with(begin).take_in(&text, message);
        }
    }

    /// Adds all that was kept of others.
    pub(super) fn append(&mut self, mut others: Self) {
        self.close();
        others.close();
        if others.are_shortened {
            self.shorten();
        }
        for (speaker, text) in others.said {
            self.keep(speaker, &text);
        }
        self.is_whole &= others.is_whole;
    }

    /// What is being said is at its end.
    pub(super) fn close(&mut self) {
        if let Some((speaker, text)) = self.open.take().map(Open::finish) {
            self.keep(speaker, text.trim());
        }
    }

    fn keep(&mut self, speaker: String, text: &str) {
        if text.is_empty() {
            return;
        }
        if self.bytes + room_of(&speaker, text) > LIMIT {
            self.shorten();
        }
        let text = if self.are_shortened { shorten(text) } else { text.to_owned() };
        self.bytes += room_of(&speaker, &text);
        self.said.push_back((speaker, text));
        while self.bytes > LIMIT
            && let Some((speaker, text)) = self.said.pop_front()
        {
            self.bytes -= room_of(&speaker, &text);
            self.is_whole = false;
        }
    }

    /// No contribution takes the room of others from here on.
    fn shorten(&mut self) {
        if !self.are_shortened {
            self.are_shortened = true;
            self.said.iter_mut().for_each(|(_, text)| *text = shorten(text));
            self.bytes = self.said.iter().map(|(speaker, text)| room_of(speaker, text)).sum();
        }
    }

    /// Whether nothing was dropped.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    /// The contributions that are at their end, each with who said it.
    pub(super) fn lines(&self) -> Vec<String> {
        self.said.iter().map(|(speaker, text)| format!("{speaker}: {text}")).collect()
    }
}

/// What a contribution takes of an account's room.
fn room_of(speaker: &str, text: &str) -> usize {
    speaker.len() + ": ".len() + text.len() + BETWEEN.len()
}

/// The beginning and the end of a contribution that is longer than one may be.
fn shorten(text: &str) -> String {
    if text.len() <= LONGEST_PART {
        return text.to_owned();
    }
    let half = LONGEST_PART.saturating_sub(" […] ".len()) / 2;
    let head = text.floor_char_boundary(half);
    let tail = text.ceil_char_boundary(text.len() - half);
    format!("{} […] {}", &text[..head], &text[tail..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_without_end_takes_no_more_memory_than_its_beginning_and_end() {
        let mut parts = Contributions::default();
        parts.extend(Some("1"), [Contribution::new("User", "before".to_owned())]);
        for _ in 0..1000 {
            parts.extend(Some("1"), [Contribution::new("Assistant", "wörd ".repeat(1000))]);
            let held = parts.open.as_ref().map_or(0, |open| open.text.len());
            assert!(held <= LONGEST_HELD, "{held}");
        }
        parts.extend(Some("1"), [Contribution::new("Assistant", "the end".to_owned())]);
        parts.close();
        let [before, long] = &parts.lines()[..] else { panic!("{:?}", parts.lines()) };
        assert_eq!(before, "User: before");
        assert!(long.starts_with("Assistant: wörd") && long.contains(" […] ") && long.ends_with("the end"), "{long}");
        assert!(parts.is_whole());
    }

    #[test]
    fn all_that_is_said_is_told_until_each_part_of_it_that_is_told_has_no_room() {
        let long = "w".repeat(20_000);
        for (count, kept) in [(2, 2), (3, 3), (5, 5), (6, 5), (100, 5)] {
            let (mut parts, mut others) = (Contributions::default(), Contributions::default());
            for nth in 0..count {
                let turn = nth.to_string();
                parts.extend(Some(&turn), [Contribution::new("Assistant", format!("{nth} {long}"))]);
                others.extend(Some(&turn), [Contribution::new("Assistant", format!("{nth} {long}"))]);
            }
            parts.close();
            let lines = parts.lines();
            assert_eq!(lines.len(), kept, "{count}");
            assert!(lines.iter().map(String::len).sum::<usize>() <= LIMIT, "{count}");
            assert!(lines[0].starts_with(&format!("Assistant: {} ", count - kept)), "{count}");
            assert_eq!(lines[0].contains("[…]"), count > 2, "{count}");
            assert_eq!(parts.is_whole(), count == kept, "{count}");
            let mut appended = Contributions::default();
            appended.append(others);
            assert_eq!((appended.lines(), appended.is_whole()), (lines, parts.is_whole()), "{count}");
        }
    }
}
