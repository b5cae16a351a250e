//! Decimal amounts as the engine gives them, to be added without losing a digit.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer, ser};
use serde_json::value::RawValue;

/// How many decimals the engine's amounts have at most.
const DECIMALS: usize = 25;
const ONE: u128 = 10_u128.pow(25);

/// An amount in units of the last of these decimals.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Amount(u128);

impl Amount {
    pub(super) fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

/// An amount that the engine does not give.
#[derive(Debug, thiserror::Error)]
#[error("the engine gave an amount that is none: {0}")]
pub(super) struct NoAmount(String);

impl FromStr for Amount {
    type Err = NoAmount;

    fn from_str(text: &str) -> Result<Self, NoAmount> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
        let are_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let is_amount = are_digits(whole) && are_digits(fraction) && fraction.len() <= DECIMALS;
        let read = |digits: &str| Some(digits).filter(|_| is_amount).and_then(|digits| digits.parse::<u128>().ok());
        let units = || read(whole)?.checked_mul(ONE)?.checked_add(read(&format!("{fraction:0<DECIMALS$}"))?);
        units().map(Self).ok_or_else(|| NoAmount(text.to_owned()))
    }
}

impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / ONE, format!("{:0DECIMALS$}", self.0 % ONE));
        match fraction.trim_end_matches('0') {
            "" => write!(formatter, "{whole}"),
            fraction => write!(formatter, "{whole}.{fraction}"),
        }
    }
}

/// A number with all of its digits.
impl Serialize for Amount {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        RawValue::from_string(self.to_string()).map_err(ser::Error::custom)?.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_added_to_the_last_digit() {
        let sum = |texts: &[&str]| {
            let amounts = texts.iter().map(|text| text.parse::<Amount>().expect("an amount"));
            amounts.fold(Amount::default(), Amount::plus).to_string()
        };
        assert_eq!(sum(&["0.1", "0.2"]), "0.3");
        assert_eq!(sum(&["0.1"; 30]), "3");
        assert_eq!(sum(&["999999999999.5", "0.0000000000000000000000001"]), "999999999999.5000000000000000000000001");
        assert_eq!(sum(&["12"]), "12");
        for none in ["", ".5", "1.", "-1", "1e3", "0.00000000000000000000000001", "1 "] {
            assert!(none.parse::<Amount>().is_err(), "{none}");
        }
    }
}
