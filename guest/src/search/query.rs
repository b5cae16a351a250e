//! Reading a query: words, all of which must match, and quoted phrases.

use crate::index::tokens::{Token, tokens};
use crate::storage::TextTerm;

/// The longest query, in characters.
pub const LONGEST: usize = 1000;
/// The most terms in a query.
pub const MOST_TERMS: usize = 32;

/// What is looked for: all of the terms.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query {
    /// Each must be found, every one for itself in one text.
    pub terms: Vec<TextTerm>,
}

/// Why a query cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    /// Over [`LONGEST`].
    #[error("must not be longer than {LONGEST} characters")]
    TooLong,
    /// Over [`MOST_TERMS`].
    #[error("must not have more than {MOST_TERMS} words")]
    TooManyTerms,
}

impl Query {
    /// Reads a query; `None` for an empty one, which finds everything. One without any letter or digit finds
    /// nothing.
    pub fn parse(text: &str) -> Result<Option<Self>, QueryError> {
        if text.trim().is_empty() {
            return Ok(None);
        }
        if text.chars().count() > LONGEST {
            return Err(QueryError::TooLong);
        }
        let mut terms: Vec<TextTerm> = Vec::new();
        // Every second part stands between quotes. A quote that is never closed reaches to the end, and who is still writing it may be in
        // the midst of its last word.
        let mut parts = text.split('"').enumerate().peekable();
        while let Some((at, part)) = parts.next() {
            if at % 2 == 1 {
                let is_open = parts.peek().is_none() && !part.ends_with(char::is_whitespace);
                terms.extend(term(part, is_open));
            } else {
                terms.extend(part.split_whitespace().filter_map(|word| term(word, true)));
            }
        }
        terms.dedup();
        if terms.len() > MOST_TERMS {
            return Err(QueryError::TooManyTerms);
        }
        Ok(Some(Self { terms }))
    }
}

/// The tokens of a word or phrase, as they stand in the index.
fn term(text: &str, prefix: bool) -> Option<TextTerm> {
    let found = tokens(text);
    // A run's last character alone is indexed for runs that end there. A run that ends the query need not end in the
    // text, and its pairs say it all.
    let is_tail = |at: usize, token: &Token| {
        let follows = at > 0 && found[at - 1].unspaced && found[at - 1].end == token.end;
        at + 1 == found.len() && token.unspaced && follows
    };
    let kept: Vec<&Token> =
        found.iter().enumerate().filter(|(at, token)| !is_tail(*at, token)).map(|(_, token)| token).collect();
    let last_is_single = kept.last().is_some_and(|last| last.unspaced && last.text.chars().count() == 1);
    let tokens: Vec<String> = kept.into_iter().map(|token| token.text.clone()).collect();
    (!tokens.is_empty()).then_some(TextTerm { tokens, prefix: prefix || last_is_single })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_phrases_and_scripts_without_spaces() {
        let terms = |text: &str| -> Vec<String> {
            let query = Query::parse(text).unwrap();
            let show = |term: &TextTerm| format!("{}{}", term.tokens.join("+"), if term.prefix { "*" } else { "" });
            query.map(|query| query.terms.iter().map(show).collect()).unwrap_or_default()
        };
        for (text, expected) in [
            ("auth bug", vec!["auth*", "bug*"]),
            ("\"login page\" Café", vec!["login+page", "cafe*"]),
            ("foo-bar", vec!["foo+bar*"]),
            ("東京都", vec!["東京+京都*"]),
            ("言語v2", vec!["言語+語+v2*"]),
            ("\"東京 bug\"", vec!["東京+京+bug"]),
            ("都", vec!["都*"]),
            ("\"都\"", vec!["都*"]),
            ("\"open", vec!["open*"]),
            ("\"login pa", vec!["login+pa*"]),
            ("\"login page ", vec!["login+page"]),
            ("\"login page\" \"au", vec!["login+page", "au*"]),
            ("\"login page\"", vec!["login+page"]),
            ("bug \"", vec!["bug*"]),
            ("   ", vec![]),
            ("!!", vec![]),
        ] {
            assert_eq!(terms(text), expected, "{text}");
        }
        assert_eq!(Query::parse(&"x".repeat(1001)), Err(QueryError::TooLong));
        assert_eq!(Query::parse(&"x ".repeat(40)).map(|query| query.map(|query| query.terms.len())), Ok(Some(1)));
    }
}
