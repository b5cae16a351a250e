//! When what time brings was done last, and is to be done next.

use serde::{Deserialize, Serialize};

use crate::connection::running::Running;

/// When retention first looks, in milliseconds.
pub(super) const SWEEP_FIRST: i64 = 10_000;

/// When what was done last.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Times {
    /// When the buffers were last written.
    pub(super) flushed: i64,
    /// When retention is to look next, and where it goes on.
    pub(super) sweep: i64,
    pub(super) sweep_after: Option<String>,
    /// The time when it was last looked at: a clock that goes back makes everything due.
    pub(super) seen: i64,
    /// How long the program has been running: an agent that is asleep with it is not silent.
    pub(super) running: Running,
    /// When it is to be looked next whether anything is to be removed.
    pub(super) removal: i64,
    pub(super) upgrade: Upgrade,
    /// When it is to be looked next what other windows say, and the store's revision when that was last looked.
    pub(super) windows: i64,
    pub(super) revision: Option<u64>,
}

/// Whether the store is one of an earlier version, which is brought up to date.
#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Upgrade {
    /// Nobody has looked yet.
    Unknown,
    UnderWay,
    /// It is up to date, or cannot be brought up to date now.
    Over,
}

impl Times {
    pub(super) fn new(now: i64) -> Self {
        Self {
            flushed: now,
            sweep: now + SWEEP_FIRST,
            sweep_after: None,
            seen: now,
            running: Running::new(now),
            removal: now,
            upgrade: Upgrade::Unknown,
            windows: now,
            revision: None,
        }
    }
}
