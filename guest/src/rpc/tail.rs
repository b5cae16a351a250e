//! What stands at the end of a line of which the middle is not known.
//!
//! It is read from the back. A line that is one whole object ends with the brace that closes it; from there on backwards it
//! is known of each quotation mark and brace whether it stands in a string, though not from the beginning of what is there.

/// The members of the outermost object that stand at its end whole, with the comma before them, the last one first: their
/// names as they are written, and their values.
pub(super) fn members(tail: &str) -> Members<'_> {
    Members { rest: tail.trim_end().strip_suffix('}') }
}

/// Goes through members from the back.
#[derive(Debug)]
pub(super) struct Members<'a> {
    /// What stands before those that were read, and the comma between; none where it cannot be told.
    rest: Option<&'a str>,
}

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let (before, value) = last_value(self.rest.take()?.trim_end())?;
        let before = before.trim_end().strip_suffix(':')?.trim_end();
        let (before, name) = before.split_at(string_start(before, before.len())?);
        // Without it, the name may be the rest of a longer one, or of what is not the object's at all.
        self.rest = Some(before.trim_end().strip_suffix(',')?);
        Some((name.trim_matches('"'), value))
    }
}

/// The value that this ends with, and what stands before it.
fn last_value(text: &str) -> Option<(&str, &str)> {
    let start = match text.as_bytes().last()? {
        b'"' => string_start(text, text.len())?,
        b'}' | b']' => structure_start(text)?,
        _ => text.trim_end_matches(|part: char| part.is_ascii_alphanumeric() || "+-.".contains(part)).len(),
    };
    (start < text.len()).then(|| text.split_at(start))
}

/// Where the string begins whose last quotation mark stands right before `end`. In a string each one has a backslash before it.
fn string_start(text: &str, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = end.checked_sub(1).filter(|last| bytes[*last] == b'"')?;
    loop {
        at = bytes[..at].iter().rposition(|byte| *byte == b'"')?;
        // What would stand before the first byte is not known.
        if bytes[at.checked_sub(1)?] != b'\\' {
            return Some(at);
        }
    }
}

/// Where the object or array begins that this ends with.
fn structure_start(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let (mut depth, mut at) = (0_usize, text.len());
    loop {
        at = at.checked_sub(1)?;
        match bytes[at] {
            b'"' => at = string_start(text, at + 1)?,
            b'}' | b']' => depth += 1,
            b'{' | b'[' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_members_of_the_outermost_object_are_read() {
        for (tail, expected) in [
            (r#"xx"}]},"id":7}"#, &[("id", "7")][..]),
            (r#"xx"}]}, "id" : "a\"b\\" , "jsonrpc":"2.0" } "#, &[("jsonrpc", r#""2.0""#), ("id", r#""a\"b\\""#)]),
            (
                r#"1,"id":7,"_meta":{"id":8,"x":["}",{"y":"\\"}]}}"#,
                &[("_meta", r#"{"id":8,"x":["}",{"y":"\\"}]}"#), ("id", "7")],
            ),
            ("€\u{fffd}\",\"id\":-3.0,\"ключ\":null}\r", &[("ключ", "null"), ("id", "-3.0")]),
            (r#"x\",\"id\":5","id":"","method":"m"}"#, &[("method", r#""m""#), ("id", r#""""#)]),
        ] {
            assert_eq!(members(tail).collect::<Vec<_>>(), expected, "{tail}");
        }
    }

    #[test]
    fn what_is_not_surely_the_objects_own_is_not_read() {
        for tail in [
            // Those of an object further in.
            r#"xx","id":7}}"#,
            r#"xx","id":7}]}"#,
            r#"{"id":7}}"#,
            // The line does not end with it.
            r#"xx","id":7"#,
            r#"xx","id":7}]"#,
            r#"xx","id":7} x"#,
            r#"xx,\"id\":7}""#,
            // A part of a longer name or value, or the only member of another object.
            r#""id":7}"#,
            r#" "id":7}"#,
            r#"x"id":7}"#,
            r#"{"id":7}"#,
            r#"id":7}"#,
            ":7}",
            "7}",
            "}",
            "",
            r#","id":}"#,
            r#","id"7}"#,
            ",id:7}",
        ] {
            assert_eq!(members(tail).collect::<Vec<_>>(), [], "{tail}");
        }
    }
}
