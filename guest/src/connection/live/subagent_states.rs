//! What an agent says of its sub-agents between turns: how they are, which the transcript may have.

use super::LiveSession;
use super::session_update::Update;
use crate::connection::cx::Cx;
use crate::environment::Environment;
use crate::storage::{Result, Storage};
use crate::transcript::{SubagentStates, UpdateKind};

/// What the transcript had of them when the session's own log ended there, and what was said since.
#[derive(Debug)]
pub(super) struct Known {
    end: u32,
    states: SubagentStates,
}

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
            self.subagents = None;
            return false;
        }
        match self.known_of_subagents(cx) {
            Ok(Some(known)) => known.states.repeats(update.update),
            // What cannot be read is not compared with.
            Ok(None) | Err(_) => false,
        }
    }

    fn known_of_subagents<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) -> Result<Option<&mut Known>> {
        let Some(id) = self.key.id() else { return Ok(None) };
        let end = cx.store.storage().log_end(id)?;
        if self.subagents.as_ref().is_none_or(|known| known.end != end) {
            self.subagents = None;
            // What is yet to be written it would not be compared with.
            if self.recorder.is_dirty() {
                return Ok(None);
            }
            let Some(session) = cx.store.session(id)? else { return Ok(None) };
            let states = SubagentStates::read(cx.store.storage(), &session)?;
            self.subagents = Some(Box::new(Known { end, states }));
        }
        Ok(self.subagents.as_deref_mut())
    }
}
