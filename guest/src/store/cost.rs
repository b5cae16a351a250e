//! Amounts of money, or of another unit that an agent counts in: decimal, as they were sent, and never binary fractions.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::value::RawValue;

use crate::rpc::Object;

/// How many decimals count; what is finer is cut off. The shortest text of any binary fraction down to a billionth has no
/// more.
const DECIMALS: u32 = 25;
/// How many decimals count, to write as many.
const WIDTH: usize = DECIMALS as usize;
/// How many digits an amount may have before its point.
const WHOLE_DIGITS: i64 = 12;
/// The longest name of a unit, in bytes.
const LONGEST_CURRENCY: usize = 64;
/// How many units are told apart in one place.
const MOST_CURRENCIES: usize = 16;

const ONE: u128 = 10_u128.pow(DECIMALS);

/// An amount that is not negative: exact to 25 decimals, below a trillion as it is sent, and up to 34 of them as a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Amount(u128);

impl Amount {
    /// Reads a JSON number. `None` for anything else, and for amounts that are negative or of a trillion and more.
    pub fn parse(json: &str) -> Option<Self> {
        let is_number = serde_json::from_str::<serde_json::Number>(json).is_ok();
        let json = Some(json.trim()).filter(|json| is_number && !json.starts_with('-'))?;
        let (digits, exponent) = json.split_once(['e', 'E']).unwrap_or((json, "0"));
        let exponent = exponent.parse::<i64>().ok()?;
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
        // The power of ten that the first digit counts.
        let mut power = i64::try_from(whole.len()).ok()?.checked_add(exponent)?;
        let mut units = 0_u128;
        for digit in whole.bytes().chain(fraction.bytes()).map(|digit| u128::from(digit - b'0')) {
            power -= 1;
            if digit == 0 {
                continue;
            }
            if power >= WHOLE_DIGITS {
                return None;
            }
            let Ok(place) = u32::try_from(power + i64::from(DECIMALS)) else { break };
            units += digit * 10_u128.pow(place);
        }
        Some(Self(units))
    }

    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }

    /// What is more in this one; `None` where it is the smaller one.
    pub fn since(self, before: Self) -> Option<Self> {
        self.0.checked_sub(before.0).map(Self)
    }

    /// Whether it is nothing.
    pub fn is_zero(self) -> bool {
        self.0 == 0
    }
}

/// Decimal, without an exponent and without zeros at its end.
impl fmt::Display for Amount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / ONE, self.0 % ONE);
        if fraction == 0 {
            return write!(formatter, "{whole}");
        }
        let fraction = format!("{fraction:0WIDTH$}");
        write!(formatter, "{whole}.{}", fraction.trim_end_matches('0'))
    }
}

/// A JSON number with all of its digits.
impl Serialize for Amount {
    fn serialize<T: Serializer>(&self, serializer: T) -> Result<T::Ok, T::Error> {
        RawValue::from_string(self.to_string()).map_err(ser::Error::custom)?.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Amount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let json = Box::<RawValue>::deserialize(deserializer)?;
        // A sum may be larger than what is taken from an agent.
        let read = Self::parse(json.get()).or_else(|| Self::parse_sum(json.get()));
        read.ok_or_else(|| de::Error::custom("not an amount"))
    }
}

impl Amount {
    /// Reads what [`Amount`] writes, however large.
    fn parse_sum(text: &str) -> Option<Self> {
        let (whole, fraction) = text.split_once('.').unwrap_or((text, ""));
        let fraction = if fraction.is_empty() { Self::default() } else { Self::parse(&format!("0.{fraction}"))? };
        Some(Self(whole.parse::<u128>().ok()?.checked_mul(ONE)?.checked_add(fraction.0)?))
    }
}

/// An amount, and of what (protocol v1, `Cost`).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cost {
    /// How much.
    pub amount: Amount,
    /// A currency's code, or another unit's name.
    pub currency: String,
}

impl Cost {
    /// Reads the `cost` of a `usage_update`; `None` for one that is none, or that has an amount or a unit that is not taken.
    pub fn read(json: &str) -> Option<Self> {
        let cost = Object::parse(json)?;
        let amount = Amount::parse(cost.get("amount")?)?;
        let currency = cost.get_string("currency").filter(|currency| currency.len() <= LONGEST_CURRENCY)?;
        Some(Self { amount, currency })
    }

