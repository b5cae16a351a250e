//! The engine's own store behind the host's trait.

use acp_sessions_guest::storage as native;
use acp_sessions_guest::storage::{Memory, Storage as _};

use crate::component::storage::{
    Durability, Entry, Error, Expectation, Host, LogEntry, LogPage, RecordPage, TextHit, TextScope, TextTerm, Write,
};

pub(super) struct Native(pub(super) Memory);

type Answer<T> = wasmtime::Result<Result<T, Error>>;

#[expect(clippy::unnecessary_wraps, reason = "it is what wasmtime expects")]
fn answer<T, U>(result: native::Result<T>, convert: impl FnOnce(T) -> U) -> Answer<U> {
    Ok(result.map(convert).map_err(|error| match error {
        native::StorageError::Conflict => Error::Conflict,
        native::StorageError::TooLarge => Error::TooLarge,
        native::StorageError::Full => Error::Full,
        native::StorageError::ReadOnly => Error::ReadOnly,
        native::StorageError::Corrupt(what) => Error::Corrupt(what),
        native::StorageError::Unavailable(what) => Error::Unavailable(what),
        native::StorageError::Unsupported => Error::Unsupported,
    }))
}

fn native_term(term: TextTerm) -> native::TextTerm {
    native::TextTerm { tokens: term.tokens, prefix: term.prefix }
}

fn native_write(write: Write) -> native::Write {
    match write {
        Write::Put(Entry { key, value }) => native::Write::Put { key, value },
        Write::Delete(key) => native::Write::Delete { key },
        Write::Append(row) => native::Write::Append { log: row.log, seq: row.seq, value: row.value },
        Write::Amend(row) => native::Write::Amend { log: row.log, seq: row.seq, value: row.value },
        Write::CutLog(cut) => native::Write::CutLog { log: cut.log, from: cut.from },
        Write::IndexText(part) => native::Write::IndexText { owner: part.owner, part: part.part, tokens: part.tokens },
        Write::DropText(cut) => native::Write::DropText { owner: cut.owner, from: cut.from },
    }
}

impl Host for Native {
    fn get(&mut self, keys: Vec<String>) -> Answer<Vec<Option<String>>> {
        answer(self.0.get(&keys), |values| values)
    }

    fn scan(&mut self, start: String, end: String, descending: bool, limit: u32, max_bytes: u32) -> Answer<RecordPage> {
        answer(self.0.scan(&start, &end, descending, native::Bounds { limit, max_bytes }), |page| {
            let entries = page.entries.into_iter().map(|entry| Entry { key: entry.key, value: entry.value });
            RecordPage { entries: entries.collect(), more: page.more }
        })
    }

    fn log_end(&mut self, log: String) -> Answer<u64> {
        answer(self.0.log_end(&log), |end| end)
    }

    fn read_log(&mut self, log: String, start: u64, limit: u32, max_bytes: u32) -> Answer<LogPage> {
        answer(self.0.read_log(&log, start, native::Bounds { limit, max_bytes }), |page| {
            let entries = page.entries.into_iter().map(|entry| LogEntry { seq: entry.seq, value: entry.value });
            LogPage { entries: entries.collect(), more: page.more }
        })
    }

    fn search_text(&mut self, term: TextTerm, after: Option<TextHit>, limit: u32) -> Answer<Vec<TextHit>> {
        let after = after.map(|hit| native::TextHit { owner: hit.owner, part: hit.part });
        answer(self.0.search_text(&native_term(term), after.as_ref(), limit), |hits| {
            hits.into_iter().map(|hit| TextHit { owner: hit.owner, part: hit.part }).collect()
        })
    }

    fn find_text(&mut self, term: TextTerm, scopes: Vec<TextScope>) -> Answer<Vec<Option<u64>>> {
        let scopes: Vec<_> =
            scopes.into_iter().map(|scope| native::TextScope { owner: scope.owner, until: scope.until }).collect();
        answer(self.0.find_text(&native_term(term), &scopes), |parts| parts)
    }

    fn commit(&mut self, expected: Vec<Expectation>, writes: Vec<Write>, durability: Durability) -> Answer<()> {
        let expected: Vec<_> = expected
            .into_iter()
            .map(|expectation| native::Expectation { key: expectation.key, value: expectation.value })
            .collect();
        let durability = match durability {
            Durability::Relaxed => native::Durability::Relaxed,
            Durability::Durable => native::Durability::Durable,
        };
        answer(self.0.commit(&expected, writes.into_iter().map(native_write).collect(), durability), |()| ())
    }
}
