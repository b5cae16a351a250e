//! `session/new`: the agent makes it, the layer stores it before the client learns of it.

use serde_json::json;

use crate::connection::answer::result_of;
use crate::connection::client_request::ClientRequest;
use crate::connection::handled::{Handled, Handling};
use crate::connection::live::{LiveSession, given_to_keep};
use crate::connection::params::Params;
use crate::connection::requests::Incoming;
use crate::connection::restore::{note_beside, state_given};
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{self, Code, Object, Outcome, RpcError};
use crate::sessions::{create, open_marks};
use crate::storage::{Storage, Write};
use crate::store::{ActivityState, Session, State, keys};

impl<S: Storage, E: Environment> Router<S, E> {
    pub(super) fn new_session(&mut self, request: &ClientRequest, params: &Params<'_>) -> Handling {
        self.check_room_for_session()?;
        let cwd = params.cwd()?;
        params.check_mcp_servers(true)?;
        let directories = params.additional_directories()?;
        let given = given_to_keep(&params.to_open(None)).map(str::to_owned);
        // Where it cannot be read, what the agent's list tells of the session before its answer is another one.
        let asked_at = self.store.revision().ok();
        self.expect(request, Incoming::New { cwd, directories, given, asked_at });
        Ok(Handled::Pass)
    }

    pub(super) fn new_session_made(
        &mut self,
        line: &str,
        (cwd, directories): (String, Vec<String>),
        given: Option<&str>,
        asked_at: Option<u64>,
        outcome: Outcome<'_>,
    ) -> Handling {
        let Outcome::Result(_) = outcome else { return Ok(Handled::Pass) };
        let object = Object::parse_or_empty(result_of(&outcome)?);
        let Some(agent_id) = object.get_string("sessionId").filter(|id| !id.is_empty()) else {
            return Err(RpcError::new(Code::InternalError, "Internal error: the agent's new session has no id"));
        };
        if agent_id.len() > keys::LONGEST_ID {
            let message =
                format!("Internal error: the agent's new session has an id of more than {} bytes", keys::LONGEST_ID);
            return Err(RpcError::new(Code::InternalError, message));
        }
        self.set_needs_login(false);
        let mut state = state_given(&object, State::default());
        note_beside(&object, &mut state, &self.connection.agent.name, true);
        for value in state.bound() {
            self.warn(format!("`{value}` of a new session is too long to be kept as part of its state"));
        }
        // A client may have guessed it, and asked for what it is not yet: that is another session.
        let is_guessed = self.connection.by_agent.contains_key(agent_id.as_str());
        let wanted_id = if is_guessed { String::new() } else { agent_id.clone() };
        let mut session = Session::new(wanted_id, cwd, self.now());
        session.directories = directories;
        session.give_to(&self.connection.agent.name, &agent_id, 0);
        let text = state.to_text();
        let name = self.connection.name.clone();
        self.cx().beat()?;
        let asked_at = asked_at.filter(|_| !is_guessed);
        let session = create::create_with(&self.store, &self.environment, &session, asked_at, |id| {
            Ok(vec![
                Write::Put { key: keys::state(id), value: text.clone() },
                open_marks::mark(id, &name, ActivityState::Idle),
            ])
        })?;
        let handled = if session.id == agent_id {
            Handled::Pass
        } else {
            let id = json!(session.id.as_str()).to_string();
            // The members are borrowed from the outcome, which is borrowed from the line.
            Handled::PassAs(rpc::splice(line, object.get("sessionId").unwrap_or_default(), &id))
        };
        let mut opened = LiveSession::open(session.id, agent_id, state, None);
        opened.set_marked(name);
        opened.set_given(given);
        self.connection.folders.opened(&session.cwd);
        let key = opened.key().clone();
        self.insert(opened);
        self.with(&key, |session, cx| {
            session.hold_state(text.len(), cx);
            session.begins_log(cx);
            session.begins_count(cx);
        });
        Ok(handled)
    }
}
