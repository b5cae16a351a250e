//! What a transcript is made of.

use serde::{Deserialize, Serialize};

/// A part of a log that belongs to a transcript: of the log of a session this one was forked from, of a history that was
/// taken over from an agent, or of the session's own log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// The log.
    pub log: String,
    /// Its first entry that counts.
    #[serde(default = "Segment::first")]
    pub from: u32,
    /// Its last entry that counts.
    pub until: u32,
}

impl Segment {
    /// How many entries it has.
    pub fn length(&self) -> u64 {
        (u64::from(self.until) + 1).saturating_sub(u64::from(self.from))
    }

    /// Whether this entry of this log is in it.
    pub fn has(&self, log: &str, seq: u32) -> bool {
        self.log == log && (self.from..=self.until).contains(&seq)
    }

    /// The number in the log of the entry that so many others of the segment stand before; the last where it has fewer.
    pub fn seq(&self, place: u64) -> u32 {
        u32::try_from(u64::from(self.from) + place).map_or(self.until, |seq| seq.min(self.until))
    }

    /// Where one begins that does not say.
    pub(super) fn first() -> u32 {
        1
    }
}
