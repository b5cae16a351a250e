//! What a conversation is made of.

use std::borrow::Cow;

use super::places::Places;
use super::text::{Sum, Text};

/// Takes the layer's own words (the digest of a rehydration) out of what a user is said to have said.
pub type Strip = for<'a> fn(&'a str) -> Cow<'a, str>;

/// What a user said and what came of it: text, thoughts, tool calls and marks, up to the next thing a user said.
#[derive(Debug, Clone)]
pub struct Turn {
    /// Its entries. In a transcript they are counted from 1 over all segments, so that an entry's number is the position
    /// behind it; in a log they are the log's own.
    pub at: Places,
    /// What the user said. Empty before the first thing a user said, and where that was no text.
    pub user: Sum,
    /// What the agent said, thoughts excluded.
    pub agent: Text,
    /// Whether the agent took part in it: it went to its session, or to another. Not known of what no prompt through the
    /// layer began.
    pub took_part: Option<bool>,
    /// Whether it came to its end, neither cut off nor cancelled nor failed.
    pub finished: bool,
}

impl Turn {
    /// Whether nobody says anything.
    pub fn is_silent(&self) -> bool {
        self.user.is_empty() && self.agent.sum().is_empty()
    }
}
