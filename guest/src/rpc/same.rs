//! Comparing what two texts of JSON say.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use serde_json::Number;

use super::{DEEPEST, Object, elements};

/// Whether two texts of JSON say the same: the members of objects may stand in any order, and text and numbers be written in
/// different ways, though 1 is not 1.0. What cannot be read, such as a number that is too large, is the same only where it is
/// written the same.
pub fn is_same(one: &str, other: &str) -> bool {
    is_same_within(DEEPEST, one.trim(), other.trim())
}

/// The same of texts that are looked into to this depth.
fn is_same_within(depth: usize, one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let Some(depth) = depth.checked_sub(1) else { return false };
    let is_same = |(one, other): (&str, &str)| is_same_within(depth, one, other);
    match (one.as_bytes().first(), other.as_bytes().first()) {
        (Some(b'{'), Some(b'{')) => {
            let (Some(one), Some(other)) = (Object::parse(one), Object::parse(other)) else { return false };
            // Of a member that is there twice the last counts.
            let (one, other): (BTreeMap<_, _>, BTreeMap<_, _>) = (one.iter().collect(), other.iter().collect());
            let mut members = one.iter().zip(&other);
            one.len() == other.len()
                && members.all(|((name, value), (others, theirs))| name == others && is_same((value, theirs)))
        }
        (Some(b'['), Some(b'[')) => {
            let (Some(one), Some(other)) = (elements(one), elements(other)) else { return false };
            one.len() == other.len() && one.into_iter().zip(other).all(is_same)
        }
        (Some(b'"'), Some(b'"')) => exact_text(one).is_some_and(|one| exact_text(other) == Some(one)),
        _ => number(one).is_some_and(|one| number(other) == Some(one)),
    }
}

/// A number that stands for what a text of JSON says: the same for all texts that [`is_same`] finds to say the same, and hardly ever
/// for others.
pub fn print_of(json: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    hash_within(DEEPEST, json.trim(), &mut hasher);
    hasher.finish()
}

fn hash_within(depth: usize, json: &str, hasher: &mut DefaultHasher) {
    let kind = json.as_bytes().first().copied();
    let deeper = depth.checked_sub(1);
    match (kind, deeper) {
        (Some(b'{'), Some(depth)) if let Some(object) = Object::parse(json) => {
            let members: BTreeMap<_, _> = object.iter().collect();
            (kind, members.len()).hash(hasher);
            for (name, value) in members {
                name.hash(hasher);
                hash_within(depth, value, hasher);
            }
        }
        (Some(b'['), Some(depth)) if let Some(elements) = elements(json) => {
            (kind, elements.len()).hash(hasher);
            for element in elements {
                hash_within(depth, element, hasher);
            }
        }
        (Some(b'"'), _) if let Some(text) = exact_text(json) => (kind, text).hash(hasher),
        _ => match number(json).as_ref().and_then(Number::as_f64) {
            // There are two zeros, which are the same.
            Some(number) => (number + 0.0).to_bits().hash(hasher),
            None => json.hash(hasher),
        },
    }
}

/// The text of a JSON string all of whose characters are whole; `None` for any other JSON. [`super::text()`] also reads strings
/// with half a character in them, and two of these that differ would be the same.
fn exact_text(json: &str) -> Option<Cow<'_, str>> {
    #[derive(serde::Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str(json).ok().map(|Text(text)| text)
}

/// `None` for what is no number, or beyond all that can be read.
fn number(json: &str) -> Option<Number> {
    serde_json::from_str(json).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_they_say_that_counts_and_not_how_they_are_written() {
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
            // A number without a fraction is the same to it whether it is written as one with a fraction or not.
            let is_one_print = expected || one == "1" && other == "1.0";
            assert_eq!(print_of(one) == print_of(other), is_one_print, "{one} {other}");
        }
    }
}
