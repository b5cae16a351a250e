//! The directories of which it is to be noted which repository they are of.

use std::collections::{BTreeSet, VecDeque};

/// How many directories a connection remembers to have asked about, and how many wait at a time.
const MOST_ASKED: usize = 4096;
const MOST_WAITING: usize = 64;
/// How long after one another the host is asked, in milliseconds: at once, and each time twice as long.
pub(super) const FIRST: i64 = 1000;
pub(super) const LAST: i64 = 16_000;

/// The directories of sessions that were opened on a connection.
#[derive(Debug, Default)]
pub(super) struct FolderNotes {
    asked: BTreeSet<String>,
    pub(super) waiting: VecDeque<Waiting>,
}

#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) cwd: String,
    pub(super) due: i64,
    /// After how long it is asked again.
    pub(super) wait: i64,
}

impl FolderNotes {
    /// A session was opened in this directory.
    pub(super) fn opened(&mut self, cwd: &str) {
        let has_room = self.asked.len() < MOST_ASKED && self.waiting.len() < MOST_WAITING;
        if has_room && self.asked.insert(cwd.to_owned()) {
            self.waiting.push_back(Waiting { cwd: cwd.to_owned(), due: 0, wait: FIRST });
        }
    }
}
