//! Sessions that an agent starts on behalf of another (unstable: `subagent_update`).

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
            title: update.get_string("title"),
            now: self.now(),
        };
        match subagent::announced(&self.store, &announced) {
            Ok(Some(session)) => {
                self.insert(LiveSession::of_subagent(session.id, agent_id, parent.to_owned()));
            }
            // It was deleted, or its id is another's: the client sees it, and it is not recorded.
            Ok(None) => {}
            Err(error) => self.not_recorded(&error.to_string()),
        }
    }
}
