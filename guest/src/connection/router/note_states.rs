//! Noting what the agent's own list says is being done in its sessions. It knows of its other programs, which no open mark
//! tells of; but it says so only when it is asked.

use crate::connection::key::Key;
use crate::connection::live::LiveSession;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::sessions::discovered::Row;
use crate::sessions::states::{AgentsWord, AgentsWords, Marked};
use crate::storage::{Result, Storage};
use crate::store::keys;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Notes what rows that were taken in say, or say no more.
    pub(super) fn note_agents_states<'r>(&mut self, rows: impl Iterator<Item = &'r Row>) -> Result<()> {
        let are_none = self.connection.agents_states.are_none();
        let said = rows.filter(|row| row.state.is_some() || !are_none);
        let said: Vec<_> = said.map(|row| (row.agent_id.as_str(), row.state)).collect();
        if said.is_empty() {
            return Ok(());
        }
        let agent = &self.connection.agent.name;
        let mapped: Vec<String> = said.iter().map(|(id, _)| keys::agent_session(agent, id)).collect();
        let sessions = self.store.storage().get(&mapped)?;
        let now = self.now();
        let marked = match said.iter().filter(|(_, state)| state.is_some()).count() {
            0 => Marked::nothing(now),
            sessions => Marked::read_for(&self.store, now, sessions)?,
        };
        for ((_, state), session) in said.into_iter().zip(sessions) {
            match (session, state) {
                (Some(session), Some(state)) => {
                    let word = AgentsWord { state, marked: marked.of(&self.store, &session)? };
                    self.connection.agents_states.note(session, word, now);
                }
                (Some(session), None) => self.connection.agents_states.forget(&session),
                (None, _) => {}
            }
        }
        Ok(())
    }

    /// What the agent says is being done in sessions. What this connection itself is at, it knows better: the agent may have
    /// made its list before it was asked for that.
    pub(super) fn agents_words(&mut self) -> AgentsWords {
        let now = self.now();
        let (open, tells_changes) = (&self.connection.sessions, self.connection.agents_subscription.is_known());
        let is_at_work = |id: &str| open.get(&Key::Session(id.to_owned())).is_some_and(LiveSession::is_at_work);
        self.connection.agents_states.believed(now, tells_changes, is_at_work)
    }

    /// Somebody looks at a list: the agent's own is read anew, if that was done some time ago, and sooner of an agent that says
    /// what is being done in its sessions. One that tells what changes in its list has told.
    pub(super) fn refresh_agents_list(&mut self) {
        let (now, discovery) = (self.now(), &self.connection.discovery);
        if self.connection.agents_subscription.is_known() || !discovery.is_read() {
            return;
        }
        if discovery.is_old(now) | self.connection.agents_states.ask_again(now) {
            self.read_anew();
        }
    }
}
