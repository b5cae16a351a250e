//! A store in memory: the second implementation of the contract, for tests and for embedders without one.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Bound;

use super::{
    Bounds, Durability, Entry, Expectation, LAST_PART, LogEntry, LogPage, RecordPage, Result, Storage, StorageError,
    Text, TextHit, TextHits, TextPage, TextScope, TextTerm, Write, next_seq,
};

/// Keeps everything in ordered maps. Not shared between threads or processes.
#[derive(Debug, Clone, Default)]
pub struct Memory {
    data: RefCell<Data>,
    without_text: bool,
    without_restore: bool,
    texts_read: Cell<u64>,
}

#[derive(Debug, Clone, Default)]
struct Data {
    records: BTreeMap<String, String>,
    logs: BTreeMap<String, BTreeMap<u32, String>>,
    texts: BTreeMap<(String, u32), String>,
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

    /// An empty store that answers `unsupported` where entries are to be put into the midst of logs.
    pub fn without_restore() -> Self {
        Self { without_restore: true, ..Self::default() }
    }

    /// An empty store but for a log that ends with this number, as if all before it had been there.
    #[cfg(test)]
    pub(crate) fn with_log_end(log: &str, end: u32) -> Self {
        let memory = Self::new();
        memory.data.borrow_mut().logs.insert(log.to_owned(), BTreeMap::from([(end, String::new())]));
        memory
    }

    /// How many records, log entries and texts there are.
    pub fn counts(&self) -> (usize, usize, usize) {
        let data = self.data.borrow();
        (data.records.len(), data.logs.values().map(BTreeMap::len).sum(), data.texts.len())
    }

    /// How many texts were read so far to find something in them: what a search costs here.
    pub fn texts_read(&self) -> u64 {
        self.texts_read.get()
    }

    fn is_in(&self, term: &TextTerm, tokens: &str) -> bool {
        self.texts_read.set(self.texts_read.get() + 1);
        term.found_in(tokens)
    }
}

impl Data {
    fn log_end(&self, log: &str) -> u32 {
        self.logs.get(log).and_then(|entries| entries.last_key_value()).map_or(0, |(seq, _)| *seq)
    }

    /// Whether every append, amend and text finds its place, given the writes before it.
    fn check_places(&self, writes: &[Write]) -> Result<()> {
        let mut ends: BTreeMap<&str, u32> = BTreeMap::new();
        for write in writes {
            let mut end_of = |log| *ends.entry(log).or_insert_with(|| self.log_end(log));
            match write {
                Write::Append { log, seq, .. } => {
                    let next = next_seq(end_of(log))?;
                    if *seq != next {
                        return Err(StorageError::Conflict);
                    }
                    ends.insert(log, next);
                }
                Write::Amend { log, seq, .. } if *seq == 0 || *seq != end_of(log) => {
                    return Err(StorageError::Conflict);
                }
                Write::Restore { log, seq, .. } if *seq == 0 || *seq > end_of(log) => {
                    return Err(StorageError::Conflict);
                }
                Write::CutLog { log, start } => {
                    let end = end_of(log).min(start.saturating_sub(1));
                    ends.insert(log, end);
                }
                Write::IndexText { part, .. } if *part > LAST_PART => return Err(StorageError::TooLarge),
                _ => {}
            }
        }
        Ok(())
    }

