//! What happens to a store between two pages of a list.

use crate::model::Model;
use crate::session::{Session, Text};

/// A change, ready to be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A session that was not there.
    Create(Box<Session>),
    /// Activity at a time; one before the session was created counts as its creation.
    Touch {
        /// Which session.
        id: String,
        /// When.
        at: i64,
    },
    /// A prompt at a time, which is activity too.
    Prompt {
        /// Which session.
        id: String,
        /// When.
        at: i64,
    },
    /// Another title.
    Rename {
        /// Which session.
        id: String,
        /// Its words, at least one.
        title: Text,
    },
    /// Put away, or brought back.
    Archive {
        /// Which session.
        id: String,
        /// Which of the two.
        archived: bool,
    },
    /// An agent gets to know it, or no longer does.
    Know {
        /// Which session.
        id: String,
        /// Which agent.
        agent: usize,
        /// Which of the two.
        known: bool,
    },
    /// Its agent takes back the time of its last activity.
    Undate {
        /// Which session.
        id: String,
    },
    /// Gone for good.
    Delete {
        /// Which session.
        id: String,
    },
}

impl Change {
    /// The session that changes.
    pub fn id(&self) -> &str {
        match self {
            Self::Create(session) => &session.id,
            Self::Touch { id, .. }
            | Self::Prompt { id, .. }
            | Self::Rename { id, .. }
            | Self::Archive { id, .. }
            | Self::Know { id, .. }
            | Self::Undate { id }
            | Self::Delete { id } => id,
        }
    }
}

/// A change of some session or other: which one depends on what is there when its time comes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Intent {
    /// Creates this session.
    Create(Box<Session>),
    /// Touches the session at this index (modulo their number).
    Touch(usize, i64),
    /// Prompts it.
    Prompt(usize, i64),
    /// Renames it.
    Rename(usize, Text),
    /// Archives it, or brings it back.
    Archive(usize, bool),
    /// Makes an agent know it, or not.
    Know(usize, usize, bool),
    /// Takes back its time.
    Undate(usize),
    /// Deletes it.
    Delete(usize),
}

impl Intent {
    /// The change this comes to now; none if there is nothing to change.
    pub fn resolve(&self, model: &Model) -> Option<Change> {
        let sessions = model.sessions();
        let id = |at: usize| Some(sessions.get(at.checked_rem(sessions.len())?)?.id.clone());
        Some(match self {
            Self::Create(session) => Change::Create(session.clone()),
            Self::Touch(which, at) => Change::Touch { id: id(*which)?, at: *at },
            Self::Prompt(which, at) => Change::Prompt { id: id(*which)?, at: *at },
            Self::Rename(which, title) => Change::Rename { id: id(*which)?, title: title.clone() },
            Self::Archive(which, archived) => Change::Archive { id: id(*which)?, archived: *archived },
            Self::Know(which, agent, known) => Change::Know { id: id(*which)?, agent: *agent, known: *known },
            Self::Undate(which) => Change::Undate { id: id(*which)? },
            Self::Delete(which) => Change::Delete { id: id(*which)? },
        })
    }
}
