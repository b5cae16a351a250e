//! What can be told of a line that cannot be read as a whole: one of which only the beginning is known, and perhaps the end,
//! or that is no JSON.

use super::tail;

/// The members of the outermost object that say what a line is, as far as they stand there.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Head<'a> {
    /// The JSON of the id, if it is a string, number or literal and stands there whole.
    pub(super) id: Option<&'a str>,
    /// It has members that only requests and notifications have.
    pub(super) asks: bool,
    /// It has members that only answers have.
    pub(super) answers: bool,
    /// That object ends, and what comes behind it is something else.
    is_over: bool,
}

impl<'a> Head<'a> {
    /// Looks at the members of the object that a line begins with, not at those further in.
    pub(super) fn read(line: &'a str) -> Self {
        let mut head = Head::default();
        if line.trim_start().starts_with('{') {
            head.look_through(line);
        }
        head
    }

    /// Looks at the members of that object where the end of the line is known as well, and what is between is not.
    pub(super) fn read_with_end(line: &'a str, end: &'a str) -> Self {
        let mut head = Head::read(line);
        if !line.trim_start().starts_with('{') || head.is_over {
            return head;
        }
        for (name, value) in tail::members(end) {
            match name {
                "id" if head.id.is_none() => head.id = Some(value),
                _ => head.note(name),
            }
        }
        head
    }

    /// What a member of this name says of the line.
    fn note(&mut self, name: &str) {
        match name {
            "method" | "params" => self.asks = true,
            "result" | "error" => self.answers = true,
            _ => {}
        }
    }

    /// Gives up where something does not stand there whole.
    fn look_through(&mut self, line: &'a str) -> Option<()> {
        let bytes = line.as_bytes();
        let mut depth = 0_usize;
        let mut at = 0;
        // The string that was read last on the outermost level, as long as it may be a member's name.
        let mut key: Option<&str> = None;
        while let Some(byte) = bytes.get(at) {
            match byte {
                b'"' => {
                    let end = string_end(bytes, at)?;
                    key = (depth == 1).then(|| &line[at + 1..end]);
                    at = end;
                }
                b':' if depth == 1 => match key.take() {
                    Some("id") if self.id.is_none() => self.id = Some(value(line, at + 1)?),
                    Some(name) => self.note(name),
                    None => {}
                },
                b'{' | b'[' => depth += 1,
                b'}' | b']' => {
                    depth = depth.checked_sub(1)?;
                    self.is_over = depth == 0;
                    (depth > 0).then_some(())?;
                }
                b',' => key = None,
                _ => {}
            }
            at += 1;
        }
        None
    }
}

/// Where the string that begins at `start` ends.
fn string_end(bytes: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    loop {
        match bytes.get(at)? {
            b'\\' => at += 2,
            b'"' => return Some(at),
            _ => at += 1,
        }
    }
}

/// The string, number or literal that begins here, whole.
fn value(head: &str, start: usize) -> Option<&str> {
    let rest = &head[start..];
    let start = start + (rest.len() - rest.trim_start().len());
    if head[start..].starts_with('"') {
        return Some(&head[start..=string_end(head.as_bytes(), start)?]);
    }
    let end = start + head[start..].find([',', '}', ' ', '\t'])?;
    Some(&head[start..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_stands_on_the_outermost_level_tells_what_a_line_is() {
        for (line, id, asks, answers) in [
            (r#"{"jsonrpc":"2.0","id":7,"method":"session/prompt","params":{"prompt":[{"#, Some("7"), true, false),
            (r#"{"jsonrpc":"2.0","id": "a" ,"result":{"#, Some("\"a\""), false, true),
            (r#"{"jsonrpc":"2.0","method":"x","params":{"#, None, true, false),
            (r#"{"result":{"id":5,"method":1},"id":6,"x":NaN}"#, Some("6"), false, true),
            (r#"{"params":{"a":"\"id\":5"},"id":6"#, None, true, false),
            (r#"{"id":1,"result":{}}{"id":2,"method":"x"}"#, Some("1"), false, true),
            (r#"{"a":"result","result","id":1,"error" :2}"#, Some("1"), false, true),
            (r#"x {"id":1,"result":{}}"#, None, false, false),
            (r#"[{"id":1,"result":{}}]"#, None, false, false),
            ("{", None, false, false),
            ("", None, false, false),
        ] {
            let head = Head::read(line);
            assert_eq!((head.id, head.asks, head.answers), (id, asks, answers), "{line}");
        }
    }

    #[test]
    fn what_the_beginning_does_not_tell_the_end_may() {
        for (line, end, id, asks, answers) in [
            (r#"{"jsonrpc":"2.0","method":"x","params":{"a":"xx"#, r#"x"},"id":7}"#, Some("7"), true, false),
            (r#"{"_meta":{"a":"xx"#, r#"x"},"result":{"id":1},"id":"a"}"#, Some("\"a\""), false, true),
            (r#"{"id":1,"method":"x","params":{"a":"xx"#, r#"x"},"id":7}"#, Some("1"), true, false),
            (r#"{"method":"x","params":{"a":"xx"#, r#"x","id":7}}"#, None, true, false),
            (r#"{"method":"x"}{"a":"xx"#, r#"x","id":7}"#, None, true, false),
            (r#"[{"method":"x","params":"xx"#, r#"x","id":7}"#, None, false, false),
            ("xx", r#"x","id":7}"#, None, false, false),
        ] {
            let head = Head::read_with_end(line, end);
            assert_eq!((head.id, head.asks, head.answers), (id, asks, answers), "{line} {end}");
        }
    }
}
