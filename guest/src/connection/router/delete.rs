//! `session/close`, `session/delete` and `session/archive`, and having the agent delete its own copy.

use crate::connection::client_request::ClientRequest;
use crate::connection::handled::{Handled, Handling};
use crate::connection::key::Key;
use crate::connection::live::LiveSession;
use crate::connection::params::{Params, Rest};
use crate::connection::put_away::{PutAway, Then, put_away};
use crate::connection::requests::Outgoing;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{Code, Outcome, RpcError};
use crate::sessions::delete;
use crate::storage::Storage;

/// How many deletes that the agent has not confirmed are asked of it again at a time.
const REPEATED: u32 = 200;

impl<S: Storage, E: Environment> Router<S, E> {
    pub(super) fn close(&mut self, request: &ClientRequest, params: &Params<'_>, then: Then) -> Handling {
        let id = params.session_id()?;
        let key = Key::Session(id.clone());
        let away = PutAway { request: request.clone(), then, rest: params.rest() };
        if self.connection.sessions.contains_key(&key) {
            let behind = self.close_subagents(&key);
            self.with(&key, |session, cx| session.close(away, behind, cx));
        } else {
            let result = self.run(|cx| put_away(&id, None, &away, cx));
            self.finish(request, result);
        }
        Ok(Handled::Done)
    }

    /// Has the agent delete what is deleted here; `rest` is what the client says to it besides. What it does not confirm is
    /// asked again another time.
    pub(super) fn delete_at_agent(&mut self, ids: &[String], rest: &Rest) {
        let can_delete = self.connection.agent.delete && !self.connection.agent_gone;
        for id in ids {
            if !can_delete {
                continue;
            }
            let asked = Outgoing::Delete { agent_id: id.clone() };
            if self.connection.requests.outgoing.values().any(|outgoing| *outgoing == asked) {
                continue;
            }
            // Another window has deleted it that is open here: from now on the agent has it no more.
            if let Some(key) = self.connection.by_agent.get(id.as_str()).cloned()
                && matches!(key.id().map(|id| self.store.session(id)), Some(Ok(None)))
            {
                self.with(&key, LiveSession::deleted);
            }
            self.run(|cx| cx.ask(asked, "session/delete", rest.naming(id)));
        }
    }

    pub(super) fn delete_answered(&mut self, agent_id: &str, outcome: Outcome<'_>) {
        let is_gone = match outcome {
            Outcome::Result(_) => true,
            Outcome::Error(error) => RpcError::read(error).code == Code::ResourceNotFound as i64,
        };
        if is_gone {
            self.connection.discovery.deleted_there();
        }
        if is_gone && let Err(error) = delete::confirmed(&self.store, &self.connection.agent.name, agent_id) {
            self.warn(format!("it could not be noted that the agent has deleted a session: {error}"));
        }
    }

    /// Asks the agent again for the deletes that it has not confirmed, without what the client said besides: that was
    /// about the moment when it asked, and is not kept.
    pub(super) fn repeat_deletes(&mut self) {
        if !self.connection.agent.delete {
            return;
        }
        match delete::pending(&self.store, &self.connection.agent.name, self.now(), REPEATED) {
            Ok(ids) => self.delete_at_agent(&ids, &Rest::default()),
            Err(error) => self.warn(format!("the deletes to be repeated could not be read: {error}")),
        }
    }
}
