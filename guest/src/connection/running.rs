//! The time during which the program was running. What somebody waits for an agent is measured by it: an agent has had no time
//! to answer while the computer was asleep or the program stopped, and a clock that is set says nothing of either.

use serde::{Deserialize, Serialize};

/// How much of the time between two looks at the clock counts, in milliseconds. A host says every second that time has passed
/// while something waits; what is much longer than that was no waiting.
const LONGEST_STEP: i64 = 5000;

/// How long the program has been running, as far as that was looked at.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(super) struct Running {
    /// In milliseconds since the beginning.
    passed: i64,
    /// The time by the clock when that was looked at.
    seen: i64,
}

/// A point in that time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct RunningAt(i64);

impl Running {
    pub(super) fn new(now: i64) -> Self {
        Self { passed: 0, seen: now }
    }

    /// Which point it is now, by the clock.
    pub(super) fn at(self, now: i64) -> RunningAt {
        RunningAt(self.passed + (now - self.seen).clamp(0, LONGEST_STEP))
    }

    /// Looks at the clock. Where the program was not running for a while, or the clock was set, returns what it said before.
    pub(super) fn look(&mut self, now: i64) -> Option<i64> {
        let RunningAt(passed) = self.at(now);
        let before = std::mem::replace(self, Self { passed, seen: now });
        ((now - before.seen).abs() > LONGEST_STEP).then_some(before.seen)
    }
}

impl RunningAt {
    /// How much of it has passed since, in milliseconds.
    pub(super) fn until(self, later: Self) -> i64 {
        later.0 - self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_slept_through_does_not_count_nor_does_a_clock_that_is_set() {
        let mut running = Running::new(1000);
        let start = running.at(1000);
        for (now, passed, asleep_since) in [
            (2000, 1000, None),
            (2000, 1000, None),
            (6000, 5000, None),
            (28_800_000, 10_000, Some(6000)),
            (28_801_000, 11_000, None),
            (5000, 11_000, Some(28_801_000)),
            (5900, 11_900, None),
        ] {
            assert_eq!(start.until(running.at(now)), passed, "{now}");
            assert_eq!(running.look(now), asleep_since, "{now}");
            assert_eq!(start.until(running.at(now)), passed, "{now}");
        }
    }
}
