//! A layer behind this one over the same store does all there is to do, and what the client asks for passes through to it. When
//! that one ends and is started again it knows none of the client's sessions, and the client does not know that it has ended:
//! it is asked to resume those that were used last as soon as it can be, so that what other windows say in them is shown again,
//! and each session before what the client next sends for it.

use serde_json::json;

use super::kept::Kept;
use crate::connection::answer::{CANCELLED, agent_restarted};
use crate::connection::client_request::ClientRequest;
use crate::connection::handled::Handling;
use crate::connection::key::Key;
use crate::connection::live::{given_to_keep, given_where};
use crate::connection::method::Method;
use crate::connection::params::Params;
use crate::connection::requests::{Incoming, Outgoing};
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{self, Code, Object, Outcome, RpcError};
use crate::storage::Storage;

/// How many sessions are being resumed at a time that nobody has asked for: somebody may wait behind them.
const AT_A_TIME: usize = 8;

impl<S: Storage, E: Environment> Router<S, E> {
    /// A request passes to the layer behind, which answers it.
    pub(super) fn relay(
        &mut self,
        line: &str,
        request: &ClientRequest,
        method: Method,
        params: Option<&str>,
    ) -> Handling {
        let read = Params::read(params).ok();
        let session = read.as_ref().and_then(|params| params.object().get_string("sessionId"));
        if let Some(session) = &session {
            if method.closes() || method.opens() {
                self.connection.relayed.leave_out(session);
            }
            if method.closes() {
                self.cancel_relayed(session);
            }
        }
        let what = match (method, read, session) {
            (Method::List, ..) => return Ok(self.relay_list(line, request, params)),
            (Method::Subscribe, ..) => return self.relay_subscribe(line, request, params),
            (Method::Unsubscribe, ..) => return Ok(self.relay_unsubscribe(line, request, params)),
            (Method::New | Method::Fork, Some(params), _) => Incoming::Relayed { session: None, given: given(&params) },
            (Method::Load | Method::Resume, Some(params), session @ Some(_)) => {
                Incoming::Relayed { session, given: given(&params) }
            }
            (Method::Close, _, Some(session)) => Incoming::RelayedClose { session },
            (Method::Delete | Method::Archive, _, Some(session)) => {
                let line = line_to_keep(line, request, &session);
                Incoming::RelayedPutAway { session, line }
            }
            _ => Incoming::Passed,
        };
        Ok(self.pass_request(line, request, params, what))
    }

    /// The session that the layer behind has to resume before it is given this, if it has.
    pub(super) fn resumed_for(&mut self, method: Method, params: Option<&str>) -> Option<Key> {
        if !self.connection.agent.has_same_store || !method.waits_while_opening() {
            return None;
        }
        let id = Object::parse(params?)?.get_string("sessionId")?;
        if method.needs_open_session() {
            self.connection.relayed.used(&id);
            self.resume_relayed(&id);
        }
        self.connection.relayed.is_resuming(&id).then_some(Key::Session(id))
    }

    /// The layer behind is asked to resume a session that the one before it had open.
    fn resume_relayed(&mut self, id: &str) {
        let Some(given) = self.connection.relayed.begin_to_resume(id) else { return };
        // It may have been moved since.
        let session = self.store.session(id).ok().flatten();
        let given = session.map_or_else(|| given.to_owned(), |session| given_where(&session, given));
        let mut params = Object::parse_or_empty(&given);
        params.set("sessionId", json!(id).to_string());
        let params = params.to_json();
        let what = Outgoing::Relayed { session: id.to_owned() };
        self.run(|cx| cx.ask(what, "session/resume", params));
    }

    /// The layer behind was started again, and can be asked.
    pub(super) fn resume_all_relayed(&mut self) {
        self.connection.relayed.make_due();
        for session in self.connection.stage.closed_next() {
            self.connection.relayed.leave_out(&session);
        }
        for _ in 0..AT_A_TIME {
            self.resume_next_relayed();
        }
    }

    fn resume_next_relayed(&mut self) {
        if let Some(id) = self.connection.relayed.next_due() {
            self.resume_relayed(&id);
        }
    }

