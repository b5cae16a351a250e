//! Request ids.

use serde::de::IgnoredAny;
use serde_json::json;
use serde_json::value::RawValue;

use super::whole_number;

/// A request id in its one JSON spelling: an integer, a string or null (protocol v1, `RequestId`).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Id(String);

impl Id {
    /// The id of answers to what had none that could be read.
    pub fn null() -> Self {
        Self("null".to_owned())
    }

    /// The id that is this text.
    pub fn text(text: &str) -> Self {
        Self(json!(text).to_string())
    }

    /// The text of an id that is one.
    pub fn as_text(&self) -> Option<String> {
        self.0.starts_with('"').then(|| serde_json::from_str(&self.0).ok()).flatten()
    }

    /// Reads an id; `None` for fractions, booleans and structures.
    pub fn parse(raw: &str) -> Option<Self> {
        match raw.as_bytes().first()? {
            b'"' => serde_json::from_str::<String>(raw).ok().map(|text| Self(json!(text).to_string())),
            b'n' => Some(Self::null()),
            b'-' | b'0'..=b'9' if raw.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) => {
                Some(Self(raw.to_owned()))
            }
            _ => None,
        }
    }

    /// Reads an id as it was meant: a whole number may be written with a fraction.
    pub fn parse_loosely(raw: &str) -> Option<Self> {
        if let Some(id) = Self::parse(raw) {
            return serde_json::from_str::<IgnoredAny>(raw).is_ok().then_some(id);
        }
        let (sign, size) = raw.strip_prefix('-').map_or(("", raw), |size| ("-", size));
        whole_number(size).map(|number| Self(format!("{sign}{number}")))
    }

    /// The id that this one may be a misspelling of: a number as a text, or the other way round.
    pub fn in_other_words(&self) -> Option<Self> {
        match self.as_text() {
            Some(text) => {
                let is_number = text.starts_with(|first: char| first == '-' || first.is_ascii_digit());
                Self::parse_loosely(&text).filter(|_| is_number)
            }
            None => (*self != Self::null()).then(|| Self::text(&self.0)),
        }
    }

    pub(super) fn from_raw(raw: &RawValue) -> Option<Self> {
        Self::parse(raw.get())
    }

    /// Its JSON.
    pub fn as_json(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_may_be_spelled_in_other_ways() {
        for (raw, id, other) in [
            ("3", Some("3"), Some("\"3\"")),
            ("3.0", Some("3"), Some("\"3\"")),
            ("-3e0", Some("-3"), Some("\"-3\"")),
            ("\"3\"", Some("\"3\""), Some("3")),
            ("\"3.0\"", Some("\"3.0\""), Some("3")),
            ("\"\\u0061\"", Some("\"a\""), None),
            ("\"null\"", Some("\"null\""), None),
            ("\"\"", Some("\"\""), None),
            ("null", Some("null"), None),
            ("nul", None, None),
            ("3-3", None, None),
            ("3.5", None, None),
            ("true", None, None),
            ("{}", None, None),
            ("", None, None),
        ] {
            let read = Id::parse_loosely(raw);
            assert_eq!(read.as_ref().map(Id::as_json), id, "{raw}");
            assert_eq!(read.and_then(|id| id.in_other_words()).as_ref().map(Id::as_json), other, "{raw}");
        }
    }
}
