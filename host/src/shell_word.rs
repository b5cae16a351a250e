//! Words of command lines that people are told to use: whoever pastes one into a shell means what it says.

use std::fmt::Write as _;

/// As a shell takes it for one word.
pub(crate) fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '/' | '.' | '_' | '-' | '+' | ',' | '@' | '%');
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    if !word.chars().any(is_unseen) {
        return format!("'{}'", word.replace('\'', "'\\''"));
    }
    // What cannot be printed is written as bash, zsh and ksh read it.
    let mut quoted = "$'".to_owned();
    for character in word.chars() {
        let _ = match character {
            '\'' | '\\' => write!(quoted, "\\{character}"),
            '\n' => write!(quoted, "\\n"),
            '\t' => write!(quoted, "\\t"),
            unseen if is_unseen(unseen) => write!(quoted, "\\U{:08x}", u32::from(unseen)),
            seen => write!(quoted, "{seen}"),
        };
    }
    quoted + "'"
}

/// Whether it is not to be seen, or changes how others are seen. The joiners of letters and emoji are left.
pub(crate) fn is_unseen(character: char) -> bool {
    character.is_control()
        || matches!(character,
            // Marks of direction.
            '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Ends of lines and paragraphs.
            | '\u{2028}' | '\u{2029}'
            // Nothing, or blank.
            | '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{200b}'
            | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
            | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_shell_would_take_apart_is_quoted() {
        for (word, expected) in [
            ("/home/x", "/home/x"),
            ("/проекты/東京", "/проекты/東京"),
            ("/a b", "'/a b'"),
            ("/it's", "'/it'\\''s'"),
            ("/$HOME;x", "'/$HOME;x'"),
            ("", "''"),
            ("/a\nb's", "$'/a\\nb\\'s'"),
            ("/a\u{202e}b\\", "$'/a\\U0000202eb\\\\'"),
        ] {
            assert_eq!(quoted(word), expected);
        }
    }
}
