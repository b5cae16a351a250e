//! One way to have a session opened at the agent.

use serde::{Deserialize, Serialize};

/// A request that opens a session, or makes one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Step {
    /// The agent goes on without telling the history.
    Resume,
    /// The agent tells the history first.
    Load,
    /// The agent makes a session that begins as another one.
    Fork,
    /// The agent begins afresh.
    New,
}

impl Step {
    pub(super) fn method(self) -> &'static str {
        match self {
            Self::Resume => "session/resume",
            Self::Load => "session/load",
            Self::Fork => "session/fork",
            Self::New => "session/new",
        }
    }

    /// As clients are told under `_meta["acp-sessions"].attached`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Resume => "resume",
            Self::Load => "load",
            Self::Fork => "fork",
            Self::New => "new",
        }
    }

    /// Whether its answer names a session that was not there before.
    pub(super) fn makes(self) -> bool {
        matches!(self, Self::Fork | Self::New)
    }
}
