//! Which agents tell all windows one sum of what a session has cost, whoever has spent it. What an agent once did it is taken to do
//! again, in a session of which nothing tells that yet: where a window opens it before anything was told of its cost, say.

use super::{Store, keys};
use crate::storage::{Result, Storage, Write};

/// This agent has done so.
pub fn tells_one_sum(agent: &str) -> Write {
    Write::Put { key: keys::one_sum(agent), value: "1".to_owned() }
}

impl<S: Storage> Store<S> {
    /// Whether this agent is known to.
    pub fn is_told_as_one_sum(&self, agent: &str) -> Result<bool> {
        Ok(self.record(keys::one_sum(agent))?.is_some())
    }
}
