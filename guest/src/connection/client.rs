//! What comes from the client.

use super::awaiting::Awaiting;
use super::initialize::Phase;
use super::params::Params;
use super::{Handled, Handling};
use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::{self, Code, Id, Message, Object, Outcome, RpcError};
use crate::storage::Storage;
use crate::transcript::Kind;

impl<S: Storage, E: Environment> Engine<S, E> {
    /// A line from the client.
    pub(crate) fn client_line(&mut self, line: String) {
        match &mut self.connection.phase {
            Phase::Starting { held } => {
                held.push_back(line);
                self.note_held();
            }
            Phase::Ready { queue, .. } if !queue.is_empty() => {
                queue.push_back(line);
                self.note_held();
            }
            Phase::New | Phase::Ready { .. } => self.handle_client_line(line),
        }
    }

    fn handle_client_line(&mut self, line: String) {
        let handled = match Message::parse(&line) {
            Err(malformed) => {
                self.refuse(&Id::null(), &malformed.to_error());
                return;
            }
            Ok(Message::Request { id, .. }) if rpc::is_too_deep(&line) => {
                let message = format!("Invalid request: it nests deeper than {} levels", rpc::DEEPEST);
                self.refuse(&id, &RpcError::new(Code::InvalidRequest, message));
                return;
            }
            Ok(Message::Request { id, method, params }) => {
                let handling = self.client_request(&line, &id, &method, params);
                handling.unwrap_or_else(|error| {
                    self.settle_refused(&id);
                    self.refuse(&id, &error);
                    Handled::Done
                })
            }
            Ok(Message::Notification { method, params }) => self.client_notification(&line, &method, params),
            Ok(Message::Response { id, outcome }) => {
                self.permission_answered(&id, outcome);
                Handled::Pass
            }
        };
        match handled {
            Handled::Done => {}
            Handled::Pass => self.send_agent(line),
            Handled::PassAs(line) => self.send_agent(line),
            Handled::Hold(session) => self.hold(&session, line),
        }
    }

    /// A refused request is no longer open, unless the refusal was for using the id of one that is.
    fn settle_refused(&mut self, id: &Id) {
        if matches!(self.connection.awaiting.get(id), Some(Awaiting::Own)) && !self.is_kept_open(id) {
            self.settle(id);
        }
    }

    pub(crate) fn client_line_too_long(&mut self, head: &str) {
        let error = RpcError::new(Code::InvalidRequest, "Invalid request: the line is longer than 16 MiB");
        self.refuse(&Message::id_in_head(head).unwrap_or_else(Id::null), &error);
    }

    pub(crate) fn client_line_not_text(&mut self) {
        self.refuse(&Id::null(), &RpcError::new(Code::ParseError, "Parse error: the line is not UTF-8"));
    }

    fn client_request(&mut self, line: &str, id: &Id, method: &str, params: Option<&str>) -> Handling {
        if matches!(self.connection.phase, Phase::New) && method != "initialize" {
            return Err(RpcError::new(Code::InvalidRequest, "Invalid request: the first request must be `initialize`"));
        }
        if self.connection.awaiting.contains_key(id) {
            return Err(RpcError::new(Code::InvalidRequest, "Invalid request: a request with this id is still open"));
        }
        if self.connection.agent_gone {
            return Err(super::end::agent_gone());
        }
        match method {
            "initialize" => self.initialize(line, id, params),
            "session/new" => self.new_session(id, &Params::read(params)?),
            "session/load" => self.load(id, &Params::read(params)?),
            "session/resume" => self.resume(id, &Params::read(params)?),
            "session/fork" => self.fork(id, &Params::read(params)?),
            "session/list" => self.list(id, params),
            "session/delete" => self.delete(id, &Params::read(params)?),
            "session/close" => self.close(id, &Params::read(params)?),
            "session/archive" => self.archive(id, &Params::read(params)?),
            "session/unarchive" => self.unarchive(id, &Params::read(params)?),
            "session/status" => self.status(id, &Params::read(params)?),
            "session/set_title" => self.set_title(id, &Params::read(params)?),
            "session/prompt" => self.prompt(line, id, &Params::read(params)?),
            "session/set_mode" => self.set_mode(line, id, &Params::read(params)?),
            "session/set_model" => self.set_model(line, id, &Params::read(params)?),
            "session/set_config_option" => self.set_config_option(line, id, &Params::read(params)?),
            _ => {
                self.expect_answer(id, Awaiting::Passed)?;
                Ok(self.pass_to_agent(line, params))
            }
        }
    }

    fn client_notification(&mut self, line: &str, method: &str, params: Option<&str>) -> Handled {
        if matches!(self.connection.phase, Phase::New) {
            return Handled::Done;
        }
        match method {
            "session/cancel" => self.cancel(line, params),
            "$/cancel_request" => self.cancel_request(params),
            _ => self.pass_to_agent(line, params),
        }
    }

    /// Passes a line that names a session, if it does, by the agent's id for it.
    pub(super) fn pass_to_agent(&self, line: &str, params: Option<&str>) -> Handled {
        let Some(params) = params.and_then(Object::parse) else { return Handled::Pass };
        let session = params.get_string("sessionId").and_then(|id| self.connection.sessions.get(&id));
        let Some(session) = session else { return Handled::Pass };
        with_session_id(line, &params, &session.agent_id)
    }

    /// Keeps a line until the session is open; then it is handled as if it came now.
    fn hold(&mut self, session: &str, line: String) {
        if let Ok(Message::Request { id, .. }) = Message::parse(&line)
            && let Err(error) = self.expect_answer(&id, Awaiting::Own)
        {
            self.refuse(&id, &error);
            return;
        }
        if let Some(open) = self.connection.sessions.get_mut(session) {
            open.held.push_back(line);
        }
    }

    /// Handles the lines that waited for this session.
    pub(super) fn release_held(&mut self, session: &str) {
        let Some(open) = self.connection.sessions.get_mut(session) else { return };
        let held = std::mem::take(&mut open.held);
        self.handle_held(held);
    }

    /// Handles lines that waited.
    pub(super) fn handle_held(&mut self, held: impl IntoIterator<Item = String>) {
        for line in held {
            if let Ok(Message::Request { id, .. }) = Message::parse(&line)
                && matches!(self.connection.awaiting.get(&id), Some(Awaiting::Own))
            {
                self.settle(&id);
            }
            self.handle_client_line(line);
        }
    }

    /// The client answered the agent's request for permission.
    fn permission_answered(&mut self, id: &Id, outcome: Outcome<'_>) {
        let Some(session) = self.connection.permissions.remove(id) else { return };
        let now = self.now();
        let (Outcome::Result(json) | Outcome::Error(json)) = outcome;
        if let Some(open) = self.connection.sessions.get_mut(&session) {
            open.recorder.push(Kind::PermissionAnswered, now, json);
        }
    }
}

/// The line with the session's id replaced, where it is another. `params` must come from `line`.
pub(super) fn with_session_id(line: &str, params: &Object<'_>, id: &str) -> Handled {
    let wanted = serde_json::Value::from(id).to_string();
    match params.get("sessionId") {
        Some(given) if given != wanted => Handled::PassAs(rpc::splice(line, given, &wanted)),
        _ => Handled::Pass,
    }
}
