//! The tokens of a text that grows: what can no longer change is tokenised once.

use serde::{Deserialize, Serialize};

use crate::index;

/// How much of a text is tokenised for good, and its tokens.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct Indexed {
    settled: usize,
    tokens: String,
}

impl Indexed {
    /// The tokens of a text (as JSON, escaped, without its quotes), of which all but the end was given before.
    pub(super) fn tokens(&mut self, text: &str, mut tokenise: impl FnMut(&str) -> String) -> String {
        let rest = &text[self.settled..];
        // A backslash begins an escape; no other character that separates words is the beginning or middle of one.
        let mut from_the_end = rest.char_indices().rev();
        let separator = from_the_end.find(|(_, c)| *c != '\\' && index::tokens::separates(*c));
        let (settled, open) = rest.split_at(separator.map_or(0, |(at, c)| at + c.len_utf8()));
        append(&mut self.tokens, &tokenise(&unescape(settled)));
        self.settled += settled.len();
        let mut tokens = self.tokens.clone();
        append(&mut tokens, &tokenise(&unescape(open)));
        tokens
    }
}

/// The text itself; empty where it is none, as with one half of a surrogate pair.
fn unescape(text: &str) -> String {
    serde_json::from_str(&format!("\"{text}\"")).unwrap_or_default()
}

fn append(tokens: &mut String, more: &str) {
    if !tokens.is_empty() && !more.is_empty() {
        tokens.push(' ');
    }
    tokens.push_str(more);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_growing_text_has_the_tokens_of_the_whole_and_is_read_about_once() {
        for words in [
            "Fix the \"Bug\", snake_case\nand\\or Café!",
            "東京都に行く。大阪も。",
            "C:\\new\\dir /a/b\tc",
            // In pieces: 한국어, バグ.
            "\u{1112}\u{1161}\u{11ab}\u{1100}\u{116e}\u{11a8}\u{110b}\u{1165} \u{30cf}\u{3099}\u{30af}\u{3099}, ",
        ] {
            let whole = words.repeat(300);
            let mut indexed = Indexed::default();
            let (mut text, mut read, mut found) = (String::new(), 0, String::new());
            for c in whole.chars() {
                let escaped = serde_json::json!(c.to_string()).to_string();
                text.push_str(&escaped[1..escaped.len() - 1]);
                found = indexed.tokens(&text, |text| {
                    read += text.len();
                    index::tokenise(text)
                });
            }
            assert_eq!(found, index::tokenise(&whole), "{words}");
            // One character at a time is the worst case: each word is read again for each of its characters.
            assert!(read < whole.len() * 12, "{read} bytes read for {}", whole.len());
        }
    }

    #[test]
    fn batches_of_text_are_read_hardly_more_than_once() {
        let whole = "Some words of an answer, as they come. ".repeat(400);
        let mut indexed = Indexed::default();
        let mut read = 0;
        for end in (40..=whole.len()).step_by(40) {
            indexed.tokens(&whole[..end], |text| {
                read += text.len();
                String::new()
            });
        }
        assert!(read < whole.len() * 3 / 2, "{read} bytes read for {}", whole.len());
    }
}
