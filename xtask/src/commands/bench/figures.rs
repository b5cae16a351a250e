//! From samples to figures.

use std::time::Duration;

/// The middle one.
pub(super) fn median(samples: &mut [Duration]) -> Duration {
    samples.sort_unstable();
    samples.get(samples.len() / 2).copied().unwrap_or_default()
}

/// In milliseconds.
pub(super) fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}

/// With two places after the point, for JSON.
pub(super) fn rounded(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}
