//! Finding a member of an object of which only the beginning is known.

/// The JSON of a string, number or literal that is a member of the outermost object, if it stands there whole.
pub(super) fn member<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    let bytes = head.as_bytes();
    let mut depth = 0_usize;
    let mut at = 0;
    // The string that was read last on the outermost level, as long as it may be a member's name.
    let mut key: Option<&str> = None;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => {
                let end = string_end(bytes, at)?;
                key = (depth == 1).then(|| &head[at + 1..end]);
                at = end;
            }
            b':' if depth == 1 && key == Some(name) => return value(head, at + 1),
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b',' => key = None,
            _ => {}
        }
        at += 1;
    }
    None
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
