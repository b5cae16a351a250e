//! Request ids.

use serde_json::value::RawValue;

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
        Self(serde_json::Value::from(text).to_string())
    }

    /// The text of an id that is one.
    pub fn as_text(&self) -> Option<String> {
        self.0.starts_with('"').then(|| serde_json::from_str(&self.0).ok()).flatten()
    }

    /// Reads an id; `None` for fractions, booleans and structures.
    pub fn parse(raw: &str) -> Option<Self> {
        match raw.as_bytes().first()? {
            b'"' => serde_json::from_str::<String>(raw).ok().map(|text| Self(serde_json::json!(text).to_string())),
            b'n' => Some(Self::null()),
            b'-' | b'0'..=b'9' if raw.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) => {
                Some(Self(raw.to_owned()))
            }
            _ => None,
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
