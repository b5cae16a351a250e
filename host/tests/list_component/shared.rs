//! One store of the host, used from both sides: lent to the component, and by the engine's own code as a library.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use acp_sessions_guest::storage as native;
use acp_sessions_host::component::storage::{
    Durability, Entry, Error, Expectation, Host, LogCut, LogPage, LogRow, RecordPage, TextCut, TextHit, TextPart,
    TextScope, TextTerm, Write,
};
use acp_sessions_host::store::Sqlite;

/// A handle to the store.
#[derive(Debug, Clone)]
pub(crate) struct Shared(Arc<Mutex<Sqlite>>);

impl Shared {
    pub(crate) fn new(store: Sqlite) -> Self {
        Self(Arc::new(Mutex::new(store)))
    }

    fn store(&self) -> MutexGuard<'_, Sqlite> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Host for Shared {
    fn get(&mut self, keys: Vec<String>) -> wasmtime::Result<Result<Vec<Option<String>>, Error>> {
        self.store().get(keys)
    }

    fn scan(
        &mut self,
        start: String,
        end: String,
        descending: bool,
        limit: u32,
        max_bytes: u32,
    ) -> wasmtime::Result<Result<RecordPage, Error>> {
        self.store().scan(start, end, descending, limit, max_bytes)
    }

    fn log_end(&mut self, log: String) -> wasmtime::Result<Result<u64, Error>> {
        self.store().log_end(log)
    }

    fn read_log(
        &mut self,
        log: String,
        start: u64,
        limit: u32,
        max_bytes: u32,
    ) -> wasmtime::Result<Result<LogPage, Error>> {
        self.store().read_log(log, start, limit, max_bytes)
    }

    fn search_text(
        &mut self,
        term: TextTerm,
        after: Option<TextHit>,
        limit: u32,
    ) -> wasmtime::Result<Result<Vec<TextHit>, Error>> {
        self.store().search_text(term, after, limit)
    }

    fn find_text(
        &mut self,
        term: TextTerm,
        scopes: Vec<TextScope>,
    ) -> wasmtime::Result<Result<Vec<Option<u64>>, Error>> {
        self.store().find_text(term, scopes)
    }

    fn commit(
        &mut self,
        expected: Vec<Expectation>,
        writes: Vec<Write>,
        durability: Durability,
    ) -> wasmtime::Result<Result<(), Error>> {
        self.store().commit(expected, writes, durability)
    }
}

/// What the engine's storage trait makes of an answer of the host's.
fn answer<T>(answer: wasmtime::Result<Result<T, Error>>) -> native::Result<T> {
    answer.expect("this store does not trap").map_err(|error| match error {
        Error::Conflict => native::StorageError::Conflict,
        Error::TooLarge => native::StorageError::TooLarge,
        Error::Full => native::StorageError::Full,
        Error::ReadOnly => native::StorageError::ReadOnly,
        Error::Corrupt(what) => native::StorageError::Corrupt(what),
        Error::Unavailable(what) => native::StorageError::Unavailable(what),
        Error::Unsupported => native::StorageError::Unsupported,
    })
}

fn term(term: &native::TextTerm) -> TextTerm {
    TextTerm { tokens: term.tokens.clone(), prefix: term.prefix }
}

fn write(write: native::Write) -> Write {
    match write {
        native::Write::Put { key, value } => Write::Put(Entry { key, value }),
        native::Write::Delete { key } => Write::Delete(key),
        native::Write::Append { log, seq, value } => Write::Append(LogRow { log, seq, value }),
        native::Write::Amend { log, seq, value } => Write::Amend(LogRow { log, seq, value }),
        native::Write::CutLog { log, from } => Write::CutLog(LogCut { log, from }),
        native::Write::IndexText { owner, part, tokens } => Write::IndexText(TextPart { owner, part, tokens }),
        native::Write::DropText { owner, from } => Write::DropText(TextCut { owner, from }),
    }
}

impl native::Storage for Shared {
    fn get(&self, keys: &[String]) -> native::Result<Vec<Option<String>>> {
        answer(self.store().get(keys.to_vec()))
    }

    fn scan(
        &self,
        start: &str,
        end: &str,
        descending: bool,
        bounds: native::Bounds,
    ) -> native::Result<native::RecordPage> {
        let page = self.store().scan(start.to_owned(), end.to_owned(), descending, bounds.limit, bounds.max_bytes);
        let page = answer(page)?;
        let entries = page.entries.into_iter().map(|entry| native::Entry { key: entry.key, value: entry.value });
        Ok(native::RecordPage { entries: entries.collect(), more: page.more })
    }

    fn log_end(&self, log: &str) -> native::Result<u64> {
        answer(self.store().log_end(log.to_owned()))
    }

    fn read_log(&self, log: &str, start: u64, bounds: native::Bounds) -> native::Result<native::LogPage> {
        let page = answer(self.store().read_log(log.to_owned(), start, bounds.limit, bounds.max_bytes))?;
        let entries = page.entries.into_iter().map(|entry| native::LogEntry { seq: entry.seq, value: entry.value });
        Ok(native::LogPage { entries: entries.collect(), more: page.more })
    }

    fn search_text(
        &self,
        looked_for: &native::TextTerm,
        after: Option<&native::TextHit>,
        limit: u32,
    ) -> native::Result<Vec<native::TextHit>> {
        let after = after.map(|hit| TextHit { owner: hit.owner.clone(), part: hit.part });
        let hits = answer(self.store().search_text(term(looked_for), after, limit))?;
        Ok(hits.into_iter().map(|hit| native::TextHit { owner: hit.owner, part: hit.part }).collect())
    }

    fn find_text(
        &self,
        looked_for: &native::TextTerm,
        scopes: &[native::TextScope],
    ) -> native::Result<Vec<Option<u64>>> {
        let scope = |scope: &native::TextScope| TextScope { owner: scope.owner.clone(), until: scope.until };
        answer(self.store().find_text(term(looked_for), scopes.iter().map(scope).collect()))
    }

    fn commit(
        &self,
        expected: &[native::Expectation],
        writes: Vec<native::Write>,
        durability: native::Durability,
    ) -> native::Result<()> {
        let expectation = |expectation: &native::Expectation| Expectation {
            key: expectation.key.clone(),
            value: expectation.value.clone(),
        };
        let durability = match durability {
            native::Durability::Relaxed => Durability::Relaxed,
            native::Durability::Durable => Durability::Durable,
        };
        let expected = expected.iter().map(expectation).collect();
        answer(self.store().commit(expected, writes.into_iter().map(write).collect(), durability))
    }
}
