//! Numbers. JSON has one kind of them, and some programs write a whole one as `5.0`.

/// The largest whole number that a JSON number with a fraction says for sure.
const LARGEST_EXACT: f64 = 9_007_199_254_740_991.0;

/// Reads a number that is whole and not negative, however it is written; `None` for any other JSON.
pub fn whole_number(json: &str) -> Option<u64> {
    if let Ok(number) = serde_json::from_str(json) {
        return Some(number);
    }
    let number = serde_json::from_str::<f64>(json).ok()?;
    let is_whole = number.fract() == 0.0 && (0.0..=LARGEST_EXACT).contains(&number);
    // Written without a fraction it is read as what it is.
    is_whole.then(|| format!("{number:.0}").trim_start_matches('-').parse().ok()).flatten()
}

/// Reads how many are wanted, of which there may be any number: one that is too large to be told counts as the largest.
/// It is whole, as far as can be told; `None` for what is no such number.
pub fn count(json: &str) -> Option<u64> {
    let is_huge = || json.parse::<f64>().is_ok_and(|number| number > LARGEST_EXACT);
    whole_number(json).or_else(|| is_huge().then_some(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_number_may_be_written_with_a_fraction() {
        for (json, expected) in [
            ("5", Some(5)),
            ("5.0", Some(5)),
            ("5e0", Some(5)),
            ("0.5e1", Some(5)),
            ("0.0", Some(0)),
            ("-0.0", Some(0)),
            ("18446744073709551615", Some(u64::MAX)),
            ("5.5", None),
            ("-1", None),
            ("-1.0", None),
            ("1e300", None),
            ("\"5\"", None),
            ("true", None),
            ("null", None),
            ("[5]", None),
        ] {
            assert_eq!(whole_number(json), expected, "{json}");
        }
    }

    #[test]
    fn any_number_may_be_wanted() {
        for (json, expected) in [
            ("0", Some(0)),
            ("5.0", Some(5)),
            ("9007199254740993", Some(9_007_199_254_740_993)),
            ("18446744073709551616", Some(u64::MAX)),
            ("1e300", Some(u64::MAX)),
            ("1e400", Some(u64::MAX)),
            ("123456789012345678901234567890", Some(u64::MAX)),
            ("5000000000.5", None),
            ("-1", None),
            ("-1e400", None),
            ("\"1e400\"", None),
            ("null", None),
        ] {
            assert_eq!(count(json), expected, "{json}");
        }
    }
}
