//! A session that the agent's list says was forked from another.

use super::row::Row;

/// Which of the agent's sessions was forked from which, by the agent's ids.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ForkOf {
    /// The fork.
    pub agent_id: String,
    /// The session that it was forked from.
    pub parent: String,
}

impl ForkOf {
    /// What a row says of it.
    pub(super) fn of(row: &Row) -> Option<Self> {
        let parent = row.forked_from.clone().filter(|parent| *parent != row.agent_id)?;
        Some(Self { agent_id: row.agent_id.clone(), parent })
    }
}
