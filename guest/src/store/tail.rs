//! How long an agent goes on by itself. Lists stand in the order of prompts, so what was active after a time may stand
//! before it: but no further than this, or among the few that are indexed for it.

use super::Session;

/// From so long on after the last prompt activity is told apart, in milliseconds.
pub const LONG_TAIL: i64 = 3_600_000;

impl Session {
    /// Whether there was activity long after the last prompt.
    pub fn has_long_tail(&self) -> bool {
        // What has no date is later than no time that a list could ask for.
        !self.dateless && self.updated - self.recency() >= LONG_TAIL
    }
}
