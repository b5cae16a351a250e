//! What waits to be written, and what becomes of it when it is more than memory should hold.

use std::collections::VecDeque;

use serde_json::json;

use super::run::Row;
use crate::storage::StorageError;
use crate::transcript::entry::{Entry, Kind};

/// How much may wait while the store cannot be written.
pub(super) const LIMIT: usize = 8 * 1024 * 1024;

/// What was dropped.
#[derive(Debug)]
struct Gap {
    time: i64,
    entries: u64,
    reason: String,
}

/// Closed rows, in order.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    rows: VecDeque<Row>,
    bytes: usize,
    /// Stands before all rows.
    gap: Option<Gap>,
    /// Why the last attempt to write failed, if it did.
    failure: Option<String>,
}

impl Backlog {
    pub(super) fn push(&mut self, row: Row) {
        self.bytes += row.bytes();
        self.rows.push_back(row);
        self.bound();
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.gap.is_none()
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether rows were dropped, and the entry that says so is not in the store yet.
    pub(super) fn has_gap(&self) -> bool {
        self.gap.is_some()
    }

    /// The size of all rows.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn rows(&self) -> impl ExactSizeIterator<Item = &Row> {
        self.rows.iter()
    }

    /// The entry that says what is missing.
    pub(super) fn gap(&self) -> Option<String> {
        let gap = self.gap.as_ref()?;
        let json = json!({ "reason": gap.reason, "entries": gap.entries }).to_string();
        Some(Entry::text(Kind::Gap, gap.time, &json))
    }

    /// The first rows are in the store, and what stands before them.
    pub(super) fn written(&mut self, rows: usize) {
        self.bytes -= self.rows.drain(..rows).map(|row| row.bytes()).sum::<usize>();
        self.gap = None;
        self.failure = None;
    }

    /// Whether the store did not take what it was last given.
    pub(super) fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// The store did not take it.
    pub(super) fn failed(&mut self, error: &StorageError) {
        self.failure = Some(error.to_string());
        self.bound();
    }

    /// Gives the first row up.
    pub(super) fn give_up_first(&mut self, reason: &str) {
        if let Some(row) = self.rows.pop_front() {
            self.bytes -= row.bytes();
            let gap = self.gap.get_or_insert_with(|| Gap { time: row.time, entries: 0, reason: String::new() });
            gap.entries += 1;
            reason.clone_into(&mut gap.reason);
        }
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    /// Somebody else has written to the log: what stood last does so no more, so the rest of a run becomes a row of
    /// its own.
    pub(super) fn lose_places(&mut self) {
        let Some(first) = self.rows.front_mut() else { return };
        if first.amends.is_some()
            && let Some(mut tail) = first.tail.take()
        {
            self.bytes -= first.bytes();
            *first = tail.row(first.tokens.is_some());
            self.bytes += first.bytes();
        }
    }

    /// Of each row only this stays, which is made of its text.
    pub(super) fn reduce(&mut self, mut rest: impl FnMut(&str) -> Option<String>) {
        for row in std::mem::take(&mut self.rows) {
            self.bytes -= row.bytes();
            let Some(text) = rest(&row.text) else { continue };
            let row = if text == row.text { row } else { Row { text, tokens: None, ..row } };
            self.bytes += row.bytes();
            self.rows.push_back(row);
        }
    }

    /// Drops the oldest rows while too much waits. A store that works takes everything, however much comes at once;
    /// and what came last is kept even if it is larger than all that may wait.
    fn bound(&mut self) {
        let Some(reason) = self.failure.clone() else { return };
        while self.bytes > LIMIT && self.rows.len() > 1 {
            self.give_up_first(&reason);
        }
    }
}
