//! Sessions that an agent starts on behalf of another (unstable: `subagent_update`).

use std::collections::{BTreeMap, BTreeSet};

use crate::connection::key::Key;
use crate::connection::live::LiveSession;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::Object;
use crate::sessions::subagent::{self, Announced};
use crate::storage::Storage;

impl<S: Storage, E: Environment> Router<S, E> {
    /// The sessions that an agent started on behalf of one that is over are over too.
    pub(super) fn end_subagents(&mut self, parent: &Key) {
        let children = self.connection.sessions.iter().filter(|(_, session)| session.is_of(parent));
        for key in children.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
            self.with(&key, LiveSession::close_with_parent);
        }
    }

    /// The session is being closed: so are those that its agent started on its behalf, as far as something goes on in them.
    /// Returns in which of them a prompt is still to be answered.
    pub(super) fn close_subagents(&mut self, parent: &Key) -> BTreeSet<Key> {
        let mut behind = BTreeSet::new();
        for key in self.subagents(parent) {
            if self.with(&key, LiveSession::close_before_parent) == Some(true) {
                behind.insert(key);
            }
        }
        behind
    }

    /// The sessions that are open here and that an agent started on behalf of this one, on behalf of those, and so on.
    fn subagents(&self, of: &Key) -> Vec<Key> {
        let mut by_parent = BTreeMap::<&str, Vec<&Key>>::new();
        for (key, session) in &self.connection.sessions {
            if let Some(parent) = session.parent() {
                by_parent.entry(parent).or_default().push(key);
            }
        }
        let (mut found, mut next) = (Vec::new(), Some(of));
        let mut at = 0;
        while let Some(parent) = next {
            found.extend(parent.id().and_then(|id| by_parent.remove(id)).into_iter().flatten());
            next = found.get(at).copied();
            at += 1;
        }
        found.into_iter().cloned().collect()
    }

    /// A sub-agent's session has changed, or is over: its parent's lists say whether the user is waited for.
    pub(super) fn tell_parent_who_waits(&mut self, key: &Key, parent: String) {
        let session = self.connection.sessions.get_mut(key);
        if session.is_none_or(LiveSession::take_news_for_parent) {
            let parent = Key::Session(parent);
            let mut sessions = self.connection.sessions.values();
            let is_awaited = sessions.any(|session| session.is_of(&parent) && session.awaits_user());
            self.with(&parent, |session, cx| session.subagents_await_user(is_awaited, cx));
        }
    }

    /// Says in the lists of the parents of all that wait that the user is waited for, whatever they know of it.
    pub(super) fn tell_parents_who_waits(&mut self) {
        let waiting = self.connection.sessions.values().filter(|session| session.awaits_user());
        let parents: Vec<Key> =
            waiting.filter_map(|session| session.parent().map(|id| Key::Session(id.to_owned()))).collect();
        for parent in parents {
            self.with(&parent, |session, cx| session.subagents_await_user(true, cx));
        }
    }

    /// No prompt is open any more in this session: those that are being closed behind it go on.
    pub(super) fn prompts_answered(&mut self, key: &Key) {
        let behind = self.connection.sessions.iter().filter(|(_, session)| session.is_behind_prompts_of(key));
        for other in behind.map(|(other, _)| other.clone()).collect::<Vec<_>>() {
            self.with(&other, |session, cx| session.prompts_answered_in(key, cx));
        }
    }

    /// Whether a session is being closed, or one on behalf of which an agent started it.
    pub(super) fn is_being_closed(&self, key: &Key) -> bool {
        let (mut next, mut seen) = (Some(key.clone()), BTreeSet::new());
        while let Some(session) = next.as_ref().and_then(|key| self.connection.sessions.get(key)) {
            if session.is_closing() {
                return true;
            }
            let parent = session.parent().map(|id| Key::Session(id.to_owned()));
            next = parent.filter(|parent| seen.insert(parent.clone()));
        }
        false
    }

    pub(super) fn subagent_announced(&mut self, parent: &str, update: &str) {
        let update = Object::parse_or_empty(update);
        let Some(agent_id) = update.get_string("sessionId").filter(|id| !id.is_empty()) else { return };
        if self.connection.by_agent.contains_key(agent_id.as_str()) {
            return;
        }
        if self.check_room_for_session().is_err() {
            return self.not_recorded("very many sessions are open on this connection");
        }
        let announced = Announced {
            parent,
            agent: &self.connection.agent.name,
            agent_id: &agent_id,
            cwd: update.get_string("cwd"),
            title: update.get_text("title"),
            now: self.now(),
        };
        match subagent::announced(&self.store, &announced) {
            Ok(Some(session)) => {
                self.insert(LiveSession::of_subagent(&session, agent_id, parent.to_owned()));
            }
            // It was deleted, or its id is another's: the client sees it, and it is not recorded.
            Ok(None) => {}
            Err(error) => self.not_recorded(&error.to_string()),
        }
    }
}
