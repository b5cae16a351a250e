//! Text for people. Programs that cut it at a length often cut a character through: of its surrogate pair one half is left.

/// Reads a JSON string whose lone halves of surrogate pairs count as U+FFFD; `None` for any other JSON. Only for what
/// people read: of two ids that differ in such a half one would be the other.
pub fn text(json: &str) -> Option<String> {
    serde_json::from_str(json).or_else(|_| serde_json::from_str(&mended(json))).ok()
}

/// The JSON of a string, with another escape in the place of each half that is alone.
fn mended(json: &str) -> String {
    let mut mended = String::with_capacity(json.len());
    let mut rest = json;
    while let Some((before, escape)) = rest.find('\\').map(|at| rest.split_at(at)) {
        mended.push_str(before);
        let size = match (unit(escape), escape.get(6..).and_then(unit)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                mended.push_str("\\ufffd");
                rest = escape.get(6..).unwrap_or_default();
                continue;
            }
            // What is escaped may be a backslash, which begins nothing.
            _ => escape.char_indices().nth(2).map_or(escape.len(), |(at, _)| at),
        };
        let (whole, behind) = escape.split_at(size);
        mended.push_str(whole);
        rest = behind;
    }
    mended.push_str(rest);
    mended
}

/// The code unit that is escaped at the beginning of this.
fn unit(json: &str) -> Option<u16> {
    u16::from_str_radix(json.strip_prefix("\\u")?.get(..4)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_is_one_that_is_unknown() {
        for (json, expected) in [
            (r#""""#, ""),
            (r#""quota gone \ud83d""#, "quota gone \u{fffd}"),
            (r#""\uDE00 \"é\" \n\u00e9""#, "\u{fffd} \"é\" \né"),
            (r#""\ud83d\ude00\ud83d""#, "😀\u{fffd}"),
            (r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\ude00\ud83d\ude00""#, "\u{fffd}😀"),
            (r#""\ud83d\u0041\ud83d\n\ud83déé""#, "\u{fffd}A\u{fffd}\n\u{fffd}éé"),
            (r#""\\ud83d\ud83d\\""#, "\\ud83d\u{fffd}\\"),
        ] {
            assert_eq!(text(json).as_deref(), Some(expected), "{json}");
        }
    }

    #[test]
    fn all_else_is_read_as_ever() {
        for json in [
            "",
            "5",
            "null",
            r#"["\ud83d"]"#,
            r#""\ud83d"#,
            r#""\ud83d\"#,
            r#""\ud83d\"é"#,
            r#""\ud83d" "x""#,
            r#""\ud83d\x""#,
            r#""\ud83d\u12""#,
            r#""\ud83""#,
            r#""\ud83é""#,
            r#""\u+83d\ud83d""#,
            "\"\\ud83d\n\"",
            r"\ud83d",
        ] {
            assert_eq!(text(json), None, "{json}");
        }
    }
}
