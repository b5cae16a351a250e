//! What an agent tells in its user's name, and no user has said: Claude Code records so what it has to tell its model.

use crate::rpc::{Object, text};

/// That a turn was interrupted.
const INTERRUPTED: [&str; 2] = ["[Request interrupted by user]", "[Request interrupted by user for tool use]"];
/// How the summary begins that stands for what was said before, once that was compacted.
const SUMMARY: &str = "This session is being continued from a previous conversation that ran out of context";
/// What a command has printed, and what comes before that, stand between these.
const TAGS: [(&str, &str); 3] = [
    ("<local-command-stdout>", "</local-command-stdout>"),
    ("<local-command-stderr>", "</local-command-stderr>"),
    ("<local-command-caveat>", "</local-command-caveat>"),
];

/// What it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remark {
    /// A summary of what was said before.
    Summary,
    /// Something about the turn that it stands in.
    OfTurn,
}

impl Remark {
    /// What a content block (JSON) is that is told as a user's, unless a user may have said it.
    pub fn of(block: &str) -> Option<Self> {
        // Most blocks are none, and some are long.
        let may_be = ["[Request interrupted", SUMMARY, "<local-command-"].iter().any(|begins| block.contains(begins));
        if !may_be {
            return None;
        }
        let text = Object::parse_or_empty(block).get("text").and_then(text)?;
        let text = text.trim();
        let is_between = |(opening, closing): &(&str, &str)| text.starts_with(opening) && text.ends_with(closing);
        if text.starts_with(SUMMARY) {
            return Some(Self::Summary);
        }
        (INTERRUPTED.contains(&text) || TAGS.iter().any(is_between)).then_some(Self::OfTurn)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_remark_is_all_that_a_block_says() {
        for (text, remark) in [
            ("[Request interrupted by user]", Some(Remark::OfTurn)),
            ("[Request interrupted by user for tool use]\n", Some(Remark::OfTurn)),
            ("Why does it say [Request interrupted by user]?", None),
            ("[Request interrupted by user] Why?", None),
            ("<local-command-stdout></local-command-stdout>", Some(Remark::OfTurn)),
            ("<local-command-stderr>Error</local-command-stderr>", Some(Remark::OfTurn)),
            ("<local-command-stdout>What is that?", None),
            (
                "This session is being continued from a previous conversation that ran out of context. The summary below ...",
                Some(Remark::Summary),
            ),
            ("\"This session is being continued from a previous conversation that ran out of context\"?", None),
            ("Hello", None),
            ("", None),
        ] {
            let block = serde_json::json!({"type": "text", "text": text}).to_string();
            assert_eq!(Remark::of(&block), remark, "{text}");
        }
        assert_eq!(Remark::of("[Request interrupted by user]"), None, "it is no block");
    }
}
