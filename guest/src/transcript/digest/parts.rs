//! What was said, by whom, as far as an account has room for it.

use std::collections::VecDeque;

use crate::transcript::own_words;

/// The longest account, in bytes; the newest part is kept.
pub(super) const LIMIT: usize = 48 * 1024;

/// Contributions in their order; the oldest are dropped where they are more than is asked for.
#[derive(Debug)]
pub(super) struct Parts {
    said: VecDeque<(String, String)>,
    /// The turn of the last one, if it is of one.
    turn: Option<String>,
    bytes: usize,
    most: usize,
    is_whole: bool,
}

impl Parts {
    /// Keeps about so many bytes, and the last contribution however long it is.
    pub(super) fn up_to(most: usize) -> Self {
        Self { said: VecDeque::new(), turn: None, bytes: 0, most, is_whole: true }
    }

    /// Adds what somebody said in a turn to it; what one says after the other is one contribution. Turns of two windows may
    /// have come to the log at once.
    pub(super) fn extend(&mut self, turn: Option<&str>, contributions: impl IntoIterator<Item = (String, String)>) {
        for (speaker, text) in contributions {
            self.bytes += text.len();
            let is_same = self.turn.as_deref() == turn;
            if !is_same {
                self.turn = turn.map(str::to_owned);
            }
            if let Some((_, joined)) = self.said.back_mut().filter(|(last, _)| is_same && *last == speaker) {
                joined.push_str(&text);
            } else {
                self.shorten_last();
                self.said.push_back((speaker, text));
            }
        }
        // What the last one has too much is taken from it when it is at its end.
        let too_much = self.said.back().map_or(0, |(_, text)| text.len().saturating_sub(LIMIT));
        while self.bytes - too_much > self.most && self.said.len() > 1 {
            self.bytes -= self.said.pop_front().map_or(0, |(_, text)| text.len());
            self.is_whole = false;
        }
    }

    /// The last contribution is at its end: one that is longer than an account does not take the room of all others.
    fn shorten_last(&mut self) {
        let Some((_, text)) = self.said.back_mut().filter(|(_, text)| text.len() > LIMIT) else { return };
        let shortened = shorten(&without_own_words(text), LIMIT);
        self.bytes = self.bytes.saturating_sub(text.len()) + shortened.len();
        *text = shortened;
    }

    pub(super) fn clear(&mut self) {
        *self = Self::up_to(self.most);
    }

    /// Whether nothing was dropped.
    pub(super) fn is_whole(&self) -> bool {
        self.is_whole
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = (&str, &str)> {
        self.said.iter().map(|(speaker, text)| (&**speaker, &**text))
    }

    /// Takes all of it out.
    pub(super) fn take(&mut self) -> Vec<(String, String)> {
        self.bytes = 0;
        std::mem::take(&mut self.said).into()
    }
}

/// An account has no other inside it, nor anything that looks like its end.
pub(super) fn without_own_words(text: &str) -> String {
    own_words::strip(text).replace(own_words::CLOSING, "")
}

/// The beginning and the end of a text that is longer than so many bytes.
pub(super) fn shorten(text: &str, longest: usize) -> String {
    if text.len() <= longest {
        return text.to_owned();
    }
    let half = longest.saturating_sub(" […] ".len()) / 2;
    let head = text.floor_char_boundary(half);
    let tail = text.ceil_char_boundary(text.len() - half);
    format!("{} […] {}", &text[..head], &text[tail..])
}
