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
    /// Whether a session is one of theirs.
    pub fn admit(&self, session: &Session) -> bool {
        match self {
            Self::Own(agent) => session.agents.contains_key(agent),
            Self::All => true,
        }
    }
}
