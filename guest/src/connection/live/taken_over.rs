//! Others may take a window for gone in the midst of its turn, because it was stopped or the computer was asleep, and take over
//! what its agent has said meanwhile. It goes on behind that.

use super::LiveSession;
use super::own_turn::OwnTurn;
use crate::connection::cx::Cx;
use crate::environment::Environment;
use crate::storage::{Storage, StorageError};
use crate::transcript::TakenOver;

impl LiveSession {
    /// The turn of this tag begins with this entry of the log, unless it has begun before.
    pub(super) fn begin_own_turn(&mut self, tag: &str, prompt: u32) {
        if self.own_turn.as_ref().is_none_or(|own| !own.is(tag)) {
            self.own_turn = Some(OwnTurn::begins(tag, prompt));
        }
    }

    /// What others have taken over of its turn is not written once more.
    pub(super) fn leave_out_taken_over<S: Storage, E: Environment>(
        &mut self,
        cx: &Cx<'_, S, E>,
    ) -> Result<(), StorageError> {
        let Some(own) = self.own_turn.as_mut().filter(|_| self.recorder.is_dirty()) else { return Ok(()) };
        // Whoever takes something over writes to the session's log.
        if !own.is_taken_over()
            && self.recorder.is_overtaken(cx.store)?
            && let Some(session) = cx.store.session(self.key.id().unwrap_or_default())?
            && let Some(part) = own.look(cx.store.storage(), &session)?.and_then(TakenOver::part)
        {
            // Its client has seen that, and its agent has said it.
            self.in_step.note_part(part.clone());
        }
        own.leave_out_taken_over(&mut self.recorder);
        Ok(())
    }

    /// All that it has said is written: to a turn that has ended nothing comes any more.
    pub(super) fn note_own_turn_written(&mut self) {
        if self.is_without_turn() {
            self.own_turn = None;
        }
    }
}
