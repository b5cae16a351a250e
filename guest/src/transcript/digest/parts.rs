//! What was said, by whom, as far as an account has room for it.

use std::collections::VecDeque;

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
            match self.said.back_mut().filter(|(last, _)| is_same && *last == speaker) {
                Some((_, joined)) => joined.push_str(&text),
                None => self.said.push_back((speaker, text)),
            }
        }
        while self.bytes > self.most && self.said.len() > 1 {
            self.bytes -= self.said.pop_front().map_or(0, |(_, text)| text.len());
            self.is_whole = false;
        }
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
