//! Other windows write what their agents say a moment later. What an agent replays of that is known to be the same only once
//! it is in the log.

/// How long others are waited for, in times of what they wait themselves before they write.
const PATIENCE: i64 = 3;

/// Whether other windows that have the session open have written what they were told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// It did not matter yet.
    Unawaited,
    /// They are waited for since then.
    AwaitedSince(i64),
    /// They had the time.
    HaveWritten,
}

impl Others {
    pub(super) fn are_awaited(self) -> bool {
        matches!(self, Self::AwaitedSince(_))
    }

    /// Whether they were waited for long enough, or the clock was set back.
    pub(super) fn have_had_time(self, now: i64, flush_ms: u32) -> bool {
        let Self::AwaitedSince(since) = self else { return false };
        !(since..since + PATIENCE * i64::from(flush_ms)).contains(&now)
    }
}
