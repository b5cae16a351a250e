//! Who did what when, by a clock that only counts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// What was done to a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Deed {
    Created,
    Changed,
    Deleted,
}

/// A deed, from when it was asked for until it was answered.
#[derive(Debug, Clone)]
struct Entry {
    id: String,
    deed: Deed,
    begun: u64,
    answered: Option<u64>,
}

/// Shared by everybody who does something.
#[derive(Debug, Default)]
pub(crate) struct Journal {
    clock: AtomicU64,
    entries: Mutex<Vec<Entry>>,
}

impl Journal {
    /// The time; no two calls return the same.
    pub(crate) fn now(&self) -> u64 {
        self.clock.fetch_add(1, Ordering::SeqCst)
    }

    /// Does something and notes it.
    pub(crate) fn note<T>(&self, id: &str, deed: Deed, act: impl FnOnce() -> T) -> T {
        let begun = self.now();
        let place = {
            let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
            entries.push(Entry { id: id.to_owned(), deed, begun, answered: None });
            entries.len() - 1
        };
        let done = act();
        let answered = self.now();
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)[place].answered = Some(answered);
        done
    }

    /// Notes that a session has been made just now.
    pub(crate) fn note_created(&self, id: &str) {
        self.note(id, Deed::Created, || {});
    }

    /// Whether somebody has asked for its delete.
    pub(crate) fn is_to_go(&self, id: &str) -> bool {
        self.entries().iter().any(|entry| entry.id == id && entry.deed == Deed::Deleted)
    }

    fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What must be true of a list that was read from one time to another.
    pub(crate) fn expectations(&self, from: u64, until: u64) -> Expectations {
        let mut expected = Expectations::default();
        let entries = self.entries();
        let created = entries.iter().filter(|entry| entry.deed == Deed::Created);
        for id in created.filter(|entry| entry.begun < from).map(|entry| entry.id.clone()) {
            let of = || entries.iter().filter(|entry| entry.id == id);
            let begun_by = |entry: &&Entry| entry.begun < until;
            let over_by = |entry: &Entry| entry.answered.is_some_and(|answered| answered < from);
            if of().any(|entry| entry.deed == Deed::Deleted && begun_by(&entry)) {
                continue;
            }
            if of().filter(begun_by).all(over_by) {
                expected.once.insert(id);
            } else {
                expected.at_least_once.insert(id);
            }
        }
        let deleted = entries.into_iter().filter(|entry| entry.deed == Deed::Deleted);
        expected.gone_since = deleted.filter_map(|entry| Some((entry.id, entry.answered?))).collect();
        expected
    }
}

/// What a list must, and must not, show.
#[derive(Debug, Default)]
pub(crate) struct Expectations {
    /// Nothing happened to them meanwhile.
    pub(crate) once: BTreeSet<String>,
    /// Something happened to them.
    pub(crate) at_least_once: BTreeSet<String>,
    /// When the delete of each was answered.
    pub(crate) gone_since: BTreeMap<String, u64>,
}
