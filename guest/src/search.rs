//! Text search: what is indexed, how it is folded and split, and how a query finds it.

pub mod text;

use crate::store::Session;

/// The part of an owner's texts that holds its title and metadata; log entries are parts by their number.
pub const HEADING: u64 = 0;

/// The searchable tokens of a session's title and metadata.
pub fn heading(session: &Session) -> String {
    let mut text = session.title.text().unwrap_or_default().to_owned();
    for (key, value) in &session.meta {
        text.push(' ');
        text.push_str(key);
        text.push(' ');
        text.push_str(value.get());
    }
    tokenise(&text)
}

/// Folds a text and splits it into tokens, separated by single spaces.
pub fn tokenise(text: &str) -> String {
    text.to_lowercase().split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}
