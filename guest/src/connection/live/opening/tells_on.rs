//! An agent that goes on telling a history behind its answer: Gemini CLI answers a load once it has told the first message, which
//! is its user's, and tells the rest behind that. Words of the user's alone are hardly a history, so where it has told nothing else
//! its answer counts when it has been silent for a while.

use super::{Attached, Opening};
use crate::connection::cx::Cx;
use crate::connection::live::session_update::Update;
use crate::connection::live::{LiveSession, Phase};
use crate::connection::step::Step;
use crate::environment::Environment;
use crate::storage::Storage;
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
    Possible,
    /// It does not, or has told all.
    Over,
    /// It has given this answer, and may be telling the rest.
    Awaited { answer: Box<Attached>, silent_since: i64, has_told_commands: bool },
}

impl TellsOn {
    /// Takes note of what the agent says at this time.
    fn note(&mut self, update: &Update<'_>, now: i64) {
        let is_history = update.kind.is_history();
        match self {
            Self::Possible if is_history && update.kind != UpdateKind::UserChunk => *self = Self::Over,
            Self::Awaited { silent_since, .. } if is_history => *silent_since = now,
            Self::Awaited { has_told_commands, .. } => *has_told_commands |= update.name == "available_commands_update",
            Self::Possible | Self::Over => {}
        }
    }

    pub(super) fn is_awaited(&self) -> bool {
        matches!(self, Self::Awaited { .. })
    }

    /// The answer, once the agent has been silent for long enough, or the clock was set back.
    fn take_answer(&mut self, now: i64) -> Option<Attached> {
        let Self::Awaited { silent_since, has_told_commands, .. } = self else { return None };
        let silence = if *has_told_commands { SILENCE_WITH_COMMANDS } else { SILENCE };
        if (*silent_since..*silent_since + silence).contains(&now) {
            return None;
        }
        match std::mem::replace(self, Self::Over) {
            Self::Awaited { answer, .. } => Some(*answer),
            Self::Possible | Self::Over => None,
        }
    }
}

impl Opening {
    /// The agent has answered so; `None` where it may be telling the rest of the history yet.
    pub(super) fn answered_in_full(&mut self, answer: Attached, now: i64) -> Option<Attached> {
        let is_begun = answer.step == Step::Load && self.has_told && self.staging.is_some();
        if !is_begun || !matches!(self.tells_on, TellsOn::Possible) {
            return Some(answer);
        }
        self.tells_on = TellsOn::Awaited { answer: Box::new(answer), silent_since: now, has_told_commands: false };
        None
    }
}

impl LiveSession {
    /// Takes note of what the agent says while it opens the session.
    pub(in crate::connection::live) fn note_telling_on<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &Cx<'_, S, E>,
    ) {
        let now = cx.now();
        if let Some(opening) = self.opening_mut() {
            opening.tells_on.note(update, now);
        }
    }

    /// Whether the agent may be telling the rest of a history.
    pub(in crate::connection) fn awaits_rest_of_history(&self) -> bool {
        matches!(&self.phase, Phase::Opening(opening) if opening.tells_on.is_awaited())
    }

    /// The agent's answer counts once it has been silent for long enough.
    pub(in crate::connection) fn rest_is_told<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let now = cx.now();
        let Some(opening) = self.opening_mut() else { return };
        let Some(answer) = opening.tells_on.take_answer(now) else { return };
        opening.current = None;
        self.attached(answer, cx);
    }
}
