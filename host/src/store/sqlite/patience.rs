//! How long a store waits for other processes: each time as long as is left of a stock that time refills. A call of the
//! engine's reads and writes many times, and what each of these waits must not add up to the end of the call's time. Where
//! others write all the time without holding the store for long, each wait ends well, and there is always half of the stock
//! for the next one: who gets on is not refused for having waited often.

use std::time::{Duration, Instant};

/// However much was waited before, a store waits this long.
const LEAST: Duration = Duration::from_millis(50);

/// A stock of time.
#[derive(Debug)]
pub(super) struct Patience {
    most: Duration,
    left: Duration,
    /// When it was last taken from.
    since: Instant,
    /// The last wait ended well.
    gets_on: bool,
}

impl Patience {
    /// A full stock.
    pub(super) fn new(most: Duration, now: Instant) -> Self {
        Self { most, left: most, since: now, gets_on: false }
    }

    /// How much there is when nothing was taken for long.
    pub(super) fn most(&self) -> Duration {
        self.most
    }

    /// How long a wait that begins now may last.
    pub(super) fn begin(&mut self, now: Instant) -> Duration {
        self.left = self.most.min(self.left + now.saturating_duration_since(self.since));
        self.since = now;
        let least = if self.gets_on { self.most / 2 } else { LEAST };
        self.left.max(least).min(self.most)
    }

    /// The wait that began last is over; `well`: what was waited for was had.
    pub(super) fn end(&mut self, now: Instant, well: bool) {
        self.gets_on = well;
        self.left = self.left.saturating_sub(now.saturating_duration_since(self.since));
        self.since = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOST: Duration = Duration::from_secs(10);

    #[test]
    fn what_is_waited_in_a_row_does_not_add_up_and_time_restores_it() {
        let begun = Instant::now();
        let mut now = begun;
        let mut patience = Patience::new(MOST, now);
        let mut wait = |pause: Duration, now: &mut Instant| {
            *now += pause;
            let wait = patience.begin(*now);
            *now += wait;
            patience.end(*now, false);
            wait
        };
        let waited: Vec<Duration> = (0..5).map(|_| wait(Duration::ZERO, &mut now)).collect();
        assert_eq!(waited, [MOST, LEAST, LEAST, LEAST, LEAST]);
        assert_eq!(wait(Duration::from_secs(3), &mut now), Duration::from_secs(3));
        assert_eq!(wait(Duration::from_mins(1), &mut now), MOST);
    }

    #[test]
    fn who_gets_on_is_not_refused_for_having_waited_often() {
        let mut now = Instant::now();
        let mut patience = Patience::new(MOST, now);
        for left in [10, 6, 5, 5, 5] {
            assert_eq!(patience.begin(now), Duration::from_secs(left));
            now += Duration::from_secs(4);
            patience.end(now, true);
        }
        // One that waits in vain has used up what there was.
        now += patience.begin(now);
        patience.end(now, false);
        assert_eq!(patience.begin(now), LEAST);
    }

    #[test]
    fn who_is_to_wait_for_less_than_the_least_waits_no_longer() {
        let now = Instant::now();
        assert_eq!(Patience::new(Duration::ZERO, now).begin(now), Duration::ZERO);
    }
}
