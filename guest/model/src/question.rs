//! What a list is asked for.

use chrono::{DateTime, FixedOffset, SecondsFormat};
use serde_json::{Map, Value, json};

use crate::session::{Session, Text};
use crate::vocabulary::{DIRECTORIES, WORDS, are_worktrees};

/// Which of the archived sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Archived {
    /// Not asked for, which is none of them.
    Unsaid,
    /// None of them.
    Exclude,
    /// They and the others.
    Include,
    /// No others.
    Only,
}

/// Whose sessions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Agents {
    /// Those of the first of the [`AGENTS`](crate::AGENTS).
    Own,
    /// All.
    All,
}

/// A bound in time, and the offset from UTC that it is written with, in minutes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bound {
    /// Milliseconds since 1970.
    pub at: i64,
    /// East of Greenwich.
    pub offset: i32,
}

impl Bound {
    fn text(self) -> String {
        let offset = FixedOffset::east_opt(self.offset * 60).expect("an offset of less than a day");
        let time = DateTime::from_timestamp_millis(self.at).expect("a time that can be written");
        time.with_timezone(&offset).to_rfc3339_opts(SecondsFormat::AutoSi, self.offset == 0)
    }
}

/// One thing to search for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Term {
    /// A word or the beginning of one: which, the way it is written, and how many characters of it.
    Word(usize, usize, usize),
    /// Words in a row, each in full.
    Phrase(Text),
}

impl Term {
    /// As it is typed.
    pub fn text(&self) -> String {
        match self {
            Self::Word(word, way, kept) => WORDS[*word].written[*way].chars().take(*kept).collect(),
            Self::Phrase(words) => format!("\"{}\"", crate::session::write(words)),
        }
    }

    /// Whether the text holds it.
    pub fn is_in(&self, text: &Text) -> bool {
        match self {
            Self::Word(word, _, kept) => {
                let wanted: String = WORDS[*word].folded.chars().take(*kept).collect();
                text.iter().any(|(have, _)| {
                    let have = &WORDS[*have];
                    if have.unspaced { have.folded.contains(&wanted) } else { have.folded.starts_with(&wanted) }
                })
            }
            Self::Phrase(words) => text.windows(words.len()).any(|window| {
                window.iter().zip(words).enumerate().all(|(at, ((have, _), (want, _)))| {
                    let (have, want) = (&WORDS[*have], &WORDS[*want]);
                    // Where there are no spaces, a phrase may begin and end anywhere.
                    have.unspaced == want.unspaced
                        && match (have.unspaced, at == 0, at + 1 == words.len()) {
                            (true, true, true) => have.folded.contains(want.folded),
                            (true, true, false) => have.folded.ends_with(want.folded),
                            (true, false, true) => have.folded.starts_with(want.folded),
                            _ => have.folded == want.folded,
                        }
                })
            }),
        }
    }
}

/// A request without its cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// Which of the [`DIRECTORIES`], and in which spelling.
    pub directory: Option<(usize, usize)>,
    /// Whether the corresponding ones in other worktrees are meant too, where that is said.
    pub worktrees: Option<bool>,
    /// Created later than this.
    pub created_after: Option<Bound>,
    /// Created earlier than this.
    pub created_before: Option<Bound>,
    /// Updated later than this.
    pub updated_after: Option<Bound>,
    /// All of these must be found. Empty: not searched.
    pub search: Vec<Term>,
    /// Archived or not.
    pub archived: Archived,
    /// With the sessions that others started.
    pub subagents: bool,
    /// Whose sessions, where that is asked for.
    pub agents: Option<Agents>,
    /// Whose they are where it is not.
    pub agents_by_default: Agents,
    /// The most rows in a page.
    pub limit: Option<usize>,
    /// Whether the draft's fields stand under `_meta` and not at the root.
    pub in_meta: bool,
    /// Whether the conversations can be searched at all.
    pub conversations: bool,
}

impl Question {
    /// Everything that is neither archived nor a sub-agent's nor only others'.
    pub fn plain() -> Self {
        Self {
            directory: None,
            worktrees: None,
            created_after: None,
            created_before: None,
            updated_after: None,
            search: Vec::new(),
            archived: Archived::Unsaid,
            subagents: false,
            agents: None,
            agents_by_default: Agents::Own,
            limit: None,
            in_meta: false,
            conversations: true,
        }
    }

