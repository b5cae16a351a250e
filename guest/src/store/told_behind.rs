//! Which agents tell all that they have of a conversation behind their answer to a load. What an agent once did it is taken to do
//! again: nothing else tells its replay from what it says for the first time.

use super::{Store, keys};
use crate::storage::{Durability, Result, Storage, Write};

impl<S: Storage> Store<S> {
    /// Whether this agent is known to.
    pub fn is_told_behind(&self, agent: &str) -> Result<bool> {
        Ok(self.record(keys::told_behind(agent))?.is_some())
    }

    /// It has done so; that is written once.
    pub fn note_told_behind(&self, agent: &str) -> Result<()> {
        if self.is_told_behind(agent)? {
            return Ok(());
        }
        let noted = Write::Put { key: keys::told_behind(agent), value: "1".to_owned() };
        self.commit(&[], vec![noted], Durability::Relaxed)
    }
}
