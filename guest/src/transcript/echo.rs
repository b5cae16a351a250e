//! Telling an agent's echo of the prompt from something new.
//!
//! Most agents do not repeat what the user said; one that does would have it recorded twice.

use serde_json::Value;

/// What of the current turn's prompt has not been echoed yet.
#[derive(Debug, Default)]
pub struct Echo {
    text: String,
    others: Vec<Value>,
}

impl Echo {
    /// Expects an echo of this prompt (the JSON of `prompt`).
    pub fn of_prompt(prompt: &str) -> Self {
        let blocks: Vec<Value> = serde_json::from_str(prompt).unwrap_or_default();
        let mut echo = Self::default();
        for block in blocks {
            match text_of(&block) {
                Some(text) => echo.text.push_str(text),
                None => echo.others.push(block),
            }
        }
        echo
    }

    /// Whether this `content` repeats a part of the prompt that was not repeated before. Agents may split text
    /// anywhere, and leave white space out between blocks.
    pub fn repeats(&mut self, content: &str) -> bool {
        let Ok(content) = serde_json::from_str::<Value>(content) else { return false };
        if let Some(text) = text_of(&content) {
            let loose = Some(text.trim()).filter(|text| !text.is_empty());
            let rest = self.text.strip_prefix(text).or_else(|| self.text.trim_start().strip_prefix(loose?));
            let Some(rest) = rest.filter(|_| !text.is_empty()).map(str::to_owned) else { return false };
            self.text = rest;
            return true;
        }
        match self.others.iter().position(|block| *block == content) {
            Some(at) => {
                self.others.remove(at);
                true
            }
            None => false,
        }
    }
}

fn text_of(block: &Value) -> Option<&str> {
    (block["type"] == "text").then(|| block["text"].as_str()).flatten()
}

#[cfg(test)]
mod tests {
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
}