    /// Reads the cost that a `usage_update` tells, if it tells one that is taken.
    pub fn told(update: &str) -> Option<Self> {
        Self::read(Object::parse(update)?.get_some("cost")?)
    }
}

/// Amounts of several units, each of which is there once.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Costs(Vec<Cost>);

impl Costs {
    /// Whether nothing is known of any unit.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them, in the order in which they came up.
    pub fn iter(&self) -> impl Iterator<Item = &Cost> {
        self.0.iter()
    }

    /// Gives all of them, in the order in which they came up, for good.
    pub fn into_all(self) -> Vec<Cost> {
        self.0
    }

    /// How much there is of a unit.
    pub fn of(&self, currency: &str) -> Option<Amount> {
        self.0.iter().find(|cost| cost.currency == currency).map(|cost| cost.amount)
    }

    /// Adds an amount. Amounts of a unit after the 16th are passed over.
    pub fn add(&mut self, cost: &Cost) {
        let sum = self.of(&cost.currency).unwrap_or_default().plus(cost.amount);
        self.set(&Cost { amount: sum, currency: cost.currency.clone() });
    }

    /// Adds all of these.
    pub fn add_all(&mut self, others: &Self) {
        others.iter().for_each(|cost| self.add(cost));
    }

    /// Takes away so much of this unit, or all there is of it.
    pub fn take(&mut self, cost: &Cost) {
        if let Some(known) = self.0.iter_mut().find(|known| known.currency == cost.currency) {
            known.amount = known.amount.since(cost.amount).unwrap_or_default();
        }
        self.0.retain(|known| known.currency != cost.currency || !known.amount.is_zero());
    }

    /// Of this unit there is this much, and it is the last one that came up.
    pub fn set_last(&mut self, cost: &Cost) {
        self.set(cost);
        if let Some(at) = self.0.iter().position(|known| known.currency == cost.currency) {
            self.0[at..].rotate_left(1);
        }
    }

    /// Of this unit there is at least this much.
    pub fn raise(&mut self, cost: &Cost) {
        if self.of(&cost.currency).is_none_or(|known| known < cost.amount) {
            self.set(cost);
        }
    }

    /// How much more this is than there is of its unit; `None` if it is not more.
    pub fn lack(&self, cost: &Cost) -> Option<Cost> {
        let more = cost.amount.since(self.of(&cost.currency).unwrap_or_default());
        let amount = more.filter(|more| !more.is_zero())?;
        Some(Cost { amount, currency: cost.currency.clone() })
    }

    /// The units of which there is more than in the other.
    #[must_use]
    pub fn beyond(&self, other: &Self) -> Self {
        let is_more = |cost: &&Cost| other.of(&cost.currency).is_none_or(|known| known < cost.amount);
        Self(self.0.iter().filter(is_more).cloned().collect())
    }

    /// What there is of each unit, as far as it is not more than the other has of it.
    #[must_use]
    pub fn within(&self, other: &Self) -> Self {
        let at_most =
            |cost: &Cost| other.of(&cost.currency).map(|most| Cost { amount: cost.amount.min(most), ..cost.clone() });
        Self(self.0.iter().filter_map(at_most).collect())
    }

