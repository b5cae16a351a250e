//! Sending a history: a little at each `pull`, as far as the client has room, one session after the other.

use serde_json::json;

use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::{self, Code, Id, RpcError};
use crate::storage::Storage;
use crate::store::{Session, Store};
use crate::transcript::{Entry, Progress, Replay, Start};

/// The first piece of a history is small, so that it is there at once.
const FIRST_PIECE: usize = 16 * 1024;

/// The request for a session that is being opened, and what it is still to be shown.
#[derive(Debug)]
pub(super) struct Replaying {
    pub(super) request: Id,
    pub(super) session: Session,
    history: Option<Replay>,
    /// Some of the history is on its way.
    begun: bool,
    /// The state is still to be shown.
    state_due: bool,
    /// The layer has no record of the session yet.
    pub(super) is_unknown: bool,
}

impl Replaying {
    /// For a session with a record; `start` is where its history is wanted from, if at all.
    pub(super) fn open<S: Storage>(
        store: &Store<S>,
        request: &Id,
        session: Session,
        start: Option<Start>,
    ) -> Result<Self, RpcError> {
        let history = start.map(|start| Replay::open(store.storage(), &session, start)).transpose()?;
        if history.as_ref().is_some_and(|history| !history.contains(history.position())) {
            return Err(RpcError::invalid_params(
                "_meta.acp-sessions.replay",
                "names a place this session does not have",
            ));
        }
        let state_due = history.is_some();
        Ok(Self { request: request.clone(), session, history, begun: false, state_due, is_unknown: false })
    }

    /// For a session that the agent may know and the layer does not.
    pub(super) fn unknown(request: &Id, session: Session) -> Self {
        Self { request: request.clone(), session, history: None, begun: false, state_due: false, is_unknown: true }
    }

    /// Whether something is still to be shown.
    pub(super) fn is_unfinished(&self) -> bool {
        self.state_due
    }

    /// Whether what the agent says now has to wait for its turn in the history.
    pub(super) fn shows_history(&self) -> bool {
        self.history.is_some()
    }

    /// Whether there is a history to show and none of it is on its way yet.
    pub(super) fn is_to_begin(&self) -> bool {
        self.history.is_some() && !self.begun
    }

    /// Whether anything was ever said in the session.
    pub(super) fn has_past(&self) -> bool {
        !self.session.is_unprompted()
    }

    /// Where the history stands that was shown.
    pub(super) fn cursor(&self) -> Option<String> {
        self.history.as_ref().map(|history| history.position().to_cursor(self.session.layout))
    }
}

impl<S: Storage, E: Environment> Engine<S, E> {
    /// Sends of the replays under way about as much as there is room for.
    pub(crate) fn replay_some(&mut self, client_room: u32) {
        let waiting: usize = self.outputs.iter().map(crate::engine::Output::client_bytes).sum();
        let mut room = (client_room as usize).saturating_sub(waiting);
        while room > 0
            && let Some(id) = self.connection.replaying.pop_front()
        {
            let is_first = self.is_replay_to_begin(&id);
            match self.replay_step(&id, if is_first { room.min(FIRST_PIECE) } else { room }) {
                Ok(Some(sent)) => {
                    room = room.saturating_sub(sent);
                    self.connection.replaying.push_back(id);
                }
                Ok(None) => {}
                Err(error) => self.abandon_opening(&id, &error),
            }
            // What comes next may write to the store: a first piece does not wait for that.
            if is_first && !self.outputs.is_empty() {
                break;
            }
        }
    }

    fn is_replay_to_begin(&self, id: &str) -> bool {
        let open = self.connection.sessions.get(id);
        open.and_then(|open| open.replaying.as_ref()).is_some_and(Replaying::is_to_begin)
    }

    /// Sends the next piece of one replay and returns its size; `None` when it is over or has to wait for the agent.
    fn replay_step(&mut self, id: &str, room: usize) -> Result<Option<usize>, RpcError> {
        let Some(open) = self.connection.sessions.get_mut(id) else { return Ok(None) };
        let Some(replaying) = open.replaying.as_mut() else { return Ok(None) };
        let Some(history) = replaying.history.as_mut() else {
            self.try_finish_opening(id);
            return Ok(None);
        };
        let progress = history.next(self.store.storage(), u32::try_from(room).unwrap_or(u32::MAX))?;
        if std::mem::replace(&mut replaying.begun, true) {
            self.mark_now(id);
        }
        match progress {
            Progress::Entries(entries) => {
                let session_id = json!(id).to_string();
                let mut sent = 0;
                for (_, text) in entries {
                    for params in Entry::parse(&text).map(|entry| entry.replayed(&session_id)).unwrap_or_default() {
                        let line = rpc::notification("session/update", &params);
                        sent += line.len();
                        self.send_client(line);
                    }
                }
                Ok(Some(sent))
            }
            Progress::End => self.replay_end(id),
        }
    }

    /// All that was there has been sent: what came meanwhile follows, then the state, then the answer.
    fn replay_end(&mut self, id: &str) -> Result<Option<usize>, RpcError> {
        self.write_session(id, true)?;
        let Some(open) = self.connection.sessions.get_mut(id) else { return Ok(None) };
        let Some(replaying) = open.replaying.as_mut() else { return Ok(None) };
        if let Some(history) = replaying.history.as_mut()
            && history.extend(self.store.storage(), &replaying.session)?
        {
            return Ok(Some(0));
        }
        if open.attach.as_ref().is_some_and(|attach| !attach.is_done()) {
            return Ok(None);
        }
        if replaying.state_due {
            replaying.state_due = false;
            let mut updates: Vec<String> = open.state.updates.values().map(|update| update.get().to_owned()).collect();
            if let (None, Some(mode)) = (&open.state.modes, &open.state.mode) {
                updates.push(json!({ "sessionUpdate": "current_mode_update", "currentModeId": mode }).to_string());
            }
            for update in updates {
                self.notify(id, &update);
            }
        }
        self.try_finish_opening(id);
        Ok(None)
    }

    /// The client no longer wants a load, resume or fork.
    pub(super) fn cancel_opening(&mut self, request: &Id) -> bool {
        let error = RpcError::new(Code::RequestCancelled, "Request cancelled");
        let session = self
            .connection
            .sessions
            .iter()
            .find(|(_, open)| open.replaying.as_ref().is_some_and(|replaying| replaying.request == *request));
        if let Some(id) = session.map(|(id, _)| id.clone()) {
            self.abandon_opening(&id, &error);
            return true;
        }
        if self.connection.forking.remove(request).is_some() {
            self.finish(request, Err(error));
            return true;
        }
        false
    }
}
