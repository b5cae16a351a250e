//! Sessions that the agent had and has no more.

use super::Phase;
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
            let is_open = self.connection.by_agent.contains_key(agent_id.as_str());
            if !is_open && !self.connection.discovery.seen.has(&agent_id) {
                vanish::forget_if_since(&self.store, &id, (&agent, &agent_id), since, self.now())?;
            }
        }
        self.connection.discovery.phase = next.map_or(Phase::Done, Phase::Sifting);
        Ok(())
    }
}
