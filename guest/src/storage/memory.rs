//! A store in memory: the second implementation of the contract, for tests and for embedders without one.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ops::Bound;

use super::{
    Bounds, Durability, Entry, Expectation, LogEntry, LogPage, RecordPage, Result, Storage, StorageError, TextHit,
    TextScope, TextTerm, Write,
};

/// Keeps everything in ordered maps. Not shared between threads or processes.
#[derive(Debug, Default)]
pub struct Memory {
    data: RefCell<Data>,
    without_text: bool,
}

#[derive(Debug, Default)]
struct Data {
    records: BTreeMap<String, String>,
    logs: BTreeMap<String, BTreeMap<u64, String>>,
    texts: BTreeMap<(String, u64), String>,
}

impl Memory {
    /// An empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty store that answers `unsupported` to every text search.
    pub fn without_text_search() -> Self {
        Self { without_text: true, ..Self::default() }
    }

    /// How many records, log entries and texts there are.
    pub fn counts(&self) -> (usize, usize, usize) {
        let data = self.data.borrow();
        (data.records.len(), data.logs.values().map(BTreeMap::len).sum(), data.texts.len())
    }
}

impl Data {
    fn log_end(&self, log: &str) -> u64 {
        self.logs.get(log).and_then(|entries| entries.last_key_value()).map_or(0, |(seq, _)| *seq)
    }

    /// Whether every append and amend finds its place, given the writes before it.
    fn places_hold(&self, writes: &[Write]) -> bool {
        let mut ends: BTreeMap<&str, u64> = BTreeMap::new();
        writes.iter().all(|write| match write {
            Write::Append { log, seq, .. } => {
                let end = ends.entry(log).or_insert_with(|| self.log_end(log));
                *end += 1;
                *seq == *end
            }
            Write::Amend { log, seq, .. } => *seq > 0 && *seq == *ends.entry(log).or_insert_with(|| self.log_end(log)),
            Write::CutLog { log, from } => {
                let end = ends.entry(log).or_insert_with(|| self.log_end(log));
                *end = (*end).min(from.saturating_sub(1));
                true
            }
            _ => true,
        })
    }

    fn apply(&mut self, write: Write) {
        match write {
            Write::Put { key, value } => {
                self.records.insert(key, value);
            }
            Write::Delete { key } => {
                self.records.remove(&key);
            }
            Write::Append { log, seq, value } | Write::Amend { log, seq, value } => {
                self.logs.entry(log).or_default().insert(seq, value);
            }
            Write::CutLog { log, from } => {
                if let Some(entries) = self.logs.get_mut(&log) {
                    entries.split_off(&from);
                    if entries.is_empty() {
                        self.logs.remove(&log);
                    }
                }
            }
            Write::IndexText { owner, part, tokens } => {
                self.texts.insert((owner, part), tokens);
            }
            Write::DropText { owner, from } => {
                self.texts.retain(|(of, part), _| *of != owner || *part < from);
            }
        }
    }
}

impl TextTerm {
    /// Whether these tokens, separated by single spaces, hold the term.
    fn found_in(&self, tokens: &str) -> bool {
        let tokens: Vec<&str> = tokens.split(' ').collect();
        tokens.windows(self.tokens.len().max(1)).any(|window| {
            window.iter().zip(&self.tokens).enumerate().all(|(at, (have, want))| {
                if self.prefix && at + 1 == self.tokens.len() { have.starts_with(want.as_str()) } else { have == want }
            })
        })
    }
}

/// Takes entries until a bound is reached; says whether any were left.
fn take_bounded<T>(entries: impl Iterator<Item = T>, bounds: Bounds, size: impl Fn(&T) -> usize) -> (Vec<T>, bool) {
    let mut taken = Vec::new();
    let mut bytes = 0;
    for entry in entries {
        let full = taken.len() >= bounds.limit as usize || bytes + size(&entry) > bounds.max_bytes as usize;
        if full && !taken.is_empty() {
            return (taken, true);
        }
        bytes += size(&entry);
        taken.push(entry);
    }
    (taken, false)
}

impl Storage for Memory {
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>> {
        let data = self.data.borrow();
        Ok(keys.iter().map(|key| data.records.get(key).cloned()).collect())
    }

    fn scan(&self, start: &str, end: &str, descending: bool, bounds: Bounds) -> Result<RecordPage> {
        if start >= end {
            return Ok(RecordPage::default());
        }
        let data = self.data.borrow();
        let range = data.records.range::<str, _>((Bound::Included(start), Bound::Excluded(end)));
        let entry = |(key, value): (&String, &String)| Entry { key: key.clone(), value: value.clone() };
        let size = |entry: &Entry| entry.key.len() + entry.value.len();
        let (entries, more) = if descending {
            take_bounded(range.rev().map(entry), bounds, size)
        } else {
            take_bounded(range.map(entry), bounds, size)
        };
        Ok(RecordPage { entries, more })
    }

    fn log_end(&self, log: &str) -> Result<u64> {
        Ok(self.data.borrow().log_end(log))
    }

    fn read_log(&self, log: &str, start: u64, bounds: Bounds) -> Result<LogPage> {
        let data = self.data.borrow();
        let Some(entries) = data.logs.get(log) else { return Ok(LogPage::default()) };
        let entries = entries.range(start..).map(|(seq, value)| LogEntry { seq: *seq, value: value.clone() });
        let (entries, more) = take_bounded(entries, bounds, |entry| entry.value.len());
        Ok(LogPage { entries, more })
    }

    fn search_text(&self, term: &TextTerm, after: Option<&TextHit>, limit: u32) -> Result<Vec<TextHit>> {
        if self.without_text {
            return Err(StorageError::Unsupported);
        }
        let data = self.data.borrow();
        let before = after.map_or(Bound::Unbounded, |hit| Bound::Excluded((hit.owner.clone(), hit.part)));
        Ok(data
            .texts
            .range((Bound::Unbounded, before))
            .rev()
            .filter(|(_, tokens)| term.found_in(tokens))
            .map(|((owner, part), _)| TextHit { owner: owner.clone(), part: *part })
            .take(limit as usize)
            .collect())
    }

    fn find_text(&self, term: &TextTerm, scopes: &[TextScope]) -> Result<Vec<Option<u64>>> {
        if self.without_text {
            return Err(StorageError::Unsupported);
        }
        let data = self.data.borrow();
        let first = |scope: &TextScope| {
            data.texts
                .range((scope.owner.clone(), 0)..=(scope.owner.clone(), scope.until))
                .find(|(_, tokens)| term.found_in(tokens))
                .map(|((_, part), _)| *part)
        };
        Ok(scopes.iter().map(first).collect())
    }

    fn commit(&self, expected: &[Expectation], writes: Vec<Write>, _durability: Durability) -> Result<()> {
        let mut data = self.data.borrow_mut();
        if expected.iter().any(|expectation| data.records.get(&expectation.key) != expectation.value.as_ref()) {
            return Err(StorageError::Conflict);
        }
        if !data.places_hold(&writes) {
            return Err(StorageError::Conflict);
        }
        for write in writes {
            data.apply(write);
        }
        Ok(())
    }
}
