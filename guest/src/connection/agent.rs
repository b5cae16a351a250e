//! What comes from the agent.

use super::awaiting::Awaiting;
use super::client::with_session_id;
use super::{Handled, Handling};
use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::{self, Code, Id, Message, Object, Outcome, RpcError};
use crate::storage::Storage;
use crate::transcript::Kind;

impl<S: Storage, E: Environment> Engine<S, E> {
    /// A line from the agent.
    pub(crate) fn agent_line(&mut self, line: String) {
        let handled = match Message::parse(&line) {
            Err(malformed) => {
                self.warn(format!("the agent sent a line that is no message ({malformed:?}); dropped"));
                return;
            }
            Ok(Message::Response { id, outcome }) => self.agent_response(&line, &id, outcome),
            Ok(Message::Request { id, method, params }) => self.agent_request(&line, &id, &method, params),
            Ok(Message::Notification { method, params }) if method == "session/update" => {
                self.session_update(&line, params)
            }
            Ok(Message::Notification { params, .. }) => self.pass_to_client(&line, params),
        };
        match handled {
            Handled::Done | Handled::Hold(_) => {}
            Handled::Pass => self.send_client(line),
            Handled::PassAs(line) => self.send_client(line),
        }
        self.release_early();
    }

    /// A line that was too long to be kept. If it was an answer, the request must not stay open for ever.
    pub(crate) fn agent_line_too_long(&mut self, head: &str) {
        self.warn("the agent sent a line that is too long; dropped");
        if let Some(id) = Message::id_in_head(head).filter(|id| self.connection.awaiting.contains_key(id)) {
            let error = RpcError::new(Code::InternalError, "Internal error: the agent's answer is too long to pass on");
            self.agent_line(rpc::failure(&id, &error));
        }
    }

    fn agent_response(&mut self, line: &str, id: &Id, outcome: Outcome<'_>) -> Handled {
        if *id == Id::null()
            && let Outcome::Error(error) = outcome
            && let Some(meant) = self.only_open_request()
        {
            let line = rpc::failure(&meant, &agent_error(error));
            self.agent_line(line);
            return Handled::Done;
        }
        if matches!(self.connection.awaiting.get(id), Some(Awaiting::Own) | None) {
            if !id.is_own() {
                self.warn(format!("the agent answered a request that is not open (id {}); dropped", id.as_json()));
            }
            return Handled::Done;
        }
        let Some(awaiting) = self.settle(id) else { return Handled::Done };
        let handling = match awaiting {
            Awaiting::Initialize => self.initialized(id, outcome),
            Awaiting::New { cwd } => self.new_session_made(line, &cwd, outcome),
            Awaiting::Prompt { session } => self.prompt_answered(line, id, &session, outcome),
            Awaiting::Mode { session, mode } => Ok(self.mode_set(&session, mode, outcome)),
            Awaiting::Model { session, model } => Ok(self.model_set(&session, model, outcome)),
            Awaiting::Option { session, option, value } => Ok(self.option_set(&session, option, &value, outcome)),
            Awaiting::Passed => Ok(Handled::Pass),
            Awaiting::Attach { owner, step } => self.attach_answered(&owner, step, outcome),
            Awaiting::Restore { owner, is_mode } => self.restore_answered(&owner, id, is_mode, outcome),
            Awaiting::Close { session } => self.close_answered(&session),
            Awaiting::Discover => self.discovered(outcome),
            Awaiting::Ignored | Awaiting::Own => Ok(Handled::Done),
        };
        handling.unwrap_or_else(|error| {
            self.refuse(id, &error);
            Handled::Done
        })
    }

    /// What an error without an id must be about: agents answer so to a request they could not read.
    fn only_open_request(&self) -> Option<Id> {
        let mut open = self.connection.awaiting.iter().filter(|(_, awaiting)| **awaiting != Awaiting::Own);
        let (id, _) = open.next()?;
        (open.next().is_none() && *id != Id::null()).then(|| id.clone())
    }

    fn agent_request(&mut self, line: &str, id: &Id, method: &str, params: Option<&str>) -> Handled {
        if method == "session/request_permission"
            && let Some(asked) = params.and_then(Object::parse)
            && let Some(session) =
                asked.get_string("sessionId").and_then(|id| self.connection.by_agent.get(&id).cloned())
        {
            let now = self.now();
            let mut rest = asked.clone();
            rest.remove("sessionId");
            if let Some(open) = self.connection.sessions.get_mut(&session) {
                open.recorder.push(Kind::PermissionAsked, now, &rest.to_json());
                self.connection.permissions.insert(id.clone(), session);
            }
        }
        self.pass_to_client(line, params)
    }

    /// Passes a line that names a session, if it does, by the client's id for it.
    pub(super) fn pass_to_client(&self, line: &str, params: Option<&str>) -> Handled {
        let Some(params) = params.and_then(Object::parse) else { return Handled::Pass };
        let session = params.get_string("sessionId").and_then(|id| self.connection.by_agent.get(&id));
        match session {
            Some(session) => with_session_id(line, &params, session),
            None => Handled::Pass,
        }
    }
}

/// An agent's error, to be passed on as it is.
pub(super) fn agent_error(json: &str) -> RpcError {
    let error: serde_json::Value = serde_json::from_str(json).unwrap_or_default();
    RpcError {
        code: error["code"].as_i64().unwrap_or(Code::InternalError as i64),
        message: error["message"].as_str().unwrap_or("Internal error: the agent failed").to_owned(),
        data: error.get("data").filter(|data| !data.is_null()).cloned(),
    }
}

/// An outcome as a result that handlers can use `?` on.
pub(super) fn result_of<'a>(outcome: &Outcome<'a>) -> Result<&'a str, RpcError> {
    match outcome {
        Outcome::Result(json) => Ok(json),
        Outcome::Error(json) => Err(agent_error(json)),
    }
}

/// Nothing to do.
pub(super) const DONE: Handling = Ok(Handled::Done);
