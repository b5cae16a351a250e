//! What is indexed for text search: whose texts they are, and how they are folded and split.

pub mod tokens;

/// Whose texts in the storage: the entries of a log are parts of one owner, by their numbers; a session's title and
/// metadata are the single part of another, so that forks share the one and not the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Owner<'a> {
    /// The log of this name.
    Log(&'a str),
    /// The title and metadata of this session.
    Heading(&'a str),
}

impl<'a> Owner<'a> {
    /// Its name in the storage.
    pub fn name(self) -> String {
        match self {
            Self::Log(log) => format!("l/{log}"),
            Self::Heading(session) => format!("h/{session}"),
        }
    }

    /// The owner of this name.
    pub fn of_name(name: &'a str) -> Option<Self> {
        match name.split_once('/')? {
            ("l", log) => Some(Self::Log(log)),
            ("h", session) => Some(Self::Heading(session)),
            _ => None,
        }
    }

    /// The session or log itself.
    pub fn id(self) -> &'a str {
        match self {
            Self::Log(id) | Self::Heading(id) => id,
        }
    }
}

/// How much of one text is indexed, in bytes: a message is found by its first million words.
const LONGEST: usize = 4 << 20;

/// Folds a text and splits it into tokens, separated by single spaces, as the storage indexes it; of a very long one the
/// beginning.
pub fn tokenise(text: &str) -> String {
    let text = &text[..text.floor_char_boundary(LONGEST)];
    let mut joined = String::with_capacity(text.len());
    tokens::each(text, |token, _, _| {
        if !joined.is_empty() {
            joined.push(' ');
        }
        joined.push_str(token);
    });
    joined
}
