//! The directories of which it is to be noted which repository they are of.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// How many directories a connection remembers to have asked about.
const MOST_ASKED: usize = 4096;
/// How many the host is asked about at a time: it finds out a few side by side.
const AT_ONCE: usize = 16;
/// For how long the host is asked each time that it says that time has passed, in milliseconds: most answers come within a few.
const AT_FIRST: i64 = 1000;
/// How long after one another it is asked then: each time twice as long.
const FIRST: i64 = 1000;
const LAST: i64 = 16_000;

/// The directories of sessions that were opened on a connection.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct FolderNotes {
    asked: BTreeSet<String>,
    waiting: Vec<Waiting>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Waiting {
    pub(super) cwd: String,
    /// When the host was first asked, if it was.
    since: Option<i64>,
    due: i64,
    /// After how long it is asked again, when it has not known for a while.
    wait: i64,
}

impl Waiting {
    /// One that is further off was put there by a clock that has been set back since.
    fn is_due(&self, now: i64) -> bool {
        !(now + 1..=now + LAST).contains(&self.due)
    }
}

impl FolderNotes {
    /// A session was opened in this directory.
    pub(super) fn opened(&mut self, cwd: &str) {
        if self.asked.len() < MOST_ASKED && self.asked.insert(cwd.to_owned()) {
            self.waiting.push(Waiting { cwd: cwd.to_owned(), since: None, due: 0, wait: FIRST });
        }
    }

    /// Those that the host is to be asked about now; what comes back behind the others then.
    pub(super) fn take_due(&mut self, now: i64) -> Vec<Waiting> {
        self.take(|waiting| waiting.is_due(now))
    }

    /// All that the host is to be asked about, whether or not it is time: the connection may be about to end.
    pub(super) fn take_last(&mut self) -> Vec<Waiting> {
        self.take(|_| true)
    }

    fn take(&mut self, is_due: impl Fn(&Waiting) -> bool) -> Vec<Waiting> {
        self.waiting.extract_if(.., |waiting| is_due(waiting)).take(AT_ONCE).collect()
    }

    /// The host does not know it yet. What it never finds out is given up.
    pub(super) fn wait_again(&mut self, mut waiting: Waiting, now: i64) {
        let asked_for = now - *waiting.since.get_or_insert(now);
        if !(0..AT_FIRST).contains(&asked_for) {
            if waiting.wait > LAST {
                return;
            }
            waiting.due = now + waiting.wait;
            waiting.wait *= 2;
        }
        self.waiting.push(waiting);
    }
}
