//! What an agent was told of what others have said in a session.

use serde::{Deserialize, Serialize};

/// From where on an agent has something to be told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) enum Untold {
    /// Behind as much of the transcript as it had heard when it opened the session. What the record says by now may be what
    /// another of its programs has heard, by the same id.
    Place(u64),
    /// Behind this entry of the session's own log; its own turns apart.
    Entry(u32),
}

/// How much of a session's own log an agent has heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HeardInLog {
    /// All that is known to its window.
    All,
    /// Up to this entry: what others have written behind it was not told yet.
    UpTo(u32),
}

impl HeardInLog {
    /// The last entry that it has heard, where its window knows the log up to `known`.
    pub(super) fn up_to(self, known: u32) -> u32 {
        match self {
            Self::All => known,
            Self::UpTo(behind) => behind.min(known),
        }
    }
}

impl Untold {
    /// The earlier of both.
    pub(super) fn and(self, other: Option<Self>) -> Self {
        other.map_or(self, |other| self.min(other))
    }
}
