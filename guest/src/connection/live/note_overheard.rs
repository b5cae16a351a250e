//! An agent that has told a conversation as it opened it, of which nothing was made, need not be told that again.

use super::LiveSession;
use super::overheard::{Last, Overheard};
use crate::connection::cx::Cx;
use crate::connection::told::Untold;
use crate::environment::Environment;
use crate::storage::Storage;

impl LiveSession {
    /// Notes up to where the agent has told the conversation, if there is something left that may have become more since.
    pub(super) fn set_overheard(&mut self, overheard: Option<Overheard>) {
        self.overheard = overheard.filter(|overheard| overheard.last.is_some());
    }

    /// From where on it is to be told something, if what it has told may have become more since.
    pub(super) fn untold_for_sure(&self) -> Option<Untold> {
        let behind = self.overheard.map(|overheard| Untold::Place(overheard.heard));
        behind.map(|behind| behind.and(self.untold)).or(self.untold)
    }

    /// It is about to be told what it has not heard. Returns how much it has told by itself that is still as it was; where
    /// that has become more, it is to be told it.
    pub(super) fn take_overheard<S: Storage, E: Environment>(&mut self, cx: &Cx<'_, S, E>) -> Option<u64> {
        let overheard = self.overheard.take()?;
        let is_as_it_was = |last: Last| last.is_as_it_was(cx.store.storage(), self.key.id().unwrap_or_default());
        if overheard.last.is_some_and(|last| is_as_it_was(last).unwrap_or(false)) {
            return Some(overheard.told());
        }
        self.untold = Some(Untold::Place(overheard.heard).and(self.untold));
        None
    }
}
