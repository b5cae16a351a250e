//! The states that a storage can come to, into which its author brings it where a case says so.

use serde::Deserialize;

/// What has happened to a storage. What each means is told in the README of `tests/storage`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// There is no room left for more than a little.
    Full,
    /// It can be read, and not written.
    ReadOnly,
    /// Somebody else keeps it from being written, for longer than it waits.
    Busy,
    /// Nothing of what was written can be read any more.
    Damaged,
}

impl State {
    /// Each of them.
    pub const ALL: [Self; 4] = [Self::Full, Self::ReadOnly, Self::Busy, Self::Damaged];

    /// What a case calls it, and a storage that cannot be brought into it lacks.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Full => "full",
            Self::ReadOnly => "read-only",
            Self::Busy => "busy",
            Self::Damaged => "damaged",
        }
    }
}
