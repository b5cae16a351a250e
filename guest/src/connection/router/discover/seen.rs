//! What an agent's list had, and how far it is complete.

use std::collections::HashSet;
use std::hash::{BuildHasher as _, RandomState};

use crate::rpc::Object;
use crate::sessions::discovered::Row;
use crate::store::directory;

/// A list of fewer rows than this is all the agent has; a longer one may be cut off.
const SHORT: usize = 20;

/// What was in the list, in little memory.
#[derive(Debug, Default)]
pub(super) struct Seen {
    hasher: RandomState,
    ids: HashSet<u64>,
    /// The folders that it has sessions of.
    folders: HashSet<u64>,
    /// Those of its pages.
    on_pages: HashSet<u64>,
    oldest: Option<i64>,
    is_dated: bool,
    pub(super) is_cut_off: bool,
    /// The agent has deleted something since the first page was asked for. Where a cursor counts rows, what stood behind
    /// it has moved up, and some of it to the wrong side of the cursor.
    pub(super) has_moved: bool,
}

impl Seen {
    /// A text as a number.
    pub(super) fn hash(&self, text: &str) -> u64 {
        self.hasher.hash_one(text)
    }

    /// Whether a row of a page is the first for its session. Of one that the agent lists twice the first row counts: otherwise
    /// the session would become the one and the other with each reading.
    pub(super) fn is_first(&mut self, row: &str) -> bool {
        let Some(agent_id) = Object::parse(row).and_then(|row| row.get_string("sessionId")) else { return true };
        let id = self.hash(&agent_id);
        self.on_pages.insert(id)
    }

    /// A row of the list.
    pub(super) fn note(&mut self, row: &Row) {
        self.is_dated = (self.ids.is_empty() || self.is_dated) && row.updated.is_some();
        self.ids.insert(self.hash(&row.agent_id));
        let folder = row.cwd.as_deref().and_then(directory::normalise);
        let folder = folder.map(|folder| self.hash(&folder));
        self.folders.extend(folder);
        self.oldest = match (self.oldest, row.updated) {
            (Some(oldest), Some(updated)) => Some(oldest.min(updated)),
            (oldest, updated) => oldest.or(updated),
        };
    }

    /// Whether the list has it.
    pub(super) fn has(&self, agent_id: &str) -> bool {
        self.ids.contains(&self.hash(agent_id))
    }

    /// Whether it has sessions of this folder (normalised).
    pub(super) fn has_folder(&self, folder: &str) -> bool {
        self.folders.contains(&self.hash(folder))
    }

    /// Since when the list is complete; `None`: it may lack anything.
    pub(super) fn complete_since(&self) -> Option<i64> {
        if self.is_cut_off {
            None
        } else if self.ids.len() < SHORT {
            Some(i64::MIN)
        } else {
            self.oldest.filter(|_| self.is_dated)
        }
    }
}
