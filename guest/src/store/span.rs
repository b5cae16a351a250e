//! For how long there was activity in a session, from its creation to the last of it, to a power of two.

use super::Session;

/// The shortest that is told from shorter ones, about two minutes, is two to this power, in milliseconds.
const SHORTEST: u32 = 17;
/// How many there are: the times that there are, up to the year 9999, are less than 2^48 milliseconds apart.
const SPANS: u32 = 48 - SHORTEST + 1;

/// A range of durations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span(u32);

impl Span {
    /// All of them.
    pub fn all() -> impl Iterator<Item = Self> {
        (0..SPANS).map(Self)
    }

    /// The one of so many milliseconds.
    fn of(duration: i64) -> Self {
        let duration = duration.max(0).unsigned_abs();
        Self((64 - duration.leading_zeros()).saturating_sub(SHORTEST).min(SPANS - 1))
    }

    /// Its number in keys.
    pub fn number(self) -> u32 {
        self.0
    }

    /// How long, in milliseconds, it was less than.
    pub fn end(self) -> i64 {
        1 << (SHORTEST + self.0)
    }
}

impl Session {
    /// For how long there was activity.
    pub fn span(&self) -> Span {
        Span::of(self.updated.saturating_sub(self.created))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time;

    #[test]
    fn every_duration_is_of_the_first_span_that_is_longer() {
        let mut durations: Vec<i64> =
            (0..48).flat_map(|power| [(1 << power) - 1, 1 << power, (1 << power) + 1]).collect();
        durations.extend([0, time::LAST]);
        for duration in durations {
            let first = Span::all().find(|span| duration < span.end());
            assert_eq!(Some(Span::of(duration)), first, "{duration}");
        }
        // What a damaged record says is no reason to fail.
        assert_eq!(Span::of(-1), Span(0));
    }
}