    /// The layer behind has opened a session for the client, or has not.
    pub(super) fn relayed_opened(&mut self, session: Option<String>, given: String, outcome: Outcome<'_>) {
        let Outcome::Result(result) = outcome else { return };
        let result = Object::parse_or_empty(result);
        let Some(id) = result.get_string("sessionId").or(session) else { return };
        // One that was open is opened with this when it is opened again.
        if self.connection.relayed.opened(id.clone(), given.clone()) {
            self.outputs.push_back(Kept::Relayed(&id).with(Some(given)));
        }
    }

    /// The layer behind has closed it, or has not: then one that it did not have open is to be heard of again.
    pub(super) fn relayed_closed(&mut self, session: &str, outcome: Outcome<'_>) {
        match outcome {
            Outcome::Result(_) => self.forget_relayed(session),
            Outcome::Error(_) => self.resume_relayed(session),
        }
    }

    /// The layer behind has ended while it closed sessions: with it they are closed, which is all there is to do where nothing else
    /// was asked for. What it was to delete or to archive, the one in its place is asked for before anything else.
    pub(super) fn close_what_was_being_closed(&mut self, how: &str) {
        let incoming = self.connection.requests.incoming.iter();
        let closing = incoming.filter(|(_, what)| what.closes_elsewhere());
        let closing: Vec<_> = closing.map(|(request, what)| (request.clone(), what.clone())).collect();
        for (request, what) in closing {
            match what {
                Incoming::RelayedClose { session } => {
                    self.forget_relayed(&session);
                    self.finish(&request, Ok("{}".to_owned()));
                }
                Incoming::RelayedPutAway { line, .. } if self.connection.stage.is_again() => {
                    self.settle(&request);
                    self.ask_again(line);
                }
                _ => self.finish(&request, Err(agent_restarted(how))),
            }
        }
    }

    /// The layer behind has resumed it, or says why it cannot, which is what whoever waits is told, if anybody does. The next is to
    /// have it resumed then, unless there is no such session any more.
    pub(super) fn relayed_resumed(&mut self, session: &str, outcome: Outcome<'_>) {
        self.relayed_answered(session, outcome);
        self.resume_next_relayed();
    }

    fn relayed_answered(&mut self, session: &str, outcome: Outcome<'_>) {
        let waiting = self.connection.relayed.resumed(session, matches!(outcome, Outcome::Result(_)));
        let Outcome::Error(error) = outcome else { return self.handle_released(waiting) };
        let error = RpcError::read(error);
        if error.code == Code::ResourceNotFound as i64 {
            self.forget_relayed(session);
        }
        for request in waiting.into_iter().filter_map(|line| line.request) {
            self.finish(&request, Err(error.clone()));
        }
    }

    /// The prompts that wait for it are answered as cancelled.
    pub(super) fn cancel_relayed(&mut self, session: &str) {
        for request in self.connection.relayed.withdraw_prompts(session) {
            self.finish(&request, Ok(CANCELLED.to_owned()));
        }
    }

    fn forget_relayed(&mut self, session: &str) {
        if let Some(waiting) = self.connection.relayed.remove(session) {
            self.outputs.push_back(Kept::Relayed(session).with(None));
            self.handle_released(waiting);
        }
    }
}

/// A request about a session, to ask it again; where it is too long, only what it asks for.
fn line_to_keep(line: &str, request: &ClientRequest, session: &str) -> String {
    if given_to_keep(line).is_some() {
        return line.to_owned();
    }
    let method = Object::parse_or_empty(line).get_string("method").unwrap_or_default();
    rpc::request(request.id(), &method, &json!({ "sessionId": session }).to_string())
}

/// What a session was opened with, to resume it with; where that is too long, only where it is.
fn given(params: &Params<'_>) -> String {
    let given = params.to_open(None);
    if given_to_keep(&given).is_some() {
        return given;
    }
    let mut short = Object::default();
    if let Some(cwd) = params.object().get_some("cwd") {
        short.set("cwd", cwd);
    }
    short.set("mcpServers", "[]");
    short.to_json()
}
