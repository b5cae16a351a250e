//! What a cursor begins with: a number made of what it is a cursor of, so that one of something else is noticed.

use super::fingerprint::Fingerprint;

/// The digits of that number, and what parts them from the place behind them.
pub(super) struct CursorMark(String);

impl CursorMark {
    /// A few digits: enough that what is not meant is noticed.
    pub(super) fn short(print: &Fingerprint, end: char) -> Self {
        Self(format!("{:06x}{end}", print.finish() >> 40))
    }

    /// All digits, where what is not meant must not be taken.
    pub(super) fn long(print: &Fingerprint, end: char) -> Self {
        Self(format!("{:016x}{end}", print.finish()))
    }

    /// The cursor of this place.
    pub(super) fn cursor(&self, place: &str) -> String {
        format!("{}{place}", self.0)
    }

    /// The place in a cursor; `None` for one that begins otherwise.
    pub(super) fn place<'c>(&self, cursor: &'c str) -> Option<&'c str> {
        cursor.strip_prefix(&self.0)
    }
}
