//! How far a follower is with the list that it follows.

use std::collections::BTreeSet;

use crate::sessions::states::{SaidStates, States};
use crate::store::ActivityState;

/// Of so many open sessions it is known what was given of what is being done in them. In more of them that is given only
/// with what else changes.
pub(super) const MOST_OPEN: usize = 32_768;

/// How far the list was read, and what was given of what is being done in its sessions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Progress {
    /// All that stands in the indexes up to here has been read.
    pub(super) reached: u64,
    /// What was being done in sessions, as was given.
    pub(super) states: States,
    /// Those of which a page has said another thing than was given: it is given again, to whoever has the page and whoever has not.
    pub(super) doubtful: BTreeSet<String>,
}

impl Progress {
    /// A page says this of being done in sessions. Where that is not what was given, but is so again by the next look, whoever has
    /// the page would never learn of it.
    pub(super) fn note_page_given(&mut self, said: SaidStates) {
        let others = said.into_iter().filter(|(id, state)| self.states.get(id) != state.as_ref());
        let others: Vec<String> = others.map(|(id, _)| id).filter(|id| self.has_room_for(id)).collect();
        self.doubtful.extend(others);
    }

    /// This is given of what is being done in a session.
    pub(super) fn note_state(&mut self, id: &str, state: Option<ActivityState>) {
        self.doubtful.remove(id);
        match state {
            Some(state) if self.has_room_for(id) => self.states.insert(id.to_owned(), state),
            _ => self.states.remove(id),
        };
    }

    /// Whether another thing is being done in a session than was given, or a page has said so.
    pub(super) fn is_other(&self, id: &str, state: Option<ActivityState>) -> bool {
        self.states.get(id) != state.as_ref() || self.doubtful.contains(id)
    }

    /// Whether it can be known what was given of what is being done in this session.
    pub(super) fn has_room_for(&self, id: &str) -> bool {
        self.states.len() < MOST_OPEN || self.states.contains_key(id)
    }
}
