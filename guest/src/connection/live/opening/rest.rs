//! An answer that does not count before the agent has told the rest of the history.

use super::{Attached, Opening};
use crate::connection::cx::Cx;
use crate::connection::live::session_update::Update;
use crate::connection::live::{LiveSession, Phase};
use crate::connection::step::Step;
use crate::environment::Environment;
use crate::storage::Storage;

impl Opening {
    /// The agent has answered so; `None` where it may be telling the rest of the history yet, whether or not that is compared with
    /// anything: else the rest would be something new.
    pub(super) fn answered_in_full(&mut self, answer: Attached, now: i64) -> Option<Attached> {
        let is_begun = answer.step == Step::Load && self.has_told;
        if !is_begun || !self.tells_on.answered(now) {
            return Some(answer);
        }
        self.answered = Some(answer);
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
        if !opening.tells_on.is_over(now) {
            return;
        }
        let Some(answer) = opening.answered.take() else { return };
        opening.current = None;
        self.attached(answer, cx);
    }
}
