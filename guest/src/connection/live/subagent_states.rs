//! What an agent says of its sub-agents between turns: how they are, which the transcript may have.

use super::LiveSession;
use super::session_update::Update;
use crate::connection::cx::Cx;
use crate::environment::Environment;
use crate::storage::{Result, Storage};
use crate::transcript::{SubagentStates, UpdateKind};

impl LiveSession {
    /// Whether this says of a sub-agent, between turns, what the transcript has as the last of it. Its client is told so: since the
    /// session was opened it does not know whether that still holds. It is not written once more.
    pub(super) fn repeats_state_of_subagent<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &Cx<'_, S, E>,
    ) -> bool {
        if update.kind != UpdateKind::Subagent {
            return false;
        }
        // Members beside the update are kept with it.
        let is_plain = update.params.iter().all(|(name, _)| name == "sessionId" || name == "update");
        if !is_plain || !self.is_without_turn() {
            return false;
        }
        match self.known_of_subagents(cx) {
            Ok(Some(states)) => states.repeats(update.update),
            // What cannot be read is not compared with.
            Ok(None) | Err(_) => false,
        }
    }

    /// What the transcript has of them by now; `None` where that is not to be had.
    fn known_of_subagents<S: Storage, E: Environment>(
        &mut self,
        cx: &Cx<'_, S, E>,
    ) -> Result<Option<&mut SubagentStates>> {
        let Some(id) = self.key.id() else { return Ok(None) };
        let storage = cx.store.storage();
        let end = storage.log_end(id)?;
        let read_up_to = self.subagents.as_ref().map(|states| states.read_up_to());
        // What is yet to be written it would not be compared with.
        if read_up_to != Some(end) && self.recorder.is_dirty() {
            return Ok(None);
        }
        match &mut self.subagents {
            Some(states) if states.read_up_to() == end => {}
            Some(states) if states.read_up_to() < end => states.read_on(storage, id, end)?,
            subagents => {
                let Some(session) = cx.store.session(id)? else { return Ok(None) };
                *subagents = Some(Box::new(SubagentStates::read(storage, &session, end)?));
            }
        }
        Ok(self.subagents.as_deref_mut())
    }
}
