//! The subscription to the agent's own list (draft: session list extensions).

use serde::{Deserialize, Serialize};

/// The layer's subscription to the agent's list.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum AgentsSubscription {
    #[default]
    None,
    /// The first page was asked for with it.
    AskedFor,
    /// The agent calls it so.
    Known(String),
    /// The agent gives none, though it said that it would.
    Refused,
}

impl AgentsSubscription {
    /// Whether the agent tells what changes.
    pub(super) fn is_known(&self) -> bool {
        matches!(self, Self::Known(_))
    }
}
