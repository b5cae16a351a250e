//! Sessions that the agent had and has no more.

use super::Phase;
use crate::connection::key::Key;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::sessions::vanish::{self, KnownPart};
use crate::storage::{Result, Storage};

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
            let is_open = self.connection.by_agent.contains_key(agent_id.as_str())
                || self.connection.sessions.contains_key(&Key::Session(id.clone()));
            if is_open || self.connection.discovery.seen.has(&agent_id) {
                continue;
            }
            // Where a cursor counts rows, what goes at the agent meanwhile moves others past it, and nobody tells.
            let is_doubtful = self.connection.discovery.pages > 1 && self.connection.discovery.repeated == 0;
            if !is_doubtful {
                vanish::forget_if_since(&self.store, &id, (&agent, &agent_id), since, self.now())?;
            } else if vanish::is_forgettable(&self.store, &id, (&agent, &agent_id), since)? {
                self.read_again();
                return Ok(());
            }
        }
        self.connection.discovery.phase = next.map_or(Phase::Done, Phase::Sifting);
        Ok(())
    }
}
