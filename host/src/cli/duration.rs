//! Times as people write them: `30d`, `12h`, `45m`.

use chrono::TimeDelta;

/// Reads a number with a unit: m(inutes), h(ours), d(ays), w(eeks).
pub(super) fn parse(text: &str) -> Result<TimeDelta, String> {
    let wrong = || format!("`{text}` is not a length of time: write a number and a unit, as in 30d, 12h, 45m, 2w");
    let unit_at = text.find(|character: char| !character.is_ascii_digit()).ok_or_else(wrong)?;
    let (number, unit) = text.split_at(unit_at);
    let number: i64 = number.parse().map_err(|_| wrong())?;
    let duration = match unit {
        "m" => TimeDelta::try_minutes(number),
        "h" => TimeDelta::try_hours(number),
        "d" => TimeDelta::try_days(number),
        "w" => TimeDelta::try_weeks(number),
        _ => None,
    };
    duration.ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_and_a_unit() {
        assert_eq!(parse("30d"), Ok(TimeDelta::days(30)));
        assert_eq!(parse("0m"), Ok(TimeDelta::zero()));
        assert_eq!(parse("2w"), Ok(TimeDelta::weeks(2)));
        assert_eq!(parse("12h"), Ok(TimeDelta::hours(12)));
    }

    #[test]
    fn anything_else_is_refused() {
        for wrong in ["", "30", "d", "-1d", "1.5d", "30 d", "30y", "99999999999999999999d", "9223372036854775807w"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
