//! A session's title, and whose it is.

use serde::{Deserialize, Serialize};

/// Where a session's title comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Title {
    /// It has none.
    #[default]
    None,
    /// Made from the first prompt.
    Auto(String),
    /// Given by the agent, in an update or in its own list; replaces an automatic one.
    Agent(String),
    /// Set by the user; nobody else replaces it.
    Set(String),
    /// Cleared by the agent (`title: null`): stays empty until the agent or the user sets one.
    Cleared,
}

impl Title {
    /// The title as shown.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Auto(text) | Self::Agent(text) | Self::Set(text) => Some(text),
            Self::None | Self::Cleared => None,
        }
    }
}
