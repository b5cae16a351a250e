//! Prompts that wait are kept in the store until their turns begin; what others have left of theirs becomes a part of the
//! conversation.

use crate::connection::client_request::ClientRequest;
use crate::connection::effect::Waiting;
use crate::connection::key::Key;
use crate::connection::live::LiveSession;
use crate::connection::requests::Incoming;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::sessions::unsent;
use crate::storage::{Result, Storage, StorageError};

/// How long after a look at what others have left the next one is, in milliseconds.
const GIVE_BACK_EVERY: i64 = 5000;

impl<S: Storage, E: Environment> Router<S, E> {
    /// A line waits for this session: a prompt is kept.
    pub(super) fn keep_unsent(&mut self, key: &Key, waiting: &Waiting) {
        let Some(request) = waiting.request.as_ref().filter(|_| waiting.is_prompt()) else { return };
        if self.with(key, |session, cx| session.keep_unsent(waiting, cx)) == Some(true) {
            self.connection.unsent.insert(request.clone(), key.clone());
        }
    }

    /// A request has its answer, and is kept no more if it was a prompt that waited.
    pub(super) fn forget_unsent(&mut self, request: &ClientRequest) {
        if let Some(key) = self.connection.unsent.remove(request) {
            self.with(&key, |session, cx| session.forget_unsent(request, cx));
        }
    }

    /// A session is over: what waits in it is kept no more.
    pub(super) fn drop_unsent(&mut self, kept: &[String]) {
        if let Err(error) = unsent::forget(&self.store, kept) {
            self.not_recorded(&error.to_string());
        }
    }

    /// What was left waiting for this session by a process that is gone is a part of it.
    pub(super) fn give_back_unsent(&mut self, id: &str) {
        let (name, now) = (self.connection.name.clone(), self.now());
        let given_back = unsent::give_back(&self.store, id, (Some(&name), &self.sent()), now);
        self.is_given_back(given_back);
    }

    /// The same of a session that a lost instance had open. Of what has been sent since, and the store had not taken, the host has
    /// kept the prompt.
    pub(super) fn take_up_unsent(&mut self, id: &str) {
        let unstored = |what: &Incoming| match what {
            Incoming::Prompt { session, turn } if session == id => Some(turn.unstored.as_ref()?.entry.clone()),
            _ => None,
        };
        let sent: Vec<String> = self.connection.requests.incoming.values().filter_map(unstored).collect();
        match unsent::sent(&self.store, id, &sent) {
            Ok(kept) => drop(self.with(&Key::Session(id.to_owned()), |session, _| session.were_sent(kept))),
            Err(error) => self.not_recorded(&error.to_string()),
        }
        self.give_back_unsent(id);
    }

    /// The same of all sessions, if it is time to.
    pub(super) fn give_back_if_due(&mut self, now: i64) {
        // One that is longer is that of another time: the clock was set.
        if !(1..=GIVE_BACK_EVERY).contains(&(self.connection.times.unsent - now)) {
            self.connection.times.unsent = now + GIVE_BACK_EVERY;
            self.give_back_all_unsent(now);
        }
    }

    /// The same at once.
    pub(super) fn give_back_all_unsent(&mut self, now: i64) {
        let given_back = unsent::sweep(&self.store, (&self.connection.name, &self.sent()), now);
        self.is_given_back(given_back);
    }

    /// Where prompts are kept yet whose turns have begun.
    fn sent(&self) -> Vec<String> {
        self.connection.sessions.values().flat_map(LiveSession::sent).cloned().collect()
    }

    fn is_given_back(&mut self, given_back: Result<()>) {
        match given_back {
            Ok(()) | Err(StorageError::ReadOnly) => {}
            Err(error) => self.not_recorded(&error.to_string()),
        }
    }
}
