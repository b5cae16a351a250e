//! The end of either side.

use serde_json::json;

use crate::connection::answer::{agent_gone, agent_not_begun, not_stored, not_stored_error};
use crate::connection::client_request::ClientRequest;
use crate::connection::effect::Waiting;
use crate::connection::handled::Handled;
use crate::connection::key::Key;
use crate::connection::live::LiveSession;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{self, Code, Outcome, RpcError};
use crate::sessions::{open_marks, refused};
use crate::storage::Storage;
use crate::transcript::Ended;

use super::agents_subscription::AgentsSubscription;
use super::relayed::Relayed;
use super::relayed_lists::RelayedLists;
use super::stage::Stage;

/// Why turns end with the client.
const CLIENT_ENDED: &str = "the client has ended";
/// Why they end with the agent.
const AGENT_ENDED: &str = "the agent has ended";
/// Why nothing is stored of a turn that ends in no session.
const DELETED: &str = "the session was deleted; nothing that was said in it is kept";

/// Of so many sessions it is said which they are.
const NAMED: usize = 5;

/// That what was said last in these sessions is lost. They are named by their ids: their titles are words of what people say in
/// them, which are not logged.
fn lost(sessions: &[Key]) -> String {
    let count = if sessions.len() == 1 { "one session".to_owned() } else { format!("{} sessions", sessions.len()) };
    let ids: Vec<&str> = sessions.iter().filter_map(Key::id).take(NAMED).collect();
    let which = if ids.is_empty() { String::new() } else { format!(": {}", ids.join(", ")) };
    let more = match sessions.len() - ids.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("what was said last in {count} could not be stored until the end, and is lost{which}{more}")
}

/// The end of a turn for this reason, as JSON.
fn because(why: &str) -> String {
    json!({ "error": { "message": why } }).to_string()
}

impl<S: Storage, E: Environment> Router<S, E> {
    /// The client is gone: what it has open is written and marked as closed.
    pub(crate) fn client_closed(&mut self) {
        let error = RpcError::new(Code::RequestCancelled, "Request cancelled: the client has ended");
        for prompt in self.connection.stage.take_held().into_iter().filter(Waiting::is_prompt) {
            self.end_held(&prompt, &because(CLIENT_ENDED), &error);
        }
        let mut unsaved = Vec::new();
        for key in self.session_keys() {
            let is_unsaved = self.with(&key, |session, cx| {
                session.end_waiting_prompts(&because(CLIENT_ENDED), &error, cx);
                session.disconnect(CLIENT_ENDED, &error, cx);
                let is_unsaved = session.is_unsaved();
                session.leave(cx);
                is_unsaved
            });
            if is_unsaved == Some(true) {
                unsaved.push(key);
            }
        }
        if !unsaved.is_empty() {
            self.warn(lost(&unsaved));
        }
        if self.connection.beaten.take().is_some()
            && let Err(error) = open_marks::leave(&self.store, &self.connection.name)
        {
            self.warn(format!("the connection could not be marked as closed: {error}"));
        }
        self.note_last_folders();
    }

    /// The agent is gone: every open request gets its answer, and what was said is kept.
    pub(crate) fn agent_closed(&mut self) {
        self.connection.agent_gone = true;
        let error = self.agent_gone();
        let mut held = self.connection.stage.take_held();
        for prompt in Waiting::take_prompts(&mut held) {
            self.end_held(&prompt, &because(AGENT_ENDED), &error);
        }
        if self.connection.stage.is_again() {
            self.connection.stage = Stage::ready();
        }
        // Other requests are still answered, and what is none is passed on to nobody.
        self.handle_released(held);
        self.end_turns_waited_for();
        for key in self.session_keys() {
            self.with(&key, |session, cx| {
                session.end_waiting_prompts(&because(AGENT_ENDED), &error, cx);
                session.disconnect(AGENT_ENDED, &error, cx);
            });
        }
        self.connection.requests.outgoing.clear();
        self.connection.requests.stale.clear();
        self.connection.relayed = Relayed::default();
        self.connection.relayed_lists = RelayedLists::default();
        self.forget_discovery();
        self.connection.agents_subscription = AgentsSubscription::None;
        let open: Vec<_> = self.connection.requests.incoming.keys().cloned().collect();
        for request in open {
            self.finish(&request, Err(error.clone()));
        }
        // What was being made gets no name any more: what waited for one was about sessions that are known.
        self.release_early();
        self.note_last_folders();
    }

    /// How requests are answered that only the agent could have answered, which is gone.
    pub(super) fn agent_gone(&self) -> RpcError {
        let connection = &self.connection;
        if connection.stage.is_initialized() {
            return agent_gone();
        }
        agent_not_begun(&self.settings.agent, connection.ended_early.as_deref(), connection.generation.0)
    }

    /// A request that waited for the connection to get on fails; a prompt is a turn of its session, if that is open, which has
    /// ended so (JSON).
    pub(super) fn end_held(&mut self, held: &Waiting, end: &str, error: &RpcError) {
        let key = held.session().map(Key::Session);
        let ended = key.and_then(|key| self.with(&key, |session, cx| session.end_waiting(held, end, error, cx)));
        if let (None, Some(request)) = (ended, &held.request) {
            self.finish(request, Err(error.clone()));
        }
    }

    /// Whoever waits for a session to close is answered behind what that has cancelled, in whichever session.
    pub(super) fn end_turns_waited_for(&mut self) {
        for key in self.session_keys() {
            self.with(&key, LiveSession::end_turns_waited_for);
        }
    }

    /// The agent has answered the prompt of a turn that came to its end when the client left, or that an instance began which
    /// was lost with the delete of its session. What the agent says that it has no session for, its other programs are to be
    /// told.
    pub(super) fn answered_too_late(
        &mut self,
        line: &str,
        request: &ClientRequest,
        key: &Key,
        tag: &str,
        outcome: Outcome<'_>,
    ) -> Handled {
        if let (Some(id), Outcome::Error(error)) = (key.id(), outcome)
            && Ended::with_error(error) == Ended::Refused
            && let Err(error) = refused::note(&self.store, id, tag, error, self.now())
        {
            self.warn(format!("a prompt that the agent refused could not be marked as refused: {error}"));
        }
        match (key.id().map(|id| self.store.is_deleted(id)), outcome) {
            (Some(Ok(true)), Outcome::Result(result)) => {
                Handled::PassAs(rpc::response(request.id(), &not_stored(result, DELETED)))
            }
            (Some(Ok(true)), Outcome::Error(error)) => {
                Handled::PassAs(rpc::splice(line, error, &not_stored_error(error, DELETED)))
            }
            _ => Handled::Pass,
        }
    }
}
