//! When the engine is told next that time has passed.

use std::time::{Duration, Instant};

/// The moment, if there is any.
#[derive(Debug, Default)]
pub(super) struct Timer(Option<Instant>);

impl Timer {
    /// Something has arrived: the engine is told this much later, or earlier if it is to be told earlier anyway.
    pub(super) fn arrived(&mut self, now: Instant, flush_after: Duration) {
        let flush = now + flush_after;
        self.0 = Some(self.0.map_or(flush, |told| told.min(flush)));
    }

    /// It has been told, and wants to be told again after so many milliseconds.
    pub(super) fn told(&mut self, now: Instant, again: Option<u32>) {
        self.0 = again.map(|after| now + Duration::from_millis(after.into()));
    }

    /// Whether it is to be told by now.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        self.0.is_some_and(|told| told <= now)
    }

    /// When it is to be told.
    pub(super) fn next(&self) -> Option<Instant> {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLUSH: Duration = Duration::from_millis(100);

    #[test]
    fn what_arrives_is_written_in_time_though_the_engine_has_asked_for_more_of_it() {
        let now = Instant::now();
        for (asked, after) in [(None, 100), (Some(1000), 100), (Some(30), 30)] {
            let mut timer = Timer::default();
            timer.told(now, asked);
            timer.arrived(now, FLUSH);
            assert_eq!(timer.next(), Some(now + Duration::from_millis(after)), "{asked:?}");
        }
    }

    #[test]
    fn what_arrives_later_puts_nothing_off() {
        let now = Instant::now();
        let mut timer = Timer::default();
        assert!(!timer.is_due(now));
        timer.arrived(now, FLUSH);
        timer.arrived(now + FLUSH / 2, FLUSH);
        assert!(!timer.is_due(now) && timer.is_due(now + FLUSH));
        timer.told(now + FLUSH, None);
        assert_eq!(timer.next(), None);
    }
}
