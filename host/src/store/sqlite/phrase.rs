//! A term in FTS5's own language, and without it.

use memchr::memmem::Finder;
use rusqlite::{Connection, OptionalExtension as _};

use super::error::Result;
use crate::component::storage::TextTerm;

/// Prefixes up to so many characters have an index of their own.
const INDEXED_PREFIX: usize = 3;

/// A longer prefix is taken for the tokens that begin with it, up to this many. FTS5 would join all that is known of
/// them before it gives the first hit; one by one they give hits at once.
const MOST_TOKENS: usize = 64;

/// Whether the term ends in a prefix that has no index.
pub(super) fn is_longer_prefix(term: &TextTerm) -> bool {
    term.prefix && term.tokens.last().is_some_and(|token| token.chars().count() > INDEXED_PREFIX)
}

/// What to ask FTS5 for; none if nothing can hold the term.
pub(super) fn query(connection: &Connection, term: &TextTerm) -> Result<Option<String>> {
    let Some((last, before)) = term.tokens.split_last().filter(|_| is_longer_prefix(term)) else {
        return Ok(Some(literal(term)));
    };
    let Some(tokens) = tokens_with_prefix(connection, last)? else { return Ok(Some(literal(term))) };
    let phrases: Vec<String> = tokens
        .into_iter()
        .map(|token| literal(&TextTerm { tokens: [before, &[token]].concat(), prefix: false }))
        .collect();
    Ok((!phrases.is_empty()).then(|| phrases.join(" OR ")))
}

/// The term as it stands: always one quoted phrase, so that nothing in a token is taken for syntax.
pub(super) fn literal(term: &TextTerm) -> String {
    let phrase = term.tokens.join(" ").replace('"', "\"\"");
    let prefix = if term.prefix { " *" } else { "" };
    format!("\"{phrase}\"{prefix}")
}

/// The tokens that begin so, each once; none if there are too many.
fn tokens_with_prefix(connection: &Connection, prefix: &str) -> Result<Option<Vec<String>>> {
    // The vocabulary has a row for every time that a token is used. Asking for one row after another token steps over
    // them.
    let mut statement =
        connection.prepare_cached("SELECT term FROM vocabulary WHERE term >= ?1 AND term < ?2 LIMIT 1")?;
    let end = format!("{prefix}{}", char::MAX);
    let mut from = prefix.to_owned();
    let mut tokens = Vec::new();
    while let Some(token) = statement.query_row([&from, &end], |row| row.get::<_, String>(0)).optional()? {
        if tokens.len() == MOST_TOKENS {
            return Ok(None);
        }
        // Below every other token that begins with this one: tokens hold no control characters.
        from = format!("{token}\u{1}");
        tokens.push(token);
    }
    Ok(Some(tokens))
}

/// A term to be looked for in tokens that are separated by single spaces.
pub(super) struct Phrase {
    finder: Finder<'static>,
    length: usize,
    prefix: bool,
}

impl Phrase {
    pub(super) fn new(term: &TextTerm) -> Self {
        let phrase = term.tokens.join(" ");
        Self { finder: Finder::new(&phrase).into_owned(), length: phrase.len(), prefix: term.prefix }
    }

    pub(super) fn is_in(&self, tokens: &[u8]) -> bool {
        self.finder.find_iter(tokens).any(|at| {
            let begins = at == 0 || tokens[at - 1] == b' ';
            let ends = self.prefix || tokens.get(at + self.length).is_none_or(|byte| *byte == b' ');
            begins && ends
        })
    }
}
