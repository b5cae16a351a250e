//! What a request that the agent has not answered yet was for.

use serde::{Deserialize, Serialize};

use super::attach::{Owner, Step};

/// A request under way to the agent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Awaiting {
    /// The client's `initialize`.
    Initialize,
    /// The client's `session/new`, in this directory.
    New { cwd: String },
    /// The client's `session/prompt`.
    Prompt { session: String },
    /// The client's `session/set_mode`.
    Mode { session: String, mode: String },
    /// The client's `session/set_model`.
    Model { session: String, model: String },
    /// The client's `session/set_config_option`; the value as JSON.
    Option { session: String, option: String, value: String },
    /// A request of the client's that the engine has no business with.
    Passed,
    /// A request of the client's that the engine answers itself in a while.
    Own,
    /// The engine's own: a step towards opening a session.
    Attach { owner: Owner, step: Step },
    /// The engine's own: putting a mode, model or option back.
    Restore { owner: Owner, is_mode: bool },
    /// The engine's own: closing a session.
    Close { session: String },
    /// The engine's own: the agent's list of sessions.
    Discover,
    /// The engine's own: the answer does not matter.
    Ignored,
}

impl Awaiting {
    /// Whether the request came from the client and waits for the agent's very answer.
    pub(super) fn passes_answer(&self) -> bool {
        matches!(
            self,
            Self::Initialize
                | Self::New { .. }
                | Self::Prompt { .. }
                | Self::Mode { .. }
                | Self::Model { .. }
                | Self::Option { .. }
                | Self::Passed
        )
    }
}
