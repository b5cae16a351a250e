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

impl Untold {
    /// The earlier of both.
    pub(super) fn and(self, other: Option<Self>) -> Self {
        other.map_or(self, |other| self.min(other))
    }
}
