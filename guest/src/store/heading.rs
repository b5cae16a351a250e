//! A session's heading: its title and its metadata, searchable besides the conversation.

use super::Session;
use crate::index::tokenise;

/// The heading's text.
pub fn text(session: &Session) -> String {
    let mut text = session.title.text().unwrap_or_default().to_owned();
    for (key, value) in &session.meta {
        text.push('\n');
        text.push_str(key);
        text.push(' ');
        text.push_str(value.get());
    }
    text
}

/// Its searchable tokens.
pub fn tokens(session: &Session) -> String {
    tokenise(&text(session))
}
