//! Prompts that wait are kept in the store until their turns begin; what others have left of theirs becomes a part of the
//! conversation.

use std::collections::BTreeSet;

use crate::connection::client_request::ClientRequest;
use crate::connection::effect::Waiting;
use crate::connection::key::Key;
use crate::connection::live::LiveSession;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::sessions::given_back::{self, Looker};
use crate::sessions::unsent;
use crate::storage::{Result, Storage, if_possible};
use crate::store::Store;

impl<S: Storage, E: Environment> Router<S, E> {
    /// A line waits for this session: a prompt is kept, unless it is already.
    pub(super) fn keep_unsent(&mut self, key: &Key, waiting: &Waiting) {
        let Some(request) = waiting.request.as_ref().filter(|_| waiting.is_prompt()) else { return };
        self.hand_over_unsent(key, request);
        if self.with(key, |session, cx| session.keep_unsent(waiting, cx)) == Some(true) {
            self.connection.unsent.waiting.insert(request.clone(), key.clone());
        }
    }

    /// A prompt that was kept as it waited for a session that is over is one of this session's now, which has taken its place.
    pub(super) fn hand_over_unsent(&mut self, key: &Key, request: &ClientRequest) {
        if !self.connection.sessions.contains_key(key) {
            return;
        }
        if let Some((_, unsent)) = self.connection.unsent.take_left(request) {
            self.with(key, |session, cx| session.keep_waiting(unsent, cx));
        }
    }

    /// A request has its answer, and is kept no more if it was a prompt that waited.
    pub(super) fn forget_unsent(&mut self, request: &ClientRequest) {
        let Some(key) = self.connection.unsent.waiting.remove(request) else { return };
        let kept = match self.connection.unsent.take_left(request) {
            Some((_, unsent)) => Some(unsent.key),
            None => self.with(&key, |session, _| session.forget_unsent(request)).flatten(),
        };
        if let Some(kept) = kept {
            self.connection.unsent.over.insert(kept);
            self.forget_over();
        }
        self.with(&key, LiveSession::look_at_state);
    }

    /// What the store has not taken out of it yet goes.
    pub(super) fn forget_over(&mut self) {
        match unsent::forget(&self.store, self.connection.unsent.over.iter()) {
            Ok(()) => self.connection.unsent.over.clear(),
            Err(error) => self.not_recorded(&error.to_string()),
        }
    }

    /// What was left waiting for this session by a process that is gone, or an instance that was lost, is a part of it.
    pub(super) fn give_back_unsent(&mut self, id: &str) {
        let now = self.now();
        self.look_for_left(|store, looker| given_back::give_back(store, id, looker, now));
    }

    /// What was left waiting for any session by a process that is gone, or an instance that was lost, is a part of that
    /// session.
    pub(super) fn give_back_all_unsent(&mut self, now: i64) {
        self.look_for_left(|store, looker| given_back::sweep(store, looker, now));
    }

    fn look_for_left(&mut self, look: impl FnOnce(&Store<S>, Looker<'_>) -> Result<()>) {
        let connection = &self.connection;
        let waiting = connection.sessions.values().flat_map(LiveSession::unsent_keys);
        let left = connection.unsent.left.iter().map(|(_, unsent)| &unsent.key);
        let own: BTreeSet<String> = waiting.chain(left).chain(&connection.unsent.over).cloned().collect();
        let looker = Looker { connection: Some(&connection.name), own: &own, lost: &connection.unsent.lost };
        if let Err(error) = if_possible(look(&self.store, looker)) {
            self.not_recorded(&error.to_string());
        }
    }
}
