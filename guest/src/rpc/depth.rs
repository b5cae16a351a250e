//! How deep a line nests.

/// The deepest nesting taken from a client. Agents' parsers give up somewhere above it, and then cannot even say which
/// request they mean.
pub const DEEPEST: usize = 100;

/// Whether JSON nests deeper than [`DEEPEST`].
pub fn is_too_deep(json: &str) -> bool {
    let opens = |byte: &u8| matches!(byte, b'[' | b'{');
    // Almost no line has this many brackets at all.
    if json.as_bytes().iter().filter(|byte| opens(byte)).nth(DEEPEST).is_none() {
        return false;
    }
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for byte in json.bytes() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            _ if in_string => {}
            b'[' | b'{' => {
                depth += 1;
                if depth > DEEPEST {
                    return true;
                }
            }
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depth_counts_outside_of_strings_only() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(!is_too_deep(&nested(DEEPEST)));
        assert!(is_too_deep(&nested(DEEPEST + 1)));
        assert!(!is_too_deep(&format!("[{}]", vec!["[]"; 500].join(","))));
        assert!(!is_too_deep(&format!("[\"\\\"{}\"]", "[".repeat(500))));
    }
}
