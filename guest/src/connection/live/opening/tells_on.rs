//! An agent that goes on telling a history behind its answer: Gemini CLI answers a load once it has told the first message, which
//! is its user's, and tells the rest behind that. Words of the user's alone are hardly a history, so where it has told nothing else
//! its answer counts when it has been silent for a while.

use crate::connection::live::session_update::Update;
use crate::transcript::UpdateKind;

/// How long the agent is silent that has told all, in milliseconds: a busy computer may hold it up in the midst.
const SILENCE: i64 = 1000;
/// The same once it has told its commands, which it does about when it has told the history.
const SILENCE_WITH_COMMANDS: i64 = 300;

/// Whether the agent goes on telling the history behind its answer.
#[derive(Debug, Default)]
pub(super) enum TellsOn {
    /// It may: it has told nothing but what its user has said.
    #[default]
    Perhaps,
    /// It does not, or has told all.
    No,
    /// It has answered, and may be telling the rest.
    Awaited { silent_since: i64, has_told_commands: bool },
}

impl TellsOn {
    /// The agent has answered at this time; says whether it may be telling the rest.
    pub(super) fn answered(&mut self, now: i64) -> bool {
        let is_possible = matches!(self, Self::Perhaps);
        if is_possible {
            *self = Self::Awaited { silent_since: now, has_told_commands: false };
        }
        is_possible
    }

    /// Takes note of what the agent says at this time.
    pub(super) fn note(&mut self, update: &Update<'_>, now: i64) {
        let is_history = update.kind.is_history();
        match self {
            Self::Perhaps if is_history && update.kind != UpdateKind::UserChunk => *self = Self::No,
            Self::Awaited { silent_since, .. } if is_history => *silent_since = now,
            Self::Awaited { has_told_commands, .. } => *has_told_commands |= update.name == "available_commands_update",
            Self::Perhaps | Self::No => {}
        }
    }

    pub(super) fn is_awaited(&self) -> bool {
        matches!(self, Self::Awaited { .. })
    }

    /// Whether it has been silent for long enough, or the clock was set back; once.
    pub(super) fn is_over(&mut self, now: i64) -> bool {
        let Self::Awaited { silent_since, has_told_commands } = *self else { return false };
        let silence = if has_told_commands { SILENCE_WITH_COMMANDS } else { SILENCE };
        let is_over = !(silent_since..silent_since + silence).contains(&now);
        if is_over {
            *self = Self::No;
        }
        is_over
    }
}
