//! What the agent's own list says is being done in its sessions (draft: session list extensions, `state`). It knows of its
//! other programs, which no open mark tells of; but it says so only when it is asked.

use std::collections::BTreeMap;

use crate::connection::key::Key;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::sessions::discovered::Row;
use crate::sessions::open_marks::States;
use crate::storage::{Result, Storage};
use crate::store::{ActivityState, keys};

/// How long what it has said is believed, in milliseconds.
const BELIEVED_FOR: i64 = 30_000;
/// How old it may be before a list or a subscription has the agent asked anew.
const FRESH_FOR: i64 = 10_000;

/// Of how many sessions it is noted.
const MOST: usize = 4096;

/// What it has said, by session, and when.
#[derive(Debug, Default)]
pub(super) struct AgentsStates {
    said: BTreeMap<String, (ActivityState, i64)>,
    /// When its list was last begun to be read, of an agent that says such things.
    asked: Option<i64>,
}

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
        let states = &mut self.connection.agents_states;
        states.asked.get_or_insert(now);
        for ((_, state), session) in said.into_iter().zip(sessions) {
            if let Some(session) =
                session.filter(|session| states.said.len() < MOST || states.said.contains_key(session))
            {
                states.said.insert(session, (state, now));
            }
        }
        Ok(())
    }

    /// What the agent says is being done in sessions that are not open on this connection: of those this connection knows
    /// better.
    pub(super) fn agents_states(&mut self) -> States {
        let now = self.now();
        let is_believed = |at: i64| (at..at + BELIEVED_FOR).contains(&now);
        self.connection.agents_states.said.retain(|_, (_, at)| is_believed(*at));
        let said = self.connection.agents_states.said.iter();
        let others = said.filter(|(id, _)| !self.connection.sessions.contains_key(&Key::Session((*id).clone())));
        others.map(|(id, (state, _))| (id.clone(), *state)).collect()
    }

    /// Somebody looks at a list: an agent that says what is being done in its sessions is asked again, if that is some time
    /// ago.
    pub(super) fn refresh_agents_states(&mut self) {
        let now = self.now();
        let is_old = |asked: i64| !(asked..asked + FRESH_FOR).contains(&now);
        if self.connection.discovery.is_read() && self.connection.agents_states.asked.is_some_and(is_old) {
            self.connection.agents_states.asked = Some(now);
            self.begin_discovery();
            self.connection.discovery.has_been_read();
        }
    }
}
