//! A session as the model keeps it.

use std::collections::BTreeSet;

use crate::question::Term;
use crate::vocabulary::{DIRECTORIES, WORDS};

/// Words of the vocabulary as written: which word, and which way of writing it.
pub type Text = Vec<(usize, usize)>;

/// All that a list goes by. Times are milliseconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Its id.
    pub id: String,
    /// Which of [`DIRECTORIES`], and in which spelling.
    pub directory: (usize, usize),
    /// When it was created.
    pub created: i64,
    /// Its last activity, never before it was created.
    pub updated: i64,
    /// When it was last prompted, if that is known.
    pub prompted: Option<i64>,
    /// Whether its last activity only orders it.
    pub undated: bool,
    /// The words of its title, which follow [`Self::ornament`].
    pub title: Text,
    /// Something before the title that no search looks for, in any script.
    pub ornament: String,
    /// A word in its metadata.
    pub label: Option<usize>,
    /// What was said in it, one message each.
    pub said: Vec<Text>,
    /// Which of the [`AGENTS`](crate::AGENTS) know it.
    pub agents: BTreeSet<usize>,
    /// Whether it is put away.
    pub archived: bool,
    /// Whether another session started it.
    pub subagent: bool,
}

impl Session {
    /// The directory as the client spelt it.
    pub fn cwd(&self) -> &'static str {
        let (directory, spelling) = self.directory;
        DIRECTORIES[directory][spelling]
    }

    /// What it stands by in a list: a session without a date as if it were of 1970.
    pub fn place(&self) -> i64 {
        let is_dateless = self.undated && self.prompted.is_none();
        if is_dateless { self.updated / 1000 } else { self.recency() }
    }

    /// When it was last prompted or, where that is not known, active.
    pub fn recency(&self) -> i64 {
        self.prompted.map_or(self.updated, |prompted| prompted.clamp(self.created, self.updated))
    }

    /// The title in full.
    pub fn title_text(&self) -> Option<String> {
        let text = format!("{} {}", self.ornament, write(&self.title)).trim().to_owned();
        (!text.is_empty()).then_some(text)
    }

    /// Where it holds the term, if it does: `title`, `metadata` or `conversation`.
    pub fn place_of(&self, term: &Term) -> Option<&'static str> {
        let label: Text = self.label.map(|word| (word, 0)).into_iter().collect();
        if term.is_in(&self.title) {
            Some("title")
        } else if term.is_in(&label) {
            Some("metadata")
        } else {
            self.said.iter().any(|text| term.is_in(text)).then_some("conversation")
        }
    }
}

/// The words as a text.
pub fn write(text: &Text) -> String {
    let words: Vec<&str> = text.iter().map(|&(word, way)| WORDS[word].written[way]).collect();
    words.join(" ")
}
