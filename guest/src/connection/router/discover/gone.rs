//! Sessions that the agent had and has no more: its list lacks them, or it says so.

use super::in_doubt::Lacking;
use super::{Discovery, Phase};
use crate::connection::key::Key;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::sessions::vanish::{self, KnownPart};
use crate::storage::{Result, Storage};
use crate::store::keys;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Looks for them, a few at a time.
    pub(super) fn sift(&mut self, behind: &str) -> Result<()> {
        let agent = self.connection.agent.name.clone();
        let Some(since) = self.connection.discovery.seen.complete_since() else {
            self.connection.discovery.phase = Phase::Done;
            return Ok(());
        };
        let KnownPart { ids, next } = vanish::known_to(&self.store, &agent, behind)?;
        for (agent_id, id) in ids {
            if self.is_open_here(&agent_id, &id) || self.connection.discovery.seen.has(&agent_id) {
                continue;
            }
            let Some(folder) = vanish::folder_if_forgettable(&self.store, &id, (&agent, &agent_id), since)? else {
                continue;
            };
            // Where a cursor counts rows, what goes at the agent meanwhile moves others past it, and nobody tells.
            let is_doubtful = self.connection.discovery.pages > 1 && self.connection.discovery.repeated == 0;
            if is_doubtful {
                self.read_again();
                return Ok(());
            }
            let Discovery { seen, in_doubt, .. } = &mut self.connection.discovery;
            if seen.has_folder(&folder) {
                vanish::forget_if_since(&self.store, &id, (&agent, &agent_id), since, self.now())?;
            } else {
                in_doubt.add(folder, Lacking { agent_id, id });
            }
        }
        self.connection.discovery.phase = next.map_or(Phase::Done, Phase::Sifting);
        if self.connection.discovery.phase == Phase::Done {
            self.ask_next_folder();
        }
        Ok(())
    }

    /// The agent has said that it has no session by this id any more.
    pub(super) fn forget_gone(&mut self, agent_id: &str) -> Result<()> {
        let agent = self.connection.agent.name.clone();
        let Some(id) = self.store.record(keys::agent_session(&agent, agent_id))? else { return Ok(()) };
        self.connection.agents_states.forget(&id);
        if !self.is_open_here(agent_id, &id) {
            vanish::forget_if_since(&self.store, &id, (&agent, agent_id), i64::MIN, self.now())?;
        }
        Ok(())
    }

    pub(super) fn is_open_here(&self, agent_id: &str, id: &str) -> bool {
        self.connection.by_agent.contains_key(agent_id)
            || self.connection.sessions.contains_key(&Key::Session(id.to_owned()))
    }
}
