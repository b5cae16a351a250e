//! Noting what the agent's own list says is being done in its sessions. It knows of its other programs, which no open mark
//! tells of; but it says so only when it is asked.

use std::collections::BTreeMap;

use crate::connection::key::Key;
use crate::connection::live::LiveSession;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::sessions::discovered::Row;
use crate::sessions::states::{AgentsWord, AgentsWords, Marked};
use crate::storage::{Result, Storage};
use crate::store::{ActivityState, Session, keys};

/// How many records are read at a time: they may be large.
const RECORDS_AT_ONCE: usize = 32;

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
        let at_work = |state: Option<ActivityState>| state.is_some_and(|state| state != ActivityState::Idle);
        let works = said.iter().zip(&sessions).filter(|((_, state), _)| at_work(*state));
        let prompts = self.prompts_of(works.filter_map(|(_, session)| session.as_ref()))?;
        let marked = match said.iter().filter(|(_, state)| state.is_some()).count() {
            0 => Marked::nothing(now),
            sessions => Marked::read_for(&self.store, now, sessions)?,
        };
        for ((_, state), session) in said.into_iter().zip(sessions) {
            match (session, state) {
                (Some(session), Some(state)) => {
                    let prompts = prompts.get(&session).copied();
                    let word = AgentsWord { state, marked: marked.of(&self.store, &session)?, prompts };
                    self.connection.agents_states.note(session, word, now);
                }
                (Some(session), None) => self.connection.agents_states.forget(&session),
                (None, _) => {}
            }
        }
        Ok(())
    }

    /// How many prompts each of these sessions has got, of those that can be read.
    fn prompts_of<'i>(&self, ids: impl Iterator<Item = &'i String>) -> Result<BTreeMap<String, u64>> {
        let keys: Vec<String> = ids.map(|id| keys::session(id)).collect();
        let mut prompts = BTreeMap::new();
        for some in keys.chunks(RECORDS_AT_ONCE) {
            let records = self.store.storage().get(some)?.into_iter().flatten();
            let sessions = records.filter_map(|text| Session::parse(&text).ok());
            prompts.extend(sessions.map(|session| (session.id, session.prompts)));
        }
        Ok(prompts)
    }

    /// What the agent has said of sessions that have got a prompt since is over, in whichever window that was: open marks tell of
    /// it only as long as that is there. Only what has changed is read, and only where the agent says that something is being done.
    fn forget_before_prompts(&mut self) -> Result<()> {
        let states = &self.connection.agents_states;
        if states.at_work().next().is_none() {
            return Ok(());
        }
        let (looked, present) = (states.looked(), self.store.revision()?);
        if looked == present {
            return Ok(());
        }
        let changed = self.store.changed_since(looked)?;
        let has_changed = |id: &String| changed.as_ref().is_none_or(|changed| changed.contains(id));
        let before: Vec<(&String, u64)> = states.at_work().filter(|(id, _)| has_changed(id)).collect();
        let now = self.prompts_of(before.iter().map(|(id, _)| *id))?;
        let is_other = |(id, prompts): &(&String, u64)| now.get(*id) != Some(prompts);
        let others: Vec<String> = before.into_iter().filter(is_other).map(|(id, _)| id.clone()).collect();
        self.connection.agents_states.prompted_again(&others, present);
        Ok(())
    }

    /// What the agent says is being done in sessions. What this connection itself is at, it knows better: the agent may have
    /// made its list before it was asked for that.
    pub(super) fn agents_words(&mut self) -> Result<AgentsWords> {
        self.forget_before_prompts()?;
        let now = self.now();
        let (open, tells_changes) = (&self.connection.sessions, self.connection.agents_subscription.is_known());
        let is_at_work = |id: &str| open.get(&Key::Session(id.to_owned())).is_some_and(LiveSession::is_at_work);
        Ok(self.connection.agents_states.believed(now, tells_changes, is_at_work))
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
