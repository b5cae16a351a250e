//! RFC 3339 times and the engine's own: milliseconds since 1970, UTC, years 1970 to 9999.

use chrono::{DateTime, SecondsFormat, Utc};

/// The last millisecond of the year 9999.
pub const LAST: i64 = 253_402_300_799_999;

/// Reads an RFC 3339 time with any offset; `None` for anything else, and for times before 1970 or after 9999.
pub fn parse(text: &str) -> Option<i64> {
    let millis = DateTime::parse_from_rfc3339(text).ok()?.timestamp_millis();
    (0..=LAST).contains(&millis).then_some(millis)
}

/// Writes a time with `Z`, with milliseconds only where there are some.
pub fn format(millis: i64) -> String {
    let time = DateTime::<Utc>::from_timestamp_millis(millis.clamp(0, LAST)).unwrap_or_default();
    time.to_rfc3339_opts(SecondsFormat::AutoSi, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_offset_is_read_and_z_is_written() {
        for (text, expected) in [
            ("2025-10-29T14:22:15Z", Some("2025-10-29T14:22:15Z")),
            ("2025-10-29T14:22:15.5+02:00", Some("2025-10-29T12:22:15.500Z")),
            ("1970-01-01T00:00:00Z", Some("1970-01-01T00:00:00Z")),
            ("1969-12-31T23:59:59Z", None),
            ("9999-12-31T23:59:59.999Z", Some("9999-12-31T23:59:59.999Z")),
            ("9999-12-31T23:59:59-01:00", None),
            ("2025-10-29", None),
            ("yesterday", None),
        ] {
            assert_eq!(parse(text).map(format).as_deref(), expected, "{text}");
        }
    }
}
