//! `session/cancel` and `$/cancel_request`.

use crate::connection::answer::cancelled;
use crate::connection::client_request::ClientRequest;
use crate::connection::handled::Handled;
use crate::connection::key::Key;
use crate::connection::requests::Incoming;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{self, Id, Object};
use crate::storage::Storage;

impl<S: Storage, E: Environment> Router<S, E> {
    /// The client cancels what a session is at.
    pub(super) fn cancel(&mut self, line: &str, params: Option<&str>) -> Handled {
        let session = params.and_then(Object::parse).and_then(|params| params.get_string("sessionId"));
        let Some(session) = session else { return Handled::Pass };
        self.cancel_relayed(&session);
        let key = Key::Session(session);
        let is_opening = self.with(&key, |session, cx| {
            session.cancel(cx);
            session.is_opening() && !session.is_open()
        });
        // An agent that is still opening it is at nothing that could be cancelled.
        if is_opening == Some(true) { Handled::Done } else { self.pass_to_agent(line, params) }
    }

    /// What the engine is at, or holds back, is cancelled here; all else by the agent, which knows it by the same id.
    pub(super) fn cancel_request(&mut self, line: &str, params: Option<&str>) -> Handled {
        let Some(params_given) = params.and_then(Object::parse) else { return Handled::Pass };
        let Some(given) = params_given.get("requestId") else { return Handled::Pass };
        let Some(id) = Id::parse_loosely(given) else { return Handled::Pass };
        let other = id.in_other_words().filter(|other| !self.is_clients(&id) && self.is_clients(other));
        let id = other.unwrap_or(id);
        if self.is_clients(&id) && id.as_json() != given {
            let line = rpc::splice(line, given, id.as_json());
            self.client_line(line);
            return Handled::Done;
        }
        let request = ClientRequest::new(id);
        if self.connection.requests.incoming.get(&request) != Some(&Incoming::Engine) {
            // An agent that was started again knows nothing of what the one before was asked.
            return if self.connection.stage.is_again() { Handled::Done } else { self.pass_to_agent(line, params) };
        }
        // A prompt that is taken back before the agent had it is as if it had not been sent.
        if self.connection.stage.withdraw(&request).is_some()
            || self.connection.discovery.withdraw(&request)
            || self.connection.awaiting_worktrees.withdraw(&request)
            || self.connection.relayed.withdraw(&request)
        {
            self.finish(&request, Err(cancelled()));
            return Handled::Done;
        }
        for key in self.session_keys() {
            let withdrawn = self.with(&key, |session, cx| {
                if session.withdraw(&request).is_none() {
                    return session.cancel_opening(&request, cx);
                }
                cx.finish(&request, Err(cancelled()));
                true
            });
            if withdrawn == Some(true) {
                break;
            }
        }
        Handled::Done
    }
}
