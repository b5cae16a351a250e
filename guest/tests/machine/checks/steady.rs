//! What holds of the store after every step, whatever is under way.

use std::collections::BTreeMap;

use acp_sessions_guest::storage::{Memory, Storage};
use acp_sessions_guest::store::Store;

use super::{deleted, sound, transcripts};
use crate::ground::Broke;
use crate::talk::Talk;

/// How long the log of each session was when it was last looked at.
#[derive(Debug, Default)]
pub(crate) struct Lengths(BTreeMap<String, u32>);

/// Nothing that was acknowledged is gone, nothing is doubled or out of order, what is derived agrees with what it is derived
/// from, what was deleted is not there, and no log is shorter than it was.
pub(crate) fn steady(talk: &Talk, memory: &Memory, lengths: &mut Lengths) -> Vec<Broke> {
    let mut broken = transcripts(talk, memory);
    broken.extend(sound(memory));
    broken.extend(deleted(talk, memory, &[]));
    broken.extend(lengths.grow(memory));
    broken
}

impl Lengths {
    /// Nothing but a delete takes anything out of a log.
    fn grow(&mut self, memory: &Memory) -> Vec<Broke> {
        let store = Store::new(memory);
        let is_here = |log: &String| matches!(store.session(log), Ok(Some(_)));
        let logs = memory.log_names(None, u32::MAX).unwrap_or_default();
        let now: BTreeMap<String, u32> = logs
            .into_iter()
            .filter(is_here)
            .filter_map(|log| memory.log_end(&log).ok().map(|end| (log, end)))
            .collect();
        let before = std::mem::replace(&mut self.0, now);
        let end = |log: &str| self.0.get(log).copied().unwrap_or_default();
        let shorter = before.into_iter().filter(|(log, before)| is_here(log) && end(log) < *before);
        shorter
            .map(|(log, before)| Broke::new("shorter", format!("`{log}` had {before} entries, now {}", end(&log))))
            .collect()
    }
}
