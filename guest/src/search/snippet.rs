//! A piece of the text around a match.

use std::ops::Range;

use crate::index::tokens::{self, compose};
use crate::storage::TextTerm;

/// How much is shown on each side of a match, in characters.
const AROUND: usize = 60;

/// The first place where the text holds the term, with some text around it, on one line; `None` if it does not.
pub fn snippet(text: &str, term: &TextTerm) -> Option<String> {
    let text = compose(text);
    let Range { start, end } = first(&text, term)?;
    let before = text[..start].char_indices().rev().nth(AROUND - 1).map_or(0, |(at, _)| at);
    let after = text[end..].char_indices().nth(AROUND).map_or(text.len(), |(at, _)| end + at);
    let piece: Vec<&str> = text[before..after].split_whitespace().collect();
    let lead = if before > 0 { "…" } else { "" };
    let tail = if after < text.len() { "…" } else { "" };
    Some(format!("{lead}{}{tail}", piece.join(" ")))
}

/// Where in a composed text the term is first.
fn first(text: &str, term: &TextTerm) -> Option<Range<usize>> {
    /// A place where the term may be: its first byte, and how many of the term's tokens are there.
    struct Candidate {
        start: usize,
        tokens: usize,
    }

    let last = term.tokens.len().checked_sub(1)?;
    let mut begun: Vec<Candidate> = Vec::new();
    let mut found = None;
    tokens::each(text, |token, at, _| {
        if found.is_some() {
            return;
        }
        begun.push(Candidate { start: at.start, tokens: 0 });
        begun.retain_mut(|of| {
            let want = term.tokens[of.tokens].as_str();
            let is_held = if term.prefix && of.tokens == last { token.starts_with(want) } else { token == want };
            if is_held && of.tokens == last && found.is_none() {
                found = Some(of.start..at.end);
            }
            of.tokens += 1;
            is_held && of.tokens <= last
        });
    });
    found
}
