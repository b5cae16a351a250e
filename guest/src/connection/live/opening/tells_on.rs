//! An agent that goes on telling a history behind its answer: Gemini CLI answers a load once it has told the first message, which
//! is its user's, and tells the rest behind that. Words of the user's alone are hardly a history, so where it has told nothing else
//! its answer counts when it has been silent for a while. So it does where an agent that is known to tell all behind its answer has told
//! nothing before.

use crate::connection::live::session_update::Update;
use crate::transcript::UpdateKind;

/// How long the agent is silent that has told all, in milliseconds: a busy computer may hold it up in the midst.
const SILENCE: i64 = 1000;
/// How long it is silent once it has told its commands, which it does about when it has told the history.
const SILENCE_WITH_COMMANDS: i64 = 300;

/// What of a history the agent tells before and behind its answer.
#[derive(Debug, Default)]
pub(super) struct TellsOn {
    stage: MoreToTell,
    /// How many exchanges it has begun to tell: each begins with words of its user's.
    exchanges: usize,
    /// It has told something behind the words of its user's that the last of them begins with.
    is_answered: bool,
    /// It has told something in its user's name.
    has_begun: bool,
}

/// Whether the agent goes on telling the history behind its answer.
#[derive(Debug, Default)]
enum MoreToTell {
    /// It may: it has told nothing but what its user has said.
    #[default]
    Perhaps,
    /// It does not.
    No,
    /// It has answered, and may be telling the rest.
    Awaited { silent_since: i64, has_told_commands: bool },
    /// It was silent for so long that it counts as having told all, though it may only have been held up.
    Silent,
}

impl TellsOn {
    /// The agent has answered at this time; says whether it may be telling the rest.
    pub(super) fn answered(&mut self, now: i64) -> bool {
        let is_possible = matches!(self.stage, MoreToTell::Perhaps);
        if is_possible {
            self.stage = MoreToTell::Awaited { silent_since: now, has_told_commands: false };
        }
        is_possible
    }

    /// Takes note of what the agent says at this time.
    pub(super) fn note(&mut self, update: &Update<'_>, now: i64) {
        let (is_history, is_users) = (update.kind.is_history(), update.kind == UpdateKind::UserChunk);
        self.has_begun |= is_users;
        match &mut self.stage {
            stage @ MoreToTell::Perhaps if is_history && !is_users => *stage = MoreToTell::No,
            MoreToTell::Awaited { silent_since, .. } if is_history => *silent_since = now,
            MoreToTell::Awaited { silent_since, has_told_commands } => {
                let is_commands = update.name == "available_commands_update";
                *has_told_commands |= is_commands;
                if is_commands && !self.has_begun {
                    *silent_since = now;
                }
            }
            MoreToTell::Perhaps | MoreToTell::No | MoreToTell::Silent => {}
        }
        let is_exchange = is_users && !update.is_hidden() && (self.exchanges == 0 || self.is_answered);
        self.exchanges += usize::from(is_exchange);
        self.is_answered = !is_exchange && (self.is_answered || is_history && !is_users && self.exchanges > 0);
    }

    pub(super) fn is_awaited(&self) -> bool {
        matches!(self.stage, MoreToTell::Awaited { .. })
    }

    /// Whether it is awaited to tell a history, and has begun none; it is not, from then on.
    pub(super) fn is_none_told(&mut self) -> bool {
        let is_none = self.is_awaited() && !self.has_begun;
        if is_none {
            self.stage = MoreToTell::No;
        }
        is_none
    }

    /// Whether it has been silent for long enough, or the clock was set back; once.
    pub(super) fn is_over(&mut self, now: i64) -> bool {
        let MoreToTell::Awaited { silent_since, has_told_commands } = self.stage else { return false };
        let silence = if has_told_commands { SILENCE_WITH_COMMANDS } else { SILENCE };
        let is_over = !(silent_since..silent_since + silence).contains(&now);
        if is_over {
            self.stage = MoreToTell::Silent;
        }
        is_over
    }

    /// How many exchanges it has told of a history of which the rest may come yet, the last of them perhaps in part. None where no more
    /// is to come.
    pub(super) fn held_up_behind(&self) -> Option<usize> {
        matches!(self.stage, MoreToTell::Silent).then_some(self.exchanges)
    }
}
