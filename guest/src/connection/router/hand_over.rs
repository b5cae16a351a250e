//! Handing a connection over to a fresh instance, because a host wants memory back: an instance never gives any back. Nothing is
//! lost by that, and nobody need know of it; where anything is under way, it is not done.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::kept::{Kept, KeptSession};
use super::{Connection, Router};
use crate::connection::live::LiveSession;
use crate::environment::Environment;
use crate::storage::Storage;

/// A connection at rest, and the sessions that are open on it, by their ids.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct HandedOver {
    connection: Connection,
    sessions: Vec<(String, LiveSession)>,
}

impl HandedOver {
    /// What is among what a fresh instance is given.
    pub(super) fn read(kept: &[(String, String)]) -> Option<Self> {
        let handed_over = kept.iter().find(|(key, _)| Kept::read(key) == Some(Kept::HandedOver));
        handed_over.and_then(|(_, text)| serde_json::from_str(text).ok())
    }
}

impl<S: Storage, E: Environment> Router<S, E> {
    /// Everything that there is to know of the connection besides what the host keeps, as a text; none where something is under
    /// way. Nothing is known of it here any more then.
    pub(crate) fn hand_over(&mut self) -> Option<String> {
        let now = self.now();
        if !self.is_at_rest(now) {
            return None;
        }
        let mut connection = std::mem::replace(&mut self.connection, Connection::new(0, now));
        let sessions = std::mem::take(&mut connection.sessions).into_iter();
        let sessions = sessions.filter_map(|(key, session)| Some((key.id()?.to_owned(), session))).collect();
        serde_json::to_string(&HandedOver { connection, sessions }).ok()
    }

    /// Goes on with what another instance has handed over.
    pub(super) fn take_over(&mut self, handed_over: HandedOver, kept: &[(String, String)]) {
        let HandedOver { connection, sessions } = handed_over;
        self.connection = connection;
        for (key, _) in kept {
            if let Some(Kept::TakenBack(id)) = Kept::read(key) {
                self.connection.requests.of_agent.take_back(id);
            }
        }
        for (id, session) in sessions {
            let session = session.taken_over(id.clone(), &self.connection.states);
            let agent_id: Arc<str> = session.agent_id().clone();
            if !agent_id.is_empty() {
                self.connection.by_agent.insert(agent_id, session.key().clone());
            }
            if let Some(memo) = session.memo(&self.connection.name) {
                let given = session.given().cloned();
                self.connection.memos.insert(id, KeptSession { memo, given });
            }
            self.connection.sessions.insert(session.key().clone(), session);
        }
    }

    /// Whether nothing is under way, so that all there is to know is handed over. Each member is named here: whatever is not
    /// handed over has to be nothing.
    fn is_at_rest(&self, now: i64) -> bool {
        let Self {
            store,
            environment: _,
            settings: _,
            connection,
            outputs,
            answered,
            client_has_room,
            // A memo says so.
            in_chain: _,
        } = self;
        let Connection {
            arrivals,
            stage,
            agent_gone,
            sessions,
            relayed: _,
            relayed_lists: _,
            requests,
            // These are nothing where no request is open and nothing waits, or are found again.
            load: _,
            states: _,
            memos: _,
            by_agent: _,
            early,
            unsent,
            showing,
            to_mark,
            discovery,
            agents_states,
            awaiting_worktrees,
            subscriptions,
            told_unsaved,
            effects,
            agent,
            // All of these are handed over.
            name: _,
            clients_store: _,
            before: _,
            writes: _,
            generation: _,
            introduction: _,
            asked: _,
            needs_login: _,
            ended_early: _,
            sums: _,
            ids: _,
            disowned: _,
            folders: _,
            fetched: _,
            agents_subscription: _,
            times: _,
            beaten: _,
            warned: _,
        } = connection;
        let is_said = outputs.is_empty() && *answered == 0 && *client_has_room && effects.is_empty() && *arrivals == 0;
        // What the client has open in a layer behind over the same store is not handed over.
        let is_between = stage.is_at_rest() && !agent_gone && !agent.has_same_store;
        let is_asked = !requests.are_over(now) || !early.lines.is_empty() || unsent.is_any();
        let is_shown = showing.is_empty() && to_mark.is_none() && told_unsaved.is_none();
        let are_lists_over = discovery.is_at_rest() && awaiting_worktrees.is_empty() && subscriptions.are_none();
        let is_noted = agents_states.are_none() && !store.has_let_go();
        let is_nothing = is_said && is_between && !is_asked && is_shown && are_lists_over && is_noted;
        is_nothing && sessions.values().all(LiveSession::is_at_rest) && !self.has_more()
    }
}
