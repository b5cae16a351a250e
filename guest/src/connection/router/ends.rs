//! The end of either side.

use crate::connection::answer::agent_gone;
use crate::connection::key::Key;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{Code, Outcome, RpcError};
use crate::sessions::{open_marks, refused};
use crate::storage::Storage;
use crate::transcript::Ended;

use super::agents_subscription::AgentsSubscription;
use super::stage::Stage;

impl<S: Storage, E: Environment> Router<S, E> {
    /// The client is gone: what it has open is written and marked as closed.
    pub(crate) fn client_closed(&mut self) {
        let error = RpcError::new(Code::RequestCancelled, "Request cancelled: the client has ended");
        for key in self.session_keys() {
            self.with(&key, |session, cx| {
                session.disconnect("the client has ended", &error, cx);
                session.leave(cx);
            });
        }
        if self.connection.beaten.take().is_some()
            && let Err(error) = open_marks::leave(&self.store, &self.connection.name)
        {
            self.warn(format!("the connection could not be marked as closed: {error}"));
        }
    }

    /// The agent is gone: every open request gets its answer, and what was said is kept.
    pub(crate) fn agent_closed(&mut self) {
        self.connection.agent_gone = true;
        let error = agent_gone();
        // What is no request is still answered, or passed on to nobody.
        let held = self.connection.stage.take_held();
        if self.connection.stage.is_again() {
            self.connection.stage = Stage::ready();
        }
        self.handle_released(held);
        for key in self.session_keys() {
            self.with(&key, |session, cx| session.disconnect("the agent has ended", &error, cx));
        }
        self.connection.requests.outgoing.clear();
        self.connection.requests.stale.clear();
        self.forget_discovery();
        self.connection.agents_subscription = AgentsSubscription::None;
        let open: Vec<_> = self.connection.requests.incoming.keys().cloned().collect();
        for request in open {
            self.finish(&request, Err(error.clone()));
        }
        // What was being made gets no name any more: what waited for one was about sessions that are known.
        self.release_early();
    }

    /// The agent has answered the prompt of a turn that came to its end when the client left. What it says that it has no
    /// session for, its other programs are to be told.
    pub(super) fn answered_too_late(&mut self, key: &Key, tag: &str, outcome: Outcome<'_>) {
        if let (Some(id), Outcome::Error(error)) = (key.id(), outcome)
            && Ended::with_error(error) == Ended::Refused
            && let Err(error) = refused::note(&self.store, id, tag, error, self.now())
        {
            self.warn(format!("a prompt that the agent refused could not be marked as refused: {error}"));
        }
    }
}