    /// Whether the list shows the session.
    pub fn admits(&self, session: &Session) -> bool {
        let shown = match self.archived {
            Archived::Unsaid | Archived::Exclude => !session.archived,
            Archived::Include => true,
            Archived::Only => session.archived,
        };
        shown
            && (self.subagents || !session.subagent)
            && self.directory.is_none_or(|(directory, _)| self.means(directory, session.directory.0))
            && self.created_after.is_none_or(|bound| session.created > bound.at)
            && self.created_before.is_none_or(|bound| session.created < bound.at)
            && self.updated_after.is_none_or(|bound| session.updated > bound.at && !session.undated)
            && (self.agents() == Agents::All || session.agents.contains(&0))
            && self.search.iter().all(|term| self.place_of(term, session).is_some())
    }

    fn means(&self, directory: usize, other: usize) -> bool {
        directory == other || (self.worktrees == Some(true) && are_worktrees(directory, other))
    }

    /// Where the session holds the term, as far as that can be searched.
    pub fn place_of(&self, term: &Term, session: &Session) -> Option<&'static str> {
        session.place_of(term).filter(|place| self.conversations || *place != "conversation")
    }

    /// Whose sessions, said or not.
    pub fn agents(&self) -> Agents {
        self.agents.unwrap_or(self.agents_by_default)
    }

    fn uses_the_draft(&self) -> bool {
        let bounds = [self.created_after, self.created_before, self.updated_after];
        bounds.iter().any(Option::is_some) || !self.search.is_empty() || self.limit.is_some()
    }

    /// Whether rows show `createdAt` at their root.
    pub fn is_draft(&self) -> bool {
        self.uses_the_draft() && !self.in_meta
    }

    /// The most rows in a page, said or not.
    pub fn page_size(&self) -> usize {
        self.limit.unwrap_or(if self.uses_the_draft() { 50 } else { 100 })
    }

    /// The params of the request.
    pub fn params(&self, cursor: Option<&str>) -> Value {
        let (mut root, mut own) = (Map::new(), Map::new());
        if let Some((directory, spelling)) = self.directory {
            root.insert("cwd".to_owned(), json!(DIRECTORIES[directory][spelling]));
        }
        if let Some(cursor) = cursor {
            root.insert("cursor".to_owned(), json!(cursor));
        }
        if let Some(agents) = self.agents {
            let agents = if agents == Agents::Own { "own" } else { "all" };
            own.insert("agents".to_owned(), json!(agents));
        }
        if self.subagents {
            own.insert("subagents".to_owned(), json!(true));
        }
        let draft = if self.in_meta { &mut own } else { &mut root };
        let times = [
            ("createdAfter", self.created_after),
            ("createdBefore", self.created_before),
            ("updatedAfter", self.updated_after),
        ];
        for (name, bound) in times {
            if let Some(bound) = bound {
                draft.insert(name.to_owned(), json!(bound.text()));
            }
        }
        if !self.search.is_empty() {
            let terms: Vec<String> = self.search.iter().map(Term::text).collect();
            draft.insert("search".to_owned(), json!(terms.join(" ")));
        }
        if let Some(worktrees) = self.worktrees {
            draft.insert("includeWorktrees".to_owned(), json!(worktrees));
        }
        if let Some(limit) = self.limit {
            draft.insert("limit".to_owned(), json!(limit));
        }
        let archived = match self.archived {
            Archived::Unsaid => None,
            // The draft of list extensions has other names for the same.
            Archived::Exclude => Some(if self.in_meta { "exclude" } else { "unarchived" }),
            Archived::Include => Some(if self.in_meta { "include" } else { "all" }),
            Archived::Only => Some(if self.in_meta { "only" } else { "archived" }),
        };
        if let Some(archived) = archived {
            draft.insert("archived".to_owned(), json!(archived));
        }
        if !own.is_empty() {
            root.insert("_meta".to_owned(), json!({ "acp-sessions": own }));
        }
        Value::Object(root)
    }
}
