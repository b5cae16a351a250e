//! The host's SQLite store, lent to the engine in machine code.

use std::cell::RefCell;

use acp_sessions_guest::storage::{self as native, StorageError};
use acp_sessions_host::component::storage::{self as host, Error, Host as _};
use acp_sessions_host::store::Sqlite;

/// A store that one engine uses.
pub(crate) struct Lent(pub(crate) RefCell<Sqlite>);

/// The outer error is for traps, of which this store has none.
fn unwrap<T>(answer: wasmtime::Result<Result<T, Error>>) -> native::Result<T> {
    let answer = answer.map_err(|trap| StorageError::Unavailable(trap.to_string()))?;
    answer.map_err(|error| match error {
        Error::Conflict => StorageError::Conflict,
        Error::TooLarge => StorageError::TooLarge,
        Error::Full => StorageError::Full,
        Error::ReadOnly => StorageError::ReadOnly,
        Error::Corrupt(what) => StorageError::Corrupt(what),
        Error::Unavailable(what) => StorageError::Unavailable(what),
        Error::Unsupported => StorageError::Unsupported,
    })
}

fn term(term: &native::TextTerm) -> host::TextTerm {
    host::TextTerm { tokens: term.tokens.clone(), prefix: term.prefix }
}

fn write(write: native::Write) -> host::Write {
    match write {
        native::Write::Put { key, value } => host::Write::Put(host::Entry { key, value }),
        native::Write::Delete { key } => host::Write::Delete(key),
        native::Write::Append { log, seq, value } => host::Write::Append(host::LogRow { log, seq, value }),
        native::Write::Amend { log, seq, value } => host::Write::Amend(host::LogRow { log, seq, value }),
        native::Write::CutLog { log, from } => host::Write::CutLog(host::LogCut { log, from }),
        native::Write::IndexText { owner, part, tokens } => {
            host::Write::IndexText(host::TextPart { owner, part, tokens })
        }
        native::Write::DropText { owner, from } => host::Write::DropText(host::TextCut { owner, from }),
    }
}

impl native::Storage for Lent {
    fn get(&self, keys: &[String]) -> native::Result<Vec<Option<String>>> {
        unwrap(self.0.borrow_mut().get(keys.to_vec()))
    }

    fn scan(
        &self,
        start: &str,
        end: &str,
        descending: bool,
        bounds: native::Bounds,
    ) -> native::Result<native::RecordPage> {
        let mut store = self.0.borrow_mut();
        let page = unwrap(store.scan(start.into(), end.into(), descending, bounds.limit, bounds.max_bytes))?;
        let entries = page.entries.into_iter().map(|entry| native::Entry { key: entry.key, value: entry.value });
        Ok(native::RecordPage { entries: entries.collect(), more: page.more })
    }

    fn log_end(&self, log: &str) -> native::Result<u64> {
        unwrap(self.0.borrow_mut().log_end(log.into()))
    }

    fn read_log(&self, log: &str, start: u64, bounds: native::Bounds) -> native::Result<native::LogPage> {
        let page = unwrap(self.0.borrow_mut().read_log(log.into(), start, bounds.limit, bounds.max_bytes))?;
        let entries = page.entries.into_iter().map(|entry| native::LogEntry { seq: entry.seq, value: entry.value });
        Ok(native::LogPage { entries: entries.collect(), more: page.more })
    }

    fn search_text(
        &self,
        wanted: &native::TextTerm,
        after: Option<&native::TextHit>,
        limit: u32,
    ) -> native::Result<Vec<native::TextHit>> {
        let after = after.map(|hit| host::TextHit { owner: hit.owner.clone(), part: hit.part });
        let hits = unwrap(self.0.borrow_mut().search_text(term(wanted), after, limit))?;
        Ok(hits.into_iter().map(|hit| native::TextHit { owner: hit.owner, part: hit.part }).collect())
    }

    fn find_text(&self, wanted: &native::TextTerm, scopes: &[native::TextScope]) -> native::Result<Vec<Option<u64>>> {
        let scope = |scope: &native::TextScope| host::TextScope { owner: scope.owner.clone(), until: scope.until };
        unwrap(self.0.borrow_mut().find_text(term(wanted), scopes.iter().map(scope).collect()))
    }

    fn commit(
        &self,
        expected: &[native::Expectation],
        writes: Vec<native::Write>,
        durability: native::Durability,
    ) -> native::Result<()> {
        let expectation = |expectation: &native::Expectation| host::Expectation {
            key: expectation.key.clone(),
            value: expectation.value.clone(),
        };
        let durability = match durability {
            native::Durability::Relaxed => host::Durability::Relaxed,
            native::Durability::Durable => host::Durability::Durable,
        };
        let writes = writes.into_iter().map(write).collect();
        unwrap(self.0.borrow_mut().commit(expected.iter().map(expectation).collect(), writes, durability))
    }
}
