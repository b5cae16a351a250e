//! Sessions that the agent's list lacks, as it does all of their folders, until the lists of these have come.

use std::collections::{BTreeMap, HashSet};

use super::seen::Seen;
use crate::connection::requests::OwnId;

/// How many sessions may be in doubt at a time; others stay in the list until it is read the next time.
const MOST_IN_DOUBT: usize = 1000;
/// In how many folders: each is a request of the agent.
const MOST_FOLDERS: usize = 32;

/// A session that the agent's list lacks.
#[derive(Debug)]
pub(super) struct Lacking {
    /// The agent's id of it.
    pub(super) agent_id: String,
    /// Ours.
    pub(super) id: String,
}

/// Sessions that the agent's list lacks, as it does all of their folders.
#[derive(Debug, Default)]
pub(super) struct InDoubt {
    pub(super) folders: BTreeMap<String, Vec<Lacking>>,
    count: usize,
    pub(super) asked: Option<FolderBeingRead>,
}

/// The folder whose list is being read.
#[derive(Debug)]
pub(super) struct FolderBeingRead {
    /// When it was begun.
    pub(super) begun: i64,
    pub(super) folder: String,
    pub(super) lacking: Vec<Lacking>,
    pub(super) seen: Seen,
    pub(super) cursors: HashSet<u64>,
    /// The request for a page of it.
    pub(super) page: OwnId,
}

impl InDoubt {
    /// Whether none is.
    pub(super) fn is_over(&self) -> bool {
        self.folders.is_empty() && self.asked.is_none()
    }

    /// A session of this folder is in doubt, if there is room.
    pub(super) fn add(&mut self, folder: String, lacking: Lacking) {
        let has_room = self.folders.contains_key(&folder) || self.folders.len() < MOST_FOLDERS;
        if has_room && self.count < MOST_IN_DOUBT {
            self.count += 1;
            self.folders.entry(folder).or_default().push(lacking);
        }
    }
}
