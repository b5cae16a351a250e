//! Comparing what two texts of JSON say.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Number;
use serde_json::value::RawValue;

use super::{DEEPEST, elements};

/// Whether two texts of JSON say the same: the members of objects may stand in any order, and text and numbers be written in
/// different ways, though 1 is not 1.0. What cannot be read, such as a number that is too large, is the same only where it is
/// written the same.
pub fn is_same(one: &str, other: &str) -> bool {
    let (one, other) = (one.trim(), other.trim());
    one == other || Meaning::of(one) == Meaning::of(other)
}

/// A number that stands for what a text of JSON says: the same for all texts that [`is_same`] finds to say the same, and hardly ever
/// for others.
pub fn print_of(json: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    Meaning::of(json.trim()).hash(&mut hasher);
    hasher.finish()
}

/// What a text of JSON says.
#[derive(Debug, PartialEq, Hash)]
enum Meaning<'a> {
    Object(BTreeMap<String, Self>),
    Array(Vec<Self>),
    Text(Cow<'a, str>),
    Number(Number),
    /// What is said in one way only, cannot be read, or is too deep to be looked into.
    AsWritten(&'a str),
}

impl<'a> Meaning<'a> {
    fn of(json: &'a str) -> Self {
        Self::within(DEEPEST, json)
    }

    /// What a text says that is looked into to this depth.
    fn within(depth: usize, json: &'a str) -> Self {
        match (json.as_bytes().first(), depth.checked_sub(1)) {
            (Some(b'{'), Some(depth)) if let Some(members) = members(json) => {
                let members = members.into_iter().map(|(name, value)| (name, Self::within(depth, value.get())));
                Self::Object(members.collect())
            }
            (Some(b'['), Some(depth)) if let Some(elements) = elements(json) => {
                Self::Array(elements.into_iter().map(|element| Self::within(depth, element)).collect())
            }
            (Some(b'"'), _) if let Some(text) = exact_text(json) => Self::Text(text),
            (Some(b'-' | b'0'..=b'9'), _) if let Some(number) = number(json) => Self::Number(number),
            _ => Self::AsWritten(json),
        }
    }
}

/// The text of a JSON string all of whose characters are whole; `None` for any other JSON. [`super::text()`] also reads strings
/// with half a character in them, and two of these that differ would be the same.
fn exact_text(json: &str) -> Option<Cow<'_, str>> {
    #[derive(serde::Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str(json).ok().map(|Text(text)| text)
}

/// The members of an object. Of one that is there twice the last counts.
fn members(json: &str) -> Option<BTreeMap<String, &RawValue>> {
    serde_json::from_str(json).ok()
}

/// `None` for what is no number, or beyond all that can be read.
fn number(json: &str) -> Option<Number> {
    serde_json::from_str(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_compared_by_what_they_say_and_not_by_how_they_are_written() {
        let deep = |inner: &str| format!("{}{inner}{}", "[".repeat(2 * DEEPEST), "]".repeat(2 * DEEPEST));
        for (one, other, expected) in [
            (r#"{"a":1,"b":[2,{"c":"d","e":null}]}"#, r#"{ "b" : [ 2 , {"e":null,"c":"\u0064"} ] , "a" : 1 }"#, true),
            (r#"{"a":1,"a":2}"#, r#"{"a":2}"#, true),
            (r#"{"a":1}"#, r#"{"a":1,"b":null}"#, false),
            (r#"{"a":1}"#, r#"{"b":1}"#, false),
            ("[1,2]", "[2,1]", false),
            ("[1]", "[1,1]", false),
            ("{}", "[]", false),
            ("{}", "{}", true),
            ("1.0", "1E0", true),
            ("0.1", "1e-1", true),
            ("-0", "0.0", true),
            ("1", "1.0", false),
            ("1", "2", false),
            ("1", "\"1\"", false),
            ("true", "true", true),
            ("true", "false", false),
            ("null", "0", false),
            // What few can read.
            ("1e400", "1e400", true),
            ("1e400", "1e500", false),
            ("1e400", "-1e400", false),
            ("1e400", "null", false),
            (r#"{"a":1e400,"b":[]}"#, r#"{"b":[ ],"a":1e400}"#, true),
            (r#"{"a":1e400}"#, r#"{"a":1e500}"#, false),
            (r#""\ud800""#, r#""\ud801""#, false),
            (r#""\ud800""#, r#""\ud800""#, true),
            (r#"{"\ud800":1}"#, r#"{"\ud800": 1}"#, false),
            ("{", "[", false),
            ("", "nothing", false),
            (&deep("1"), &deep("1"), true),
            (&deep("1"), &deep(" 1"), false),
        ] {
            assert_eq!(is_same(one, other), expected, "{one} {other}");
            assert_eq!(is_same(other, one), expected, "{other} {one}");
            assert_eq!(print_of(one) == print_of(other), expected, "{one} {other}");
        }
    }
}
