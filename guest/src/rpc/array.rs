//! A JSON array, its elements as sent.

use serde_json::value::RawValue;

/// The elements of an array; `None` for any other JSON.
pub fn elements(json: &str) -> Option<Vec<&str>> {
    let elements: Vec<&RawValue> = serde_json::from_str(json).ok()?;
    Some(elements.into_iter().map(RawValue::get).collect())
}
