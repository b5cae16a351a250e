//! `session/new`: the agent makes it, the layer stores it before the client learns of it.

use serde_json::value::RawValue;

use super::agent::result_of;
use super::awaiting::Awaiting;
use super::open_session::OpenSession;
use super::params::Params;
use super::{Handled, Handling};
use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::{self, Code, Id, Object, Outcome, RpcError};
use crate::sessions::{create, open_marks};
use crate::storage::{Durability, Storage, Write};
use crate::store::{Session, State, keys};

impl<S: Storage, E: Environment> Engine<S, E> {
    pub(super) fn new_session(&mut self, id: &Id, params: &Params<'_>) -> Handling {
        let cwd = params.cwd()?;
        params.check_mcp_servers(true)?;
        params.check_additional_directories()?;
        self.expect_answer(id, Awaiting::New { cwd })?;
        Ok(Handled::Pass)
    }

    pub(super) fn new_session_made(&mut self, line: &str, cwd: &str, outcome: Outcome<'_>) -> Handling {
        let Outcome::Result(result) = outcome else { return Ok(Handled::Pass) };
        let object = Object::parse_or_empty(result_of(&outcome)?);
        let Some(agent_id) = object.get_string("sessionId") else {
            return Err(RpcError::new(Code::InternalError, "Internal error: the agent's new session has no id"));
        };
        let state = state_given(&object, State::default());
        let mut session = Session::new(agent_id.clone(), cwd.to_owned(), self.now());
        session.give_to(&self.connection.agent.name.clone().unwrap_or_default(), &agent_id, u64::MAX);
        let text = state.to_text();
        self.beat();
        let name = self.connection.name.clone();
        let session = create::create_with(&self.store, &self.environment, &session, Durability::Durable, |id| {
            Ok(vec![Write::Put { key: keys::state(id), value: text.clone() }, open_marks::mark(id, &name)])
        })?;
        let handled = if session.id == agent_id {
            Handled::Pass
        } else {
            let id = serde_json::Value::from(session.id.as_str()).to_string();
            let given = object.get("sessionId").unwrap_or_default();
            // The members are borrowed from `result`, which is borrowed from the line.
            debug_assert!(line.contains(result));
            Handled::PassAs(rpc::splice(line, given, &id))
        };
        let mut open = OpenSession::new(&session, agent_id, state);
        open.mark_due = None;
        self.insert_open(&session.id, open);
        Ok(handled)
    }
}

/// The state that an agent's answer to new, load, resume or fork gives, over what was known.
pub(super) fn state_given(answer: &Object<'_>, mut state: State) -> State {
    let raw = |json: &str| RawValue::from_string(json.to_owned()).ok();
    if let Some(modes) = answer.get_some("modes") {
        state.modes = raw(modes);
    }
    if let Some(options) = answer.get_some("configOptions") {
        state.options = raw(options);
    }
    state
}
