//! The end of either side.

use super::awaiting::Awaiting;
use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::{self, Code, Id, RpcError};
use crate::storage::Storage;
use crate::transcript::Kind;

/// How requests are answered that only the agent could have answered.
pub(super) fn agent_gone() -> RpcError {
    RpcError::new(
        Code::InternalError,
        "Internal error: the agent has ended; the session is kept and can be loaded again",
    )
}

impl<S: Storage, E: Environment> Engine<S, E> {
    /// The client is gone: what it has open is written and marked as closed.
    pub(crate) fn client_closed(&mut self) {
        for id in self.connection.sessions.keys().cloned().collect::<Vec<_>>() {
            self.end_turns(&id, "the client has ended");
            let _ = self.write_session(&id, true);
            self.remove_open(&id);
        }
        // What cannot be written is believed for some seconds more.
        let _ = crate::sessions::open_marks::leave(&self.store, &self.connection.name);
    }

    /// The agent is gone: every open request gets its answer, and what was said is kept.
    pub(crate) fn agent_closed(&mut self) {
        self.connection.agent_gone = true;
        let error = agent_gone();
        for id in self.connection.sessions.keys().cloned().collect::<Vec<_>>() {
            self.end_turns(&id, "the agent has ended");
            let _ = self.write_session(&id, true);
        }
        for (id, awaiting) in std::mem::take(&mut self.connection.awaiting) {
            if awaiting.passes_answer() || awaiting == Awaiting::Own {
                self.connection.awaiting.insert(id.clone(), awaiting);
                self.finish(&id, Err(error.clone()));
            }
        }
    }

    fn end_turns(&mut self, id: &str, why: &str) {
        let now = self.now();
        let Some(open) = self.connection.sessions.get_mut(id) else { return };
        for turn in std::mem::take(&mut open.turns) {
            let entry = serde_json::json!({ "error": { "message": why } }).to_string();
            open.recorder.push(Kind::TurnEnd, now, &entry);
            open.touched = Some(now);
            open.title = turn.title;
        }
    }

    /// Whether the layer still works on a request of the client's.
    pub(super) fn is_kept_open(&self, id: &Id) -> bool {
        let connection = &self.connection;
        let is_request = |line: &String| matches!(rpc::Message::parse(line), Ok(rpc::Message::Request { id: held, .. }) if held == *id);
        connection.forking.contains_key(id)
            || connection.sessions.values().any(|open| {
                open.replaying.as_ref().is_some_and(|replaying| replaying.request == *id)
                    || open.held.iter().any(is_request)
                    || open.closing.as_ref().is_some_and(|closing| closing.has(id))
            })
    }
}