    fn apply(&mut self, write: Write) {
        match write {
            Write::Put { key, value } => {
                self.records.insert(key, value);
            }
            Write::Remove { key } => {
                self.records.remove(&key);
            }
            Write::Append { log, seq, value }
            | Write::Amend { log, seq, value }
            | Write::Restore { log, seq, value } => {
                self.logs.entry(log).or_default().insert(seq, value);
            }
            Write::CutLog { log, start } => {
                if let Some(entries) = self.logs.get_mut(&log) {
                    entries.split_off(&start);
                    if entries.is_empty() {
                        self.logs.remove(&log);
                    }
                }
            }
            Write::IndexText { owner, part, tokens } if tokens.is_empty() => {
                self.texts.remove(&(owner, part));
            }
            Write::IndexText { owner, part, tokens } => {
                self.texts.insert((owner, part), tokens);
            }
            Write::DropText { owner, start } => {
                self.texts.retain(|(of, part), _| *of != owner || *part < start);
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

    fn log_end(&self, log: &str) -> Result<u32> {
        Ok(self.data.borrow().log_end(log))
    }

    fn read_log(&self, log: &str, start: u32, bounds: Bounds) -> Result<LogPage> {
        let data = self.data.borrow();
        let Some(entries) = data.logs.get(log) else { return Ok(LogPage::default()) };
        let entries = entries.range(start..).map(|(seq, value)| LogEntry { seq: *seq, value: value.clone() });
        let (entries, more) = take_bounded(entries, bounds, |entry| entry.value.len());
        Ok(LogPage { entries, more })
    }

    fn search_text(&self, term: &TextTerm, after: Option<&TextHit>, limit: u32) -> Result<TextHits> {
        if self.without_text {
            return Err(StorageError::Unsupported);
        }
        let data = self.data.borrow();
        let before = after.map_or(Bound::Unbounded, |hit| Bound::Excluded((hit.owner.clone(), hit.part)));
        let found = data.texts.range((Bound::Unbounded, before)).rev().filter(|(_, tokens)| self.is_in(term, tokens));
        let mut hits = TextHits::default();
        for ((owner, part), _) in found.take(limit as usize) {
            hits.push(owner, *part)?;
        }
        Ok(hits)
    }

    fn find_text(&self, term: &TextTerm, scopes: &[TextScope]) -> Result<Vec<Option<u32>>> {
        if self.without_text {
            return Err(StorageError::Unsupported);
        }
        let data = self.data.borrow();
        let first = |scope: &TextScope| {
            data.texts
                .range((scope.owner.clone(), 0)..=(scope.owner.clone(), scope.until))
                .find(|(_, tokens)| self.is_in(term, tokens))
                .map(|((_, part), _)| *part)
        };
        Ok(scopes.iter().map(first).collect())
    }

    fn text_owners(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
        if self.without_text {
            return Err(StorageError::Unsupported);
        }
        let data = self.data.borrow();
        let start = after.map_or(Bound::Unbounded, |after| Bound::Excluded((after.to_owned(), u32::MAX)));
        let mut owners: Vec<String> = Vec::new();
        for (owner, _) in data.texts.range((start, Bound::Unbounded)).map(|(key, _)| key) {
            if owners.last() == Some(owner) {
                continue;
            }
            if owners.len() >= limit as usize {
                break;
            }
            owners.push(owner.clone());
        }
        Ok(owners)
    }

    fn read_texts(&self, owner: &str, start: u32, bounds: Bounds) -> Result<TextPage> {
        if self.without_text {
            return Err(StorageError::Unsupported);
        }
        let data = self.data.borrow();
        let texts = data.texts.range((owner.to_owned(), start)..=(owner.to_owned(), u32::MAX));
        let texts = texts.map(|((_, part), tokens)| Text { part: *part, tokens: tokens.clone() });
        let (texts, more) = take_bounded(texts, bounds, |text| text.tokens.len());
        Ok(TextPage { texts, more })
    }

    fn log_names(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
        let data = self.data.borrow();
        let behind = after.map_or(Bound::Unbounded, Bound::Excluded);
        let names = data.logs.range::<str, _>((behind, Bound::Unbounded)).map(|(name, _)| name.clone());
        Ok(names.take(limit as usize).collect())
    }

    fn commit(&self, expected: &[Expectation], writes: Vec<Write>, _durability: Durability) -> Result<()> {
        let mut data = self.data.borrow_mut();
        if expected.iter().any(|expectation| data.records.get(&expectation.key) != expectation.value.as_ref()) {
            return Err(StorageError::Conflict);
        }
        if self.without_restore && writes.iter().any(|write| matches!(write, Write::Restore { .. })) {
            return Err(StorageError::Unsupported);
        }
        data.check_places(&writes)?;
        for write in writes {
            data.apply(write);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::LAST_SEQ;

    #[test]
    fn a_log_without_a_number_left_takes_no_more() {
        let store = Memory::with_log_end("l", LAST_SEQ - 1);
        let append = |seq| Write::Append { log: "l".to_owned(), seq, value: String::new() };
        let amend = |seq| Write::Amend { log: "l".to_owned(), seq, value: "amended".to_owned() };
        let cut = |start| Write::CutLog { log: "l".to_owned(), start };
        for (writes, outcome) in [
            (vec![append(LAST_SEQ), append(u32::MAX)], Err(StorageError::TooLarge)),
            (vec![append(LAST_SEQ)], Ok(())),
            (vec![append(u32::MAX)], Err(StorageError::TooLarge)),
            (vec![append(0)], Err(StorageError::TooLarge)),
            (vec![amend(LAST_SEQ)], Ok(())),
            (vec![cut(LAST_SEQ), append(LAST_SEQ)], Ok(())),
            (vec![cut(u32::MAX)], Ok(())),
        ] {
            let said = format!("{writes:?}");
            assert_eq!(store.commit(&[], writes, Durability::Relaxed), outcome, "{said}");
        }
        assert_eq!(store.log_end("l"), Ok(LAST_SEQ));
    }
}
