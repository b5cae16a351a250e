//! Whose sessions a list shows.

use crate::store::Session;

/// Whose sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum Agents {
    /// Those that the agent of this name knows.
    Own(String),
    /// All in the store.
    #[default]
    All,
}

impl Agents {
    /// The agent whose they are; none where they are all agents'.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Own(agent) => Some(agent),
            Self::All => None,
        }
    }

    /// Whether a session is one of theirs.
    pub fn admit(&self, session: &Session) -> bool {
        match self {
            Self::Own(agent) => session.agents.contains_key(agent),
            Self::All => true,
        }
    }
}
