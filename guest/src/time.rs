//! Times as they are sent and the engine's own: milliseconds since 1970, UTC, years 1970 to 9999.

use chrono::{DateTime, SecondsFormat, Utc};

/// The last millisecond of the year 9999.
pub const LAST: i64 = 253_402_300_799_999;

/// What programs write for a time they do not have: the first second of the year 1, which is Go's zero time and .NET's
/// `DateTime.MinValue`.
const NONE: i64 = -62_135_596_800_000;

/// Where an offset without its colon begins in a time that has a date and at least hours, minutes and seconds.
const OFFSET_AFTER: usize = "2025-10-29T14:22:15".len();

/// Reads an RFC 3339 time with any offset, also one that is written without its colon (`+0200`) or without minutes
/// (`+02`), and a date alone, which is its midnight in UTC. `None` for anything else, and for times before 1970 or after
/// 9999.
pub fn parse(text: &str) -> Option<i64> {
    millis(text).filter(|millis| (0..=LAST).contains(millis))
}

/// Reads a time that an agent gives to a session of its own. The first moment of 1970 is what many programs write for one that they do not
/// have, and none of a session.
pub fn of_session(text: &str) -> Option<i64> {
    parse(text).filter(|millis| *millis > 0)
}

/// Whether this is a time that says that there is none.
pub fn is_none(text: &str) -> bool {
    millis(text) == Some(NONE)
}

fn millis(text: &str) -> Option<i64> {
    let time = DateTime::parse_from_rfc3339(text).ok().or_else(|| DateTime::parse_from_rfc3339(&completed(text)?).ok());
    time.map(|time| time.timestamp_millis())
}

/// The time with what RFC 3339 asks for and ISO 8601 does not.
fn completed(text: &str) -> Option<String> {
    let is_date = text.len() == "2025-10-29".len() && text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
    if is_date {
        return Some(format!("{text}T00:00:00Z"));
    }
    let sign = text.get(OFFSET_AFTER..)?.find(['+', '-'])? + OFFSET_AFTER;
    let (time, offset) = (&text[..=sign], &text[sign + 1..]);
    if !offset.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    match offset.len() {
        2 => Some(format!("{time}{offset}:00")),
        4 => Some(format!("{time}{}:{}", &offset[..2], &offset[2..])),
        _ => None,
    }
}

/// Writes a time with `Z` and three decimals, so that times sort as their texts do.
pub fn format(millis: i64) -> String {
    let time = DateTime::<Utc>::from_timestamp_millis(millis.clamp(0, LAST)).unwrap_or_default();
    time.to_rfc3339_opts(SecondsFormat::Millis, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_offset_is_read_and_z_is_written() {
        for (text, expected) in [
            ("2025-10-29T14:22:15Z", Some("2025-10-29T14:22:15.000Z")),
            ("2025-10-29T14:22:15.5+02:00", Some("2025-10-29T12:22:15.500Z")),
            ("2025-10-29T14:22:15.0049Z", Some("2025-10-29T14:22:15.004Z")),
            ("1970-01-01T00:00:00Z", Some("1970-01-01T00:00:00.000Z")),
            ("1969-12-31T23:59:59Z", None),
            ("9999-12-31T23:59:59.999Z", Some("9999-12-31T23:59:59.999Z")),
            ("9999-12-31T23:59:59-01:00", None),
            ("yesterday", None),
        ] {
            assert_eq!(parse(text).map(format).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn what_iso_8601_allows_and_many_write_is_read() {
        for (text, expected) in [
            ("2025-10-29T14:22:15+0200", Some("2025-10-29T12:22:15.000Z")),
            ("2025-10-29T14:22:15.25-0330", Some("2025-10-29T17:52:15.250Z")),
            ("2025-10-29T14:22:15+02", Some("2025-10-29T12:22:15.000Z")),
            ("2025-10-29", Some("2025-10-29T00:00:00.000Z")),
            ("1969-12-31", None),
            ("2025-10-32", None),
            ("2025-10", None),
            ("2025-10-29T14:22:15", None),
            ("2025-10-29T14:22:15+020", None),
            ("2025-10-29T14:22:15+02é0", None),
            ("2025-10-29T14:22:1é+0200", None),
        ] {
            assert_eq!(parse(text).map(format).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn a_time_that_is_none_is_told_from_one_that_is_wrong() {
        for (text, expected) in [
            ("0001-01-01T00:00:00Z", true),
            ("0001-01-01T00:00:00.000+00:00", true),
            ("0001-01-01", true),
            ("0001-01-02T00:00:00Z", false),
            ("1970-01-01T00:00:00Z", false),
            ("", false),
        ] {
            assert_eq!(is_none(text), expected, "{text}");
        }
        assert_eq!(parse("0001-01-01T00:00:00Z"), None);
    }

    #[test]
    fn no_session_is_of_the_first_moment() {
        for (text, expected) in [
            ("1970-01-01T00:00:00Z", None),
            ("1970-01-01T01:00:00.000+01:00", None),
            ("1970-01-01", None),
            ("1970-01-01T00:00:00.001Z", Some(1)),
            ("1969-12-31", None),
            ("soon", None),
        ] {
            assert_eq!(of_session(text), expected, "{text}");
        }
    }

    #[test]
    fn times_sort_as_their_texts() {
        let times = [0, 1, 999, 1000, 1_761_747_745_000, 1_761_747_745_004, LAST];
        assert!(times.map(format).is_sorted());
    }
}
