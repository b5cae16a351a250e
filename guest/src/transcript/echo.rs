//! Telling an agent's echo of the prompt from something new.
//!
//! Most agents do not repeat what the user said; one that does would have it recorded twice.

use serde_json::value::RawValue;

use super::own_words::Stream;
use crate::rpc::{Object, is_same};

/// What of the current turn's prompt has not been echoed yet.
#[derive(Debug, Clone, Default)]
pub struct Echo {
    /// The text of all blocks without white space: agents join blocks with some, or leave some out.
    text: String,
    /// How much of the text was echoed.
    heard: usize,
    /// The blocks that are no text, as they were sent.
    others: Vec<Box<RawValue>>,
    /// An account of an earlier conversation may stand in front of the prompt, or in its midst.
    own_words: Stream,
}

impl Echo {
    /// Expects an echo of this prompt (the JSON of `prompt`).
    pub fn of_prompt(prompt: &str) -> Self {
        let blocks: Vec<&RawValue> = serde_json::from_str(prompt).unwrap_or_default();
        let mut echo = Self::default();
        for block in blocks {
            match text_of(block.get()) {
                Some(text) => echo.text.push_str(&dense(&text)),
                None => echo.others.push(block.to_owned()),
            }
        }
        echo
    }

    /// Whether this `content` repeats a part of the prompt that was not repeated before, or is an account that stood
    /// before the prompt, or both. Agents may split text anywhere.
    pub fn repeats(&mut self, content: &str) -> bool {
        if let Some(text) = text_of(content) {
            return self.repeats_text(&text);
        }
        match self.others.iter().position(|block| is_same(block.get(), content)) {
            Some(at) => {
                self.others.remove(at);
                true
            }
            None => false,
        }
    }

    fn repeats_text(&mut self, text: &str) -> bool {
        let was_inside = self.own_words.is_inside();
        let shown = dense(&self.own_words.feed(text));
        let rest = &self.text[self.heard..];
        if shown.is_empty() {
            let is_blank = text.trim().is_empty();
            return match dense(self.own_words.undecided()) {
                // White space between two pieces of an echo belongs to it.
                held if held.is_empty() && is_blank && !was_inside => {
                    !text.is_empty() && self.heard > 0 && !rest.is_empty()
                }
                held if held.is_empty() => !text.is_empty(),
                // It counts when it is known what follows.
                held => rest.starts_with(&held),
            };
        }
        let repeats = rest.starts_with(&shown);
        if repeats {
            self.heard += shown.len();
        }
        repeats
    }
}

fn text_of(block: &str) -> Option<String> {
    let block = Object::parse(block)?;
    (block.get_string("type").as_deref() == Some("text")).then(|| block.get_string("text")).flatten()
}

/// Without white space.
pub(super) fn dense(text: &str) -> String {
    text.chars().filter(|c| !c.is_whitespace()).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::own_words::{CLOSING, CONTEXT, OPENING, Shown};
    use super::*;

    #[test]
    fn an_echo_in_pieces_is_recognised_once() {
        let mut echo = Echo::of_prompt(r#"[{"type":"text","text":"fix the bug"},{"type":"image","data":"x"}]"#);
        assert!(echo.repeats(r#"{"type":"text","text":"fix "}"#));
        assert!(!echo.repeats(r#"{"type":"text","text":"fix "}"#));
        assert!(echo.repeats(r#"{"text":"the bug","type":"text"}"#));
        assert!(echo.repeats(r#"{"type":"image","data":"x"}"#));
        assert!(!echo.repeats(r#"{"type":"image","data":"x"}"#));
        assert!(!echo.repeats(r#"{"type":"text","text":"something new"}"#));
        assert!(!echo.repeats(r#"{"type":"text","text":" "}"#));
    }

    #[test]
    fn blocks_may_come_joined_and_with_an_account_in_front() {
        let prompt = json!([{"type": "text", "text": "fix the bug"}, {"type": "text", "text": "in a.rs\n[now]"}]);
        let account = format!("{OPENING}{CONTEXT}\n\nUser: hi\n\n{CLOSING}");
        for whole in [
            "fix the bug\n\nin a.rs\n[now]".to_owned(),
            "fix the bug in a.rs\n[now]\n".to_owned(),
            "fix the bugin a.rs\n[now]".to_owned(),
            format!("{account}\n\nfix the bug\n\nin a.rs\n[now]"),
            format!("{account}fix the bug\n\nin a.rs\n[now]"),
        ] {
            for (step, is_filtered) in [(1, true), (7, true), (1000, true), (40, false), (1000, false)] {
                let mut echo = Echo::of_prompt(&prompt.to_string());
                let mut filter = Stream::default();
                for piece in whole.as_bytes().chunks(step) {
                    let block = json!({"type": "text", "text": str::from_utf8(piece).unwrap()}).to_string();
                    let block = match filter.feed_content(&block) {
                        Shown::Changed(shown) if is_filtered => shown,
                        Shown::Nothing if is_filtered => continue,
                        _ => block,
                    };
                    let is_end = echo.heard == echo.text.len();
                    assert!(echo.repeats(&block) || is_end, "{block} of {whole}");
                }
                assert_eq!(echo.heard, echo.text.len(), "{whole}");
                assert!(!echo.repeats(r#"{"type":"text","text":"fix"}"#));
            }
        }
    }

    #[test]
    fn an_account_by_itself_is_an_echo_too() {
        let account = format!("{OPENING}{CONTEXT}\n\nUser: hi\n\n{CLOSING}");
        for step in [20, 40, 1000] {
            let mut echo = Echo::of_prompt(r#"[{"type":"text","text":"fix the bug"}]"#);
            for piece in account.as_bytes().chunks(step) {
                let block = json!({"type": "text", "text": str::from_utf8(piece).unwrap()}).to_string();
                assert!(echo.repeats(&block), "{block}");
            }
            assert!(!echo.repeats(r#"{"type":"text","text":" "}"#));
            assert!(echo.repeats(r#"{"type":"text","text":"fix the bug"}"#));
        }
    }

    #[test]
    fn a_bracket_that_begins_something_new_is_not_taken_for_an_echo() {
        let mut echo = Echo::of_prompt(r#"[{"type":"text","text":"fix the bug"}]"#);
        assert!(!echo.repeats(r#"{"type":"text","text":"["}"#));
        assert!(!echo.repeats(r#"{"type":"text","text":"link](x)"}"#));
    }
}
