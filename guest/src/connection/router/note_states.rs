//! Noting what the agent's own list says is being done in its sessions. It knows of its other programs, which no open mark
//! tells of; but it says so only when it is asked.

use crate::connection::key::Key;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::sessions::discovered::Row;
use crate::sessions::open_marks::States;
use crate::storage::{Result, Storage};
use crate::store::keys;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Notes what rows that were taken in say.
    pub(super) fn note_agents_states<'r>(&mut self, rows: impl Iterator<Item = &'r Row>) -> Result<()> {
        let said: Vec<_> = rows.filter_map(|row| Some((row.agent_id.as_str(), row.state?))).collect();
        if said.is_empty() {
            return Ok(());
        }
        let agent = &self.connection.agent.name;
        let mapped: Vec<String> = said.iter().map(|(id, _)| keys::agent_session(agent, id)).collect();
        let sessions = self.store.storage().get(&mapped)?;
        let now = self.now();
        for ((_, state), session) in said.into_iter().zip(sessions) {
            if let Some(session) = session {
                self.connection.agents_states.note(session, state, now);
            }
        }
        Ok(())
    }

    /// What the agent says is being done in sessions that are not open on this connection: of those this connection knows
    /// better.
    pub(super) fn agents_states(&mut self) -> States {
        let now = self.now();
        let open = &self.connection.sessions;
        self.connection.agents_states.believed(now, |id| open.contains_key(&Key::Session(id.to_owned())))
    }

    /// Somebody looks at a list: an agent that says what is being done in its sessions is asked again, if that is some time
    /// ago.
    pub(super) fn refresh_agents_states(&mut self) {
        let now = self.now();
        if self.connection.discovery.is_read() && self.connection.agents_states.ask_again(now) {
            self.begin_discovery();
            self.connection.discovery.has_been_read();
        }
    }
}