    /// Of this unit there is this much.
    pub fn set(&mut self, cost: &Cost) {
        if let Some(known) = self.0.iter_mut().find(|known| known.currency == cost.currency) {
            known.amount = cost.amount;
        } else if self.0.len() < MOST_CURRENCIES {
            self.0.push(cost.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_are_what_was_sent_to_the_last_digit() {
        for (json, expected) in [
            ("0", Some("0")),
            ("-0", None),
            ("0.1", Some("0.1")),
            ("0.30000000000000004", Some("0.30000000000000004")),
            ("1.50", Some("1.5")),
            ("12e3", Some("12000")),
            ("1.25E+2", Some("125")),
            ("1.2345678901234567e-9", Some("0.0000000012345678901234567")),
            ("1e-26", Some("0")),
            ("19e-26", Some("0.0000000000000000000000001")),
            ("999999999999.5", Some("999999999999.5")),
            ("1000000000000", None),
            ("0.001e15", None),
            ("0.000e999999", Some("0")),
            ("1e99999999999999999999", None),
            ("-1", None),
            ("\"1\"", None),
            ("null", None),
            ("01", None),
            ("", None),
        ] {
            assert_eq!(Amount::parse(json).map(|amount| amount.to_string()).as_deref(), expected, "{json}");
        }
    }

    #[test]
    fn sums_are_exact_and_come_back_as_they_were_written() {
        let tenth = Amount::parse("0.1").unwrap();
        let sum = (0..30).fold(Amount::default(), |sum, _| sum.plus(tenth));
        assert_eq!(sum.to_string(), "3");
        let large = Amount::parse("999999999999.0000000000000000000000001").unwrap();
        for amount in [sum, tenth, large, large.plus(large), Amount(u128::MAX)] {
            let json = serde_json::to_string(&amount).unwrap();
            assert_eq!(json, amount.to_string());
            assert_eq!(serde_json::from_str::<Amount>(&json).unwrap(), amount);
        }
        for damaged in ["\"1\"", "null", "-1", "1e40"] {
            assert!(serde_json::from_str::<Amount>(damaged).is_err(), "{damaged}");
        }
    }

    #[test]
    fn what_is_more_is_told_from_what_is_not_by_the_unit() {
        let cost = |amount: u128, unit: &str| Cost { amount: Amount(amount), currency: unit.to_owned() };
        let mut costs = Costs(vec![cost(2, "USD"), cost(3, "EUR")]);
        for (told, more) in [
            (cost(3, "USD"), Some(cost(1, "USD"))),
            (cost(2, "USD"), None),
            (cost(1, "USD"), None),
            (cost(1, "credits"), Some(cost(1, "credits"))),
            (cost(0, "credits"), None),
        ] {
            assert_eq!(costs.lack(&told), more, "{told:?}");
        }
        let before = costs.clone();
        for told in [cost(1, "USD"), cost(4, "EUR"), cost(0, "credits")] {
            costs.raise(&told);
        }
        assert_eq!(costs, Costs(vec![cost(2, "USD"), cost(4, "EUR"), cost(0, "credits")]));
        assert_eq!(costs.beyond(&before), Costs(vec![cost(4, "EUR"), cost(0, "credits")]));
        assert_eq!(before.beyond(&costs), Costs::default());
        assert_eq!(costs.within(&before), before);
    }

    #[test]
    fn amounts_of_different_units_are_not_added() {
        let mut costs = Costs::default();
        for (json, is_taken) in [
            (r#"{"amount":0.1,"currency":"USD"}"#, true),
            (r#"{"amount":0.2,"currency":"USD","_meta":{}}"#, true),
            (r#"{"amount":3,"currency":"credits"}"#, true),
            (r#"{"amount":3}"#, false),
            (r#"{"amount":-3,"currency":"USD"}"#, false),
            ("null", false),
            (&format!(r#"{{"amount":3,"currency":"{}"}}"#, "x".repeat(65)), false),
        ] {
            let cost = Cost::read(json);
            assert_eq!(cost.is_some(), is_taken, "{json}");
            costs.add_all(&Costs(cost.into_iter().collect()));
        }
        let sums: Vec<_> = costs.iter().map(|cost| format!("{} {}", cost.amount, cost.currency)).collect();
        assert_eq!(sums, ["0.3 USD", "3 credits"]);
        costs.take(&Cost::read(r#"{"amount":0.1,"currency":"USD"}"#).unwrap());
        costs.take(&Cost::read(r#"{"amount":5,"currency":"credits"}"#).unwrap());
        costs.take(&Cost::read(r#"{"amount":5,"currency":"EUR"}"#).unwrap());
        assert_eq!(costs, Costs(vec![Cost::read(r#"{"amount":0.2,"currency":"USD"}"#).unwrap()]));
        (0..20).for_each(|unit| costs.add(&Cost { amount: Amount(1), currency: unit.to_string() }));
        assert_eq!(costs.iter().count(), MOST_CURRENCIES);
    }
}
