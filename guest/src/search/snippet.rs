//! A piece of the text around a match.

use crate::index::tokens::{compose, tokens};
use crate::storage::TextTerm;

/// How much is shown on each side of a match, in characters.
const AROUND: usize = 60;

/// The first place where the text holds the term, with some text around it, on one line; `None` if it does not.
pub fn snippet(text: &str, term: &TextTerm) -> Option<String> {
    let text = compose(text);
    let found = tokens(&text);
    let at = found.windows(term.tokens.len().max(1)).find(|window| {
        window.iter().zip(&term.tokens).enumerate().all(|(at, (have, want))| {
            if term.prefix && at + 1 == term.tokens.len() {
                have.text.starts_with(want.as_str())
            } else {
                have.text == *want
            }
        })
    })?;
    let (start, end) = (at.first()?.start, at.last()?.end);
    let before = text[..start].char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
    let after = text[end..].char_indices().nth(AROUND).map_or(text.len(), |(at, _)| end + at);
    let piece: Vec<&str> = text[before..after].split_whitespace().collect();
    let lead = if before > 0 { "…" } else { "" };
    let tail = if after < text.len() { "…" } else { "" };
    Some(format!("{lead}{}{tail}", piece.join(" ")))
}
