//! The storage as it is lent to an instance: what a call asks of it is bounded.

use super::Limits;
use super::storage::{
    Durability, Expectation, Host, LogPage, RecordPage, StorageError, TextHit, TextHits, TextPage, TextScope, TextTerm,
    Write,
};

/// Of what is listed without a bound in bytes, nobody has use for more at a time.
const MOST_ITEMS: u32 = 1 << 16;

type Answer<T> = wasmtime::Result<Result<T, StorageError>>;

/// A storage, and how much of it a call has used.
pub(super) struct Lent<S> {
    storage: S,
    /// How often it may still be used.
    left: u32,
    calls: u32,
    /// Of a page, in bytes.
    most: u32,
}

impl<S> Lent<S> {
    pub(super) fn new(storage: S, limits: Limits) -> Self {
        let most = u32::try_from(limits.call_bytes).unwrap_or(u32::MAX);
        Self { storage, left: limits.storage_calls, calls: limits.storage_calls, most }
    }

    /// Another call begins.
    pub(super) fn begin_call(&mut self) {
        self.left = self.calls;
    }

    pub(super) fn storage_mut(&mut self) -> &mut S {
        &mut self.storage
    }

    pub(super) fn into_storage(self) -> S {
        self.storage
    }

    /// The storage, for one use. Too many are a trap.
    fn take(&mut self) -> wasmtime::Result<&mut S> {
        let left = self.left.checked_sub(1);
        self.left = left.ok_or_else(|| wasmtime::format_err!("one call used the storage {} times", self.calls))?;
        Ok(&mut self.storage)
    }
}

/// A page that is cut short says so: this needs no trap.
fn page(limit: u32) -> u32 {
    limit.min(MOST_ITEMS)
}

/// Fewer than were asked for would say that there are no more.
fn check(items: usize) -> wasmtime::Result<()> {
    wasmtime::ensure!(items <= MOST_ITEMS as usize, "{items} things were asked of the storage at once");
    Ok(())
}

impl<S: Host> Host for Lent<S> {
    fn get(&mut self, keys: Vec<String>) -> Answer<Vec<Option<String>>> {
        check(keys.len())?;
        self.take()?.get(keys)
    }

    fn scan(&mut self, start: String, end: String, descending: bool, limit: u32, bytes: u32) -> Answer<RecordPage> {
        let most = self.most;
        self.take()?.scan(start, end, descending, page(limit), bytes.min(most))
    }

    fn log_end(&mut self, log: String) -> Answer<u32> {
        self.take()?.log_end(log)
    }

    fn read_log(&mut self, log: String, start: u32, limit: u32, bytes: u32) -> Answer<LogPage> {
        let most = self.most;
        self.take()?.read_log(log, start, page(limit), bytes.min(most))
    }

    fn search_text(&mut self, term: TextTerm, after: Option<TextHit>, limit: u32) -> Answer<TextHits> {
        check(limit as usize)?;
        self.take()?.search_text(term, after, limit)
    }

    fn find_text(&mut self, term: TextTerm, scopes: Vec<TextScope>) -> Answer<Vec<Option<u32>>> {
        check(scopes.len())?;
        self.take()?.find_text(term, scopes)
    }

    fn text_owners(&mut self, after: Option<String>, limit: u32) -> Answer<Vec<String>> {
        check(limit as usize)?;
        self.take()?.text_owners(after, limit)
    }

    fn read_texts(&mut self, owner: String, start: u32, limit: u32, bytes: u32) -> Answer<TextPage> {
        let most = self.most;
        self.take()?.read_texts(owner, start, page(limit), bytes.min(most))
    }

    fn log_names(&mut self, after: Option<String>, limit: u32) -> Answer<Vec<String>> {
        check(limit as usize)?;
        self.take()?.log_names(after, limit)
    }

    fn commit(&mut self, expected: Vec<Expectation>, writes: Vec<Write>, durability: Durability) -> Answer<()> {
        self.take()?.commit(expected, writes, durability)
    }
}
