//! The host's stores behind the engine's trait.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use acp_sessions::component::storage::{
    Durability, Expectation, Host, LogPage, RecordPage, StorageError, TextHit, TextHits, TextPage, TextScope, TextTerm,
    Write,
};
use acp_sessions_guest::storage::{self as native, Bounds, Storage};

use super::types;

type Answer<T> = wasmtime::Result<Result<T, StorageError>>;

/// A handle to a store of the host's. It can be lent to a component and to the engine's code as a library, at the same
/// time.
#[derive(Debug)]
pub struct Lent<S>(Arc<Mutex<S>>);

impl<S> Clone for Lent<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<S> Lent<S> {
    /// The first handle to this store.
    pub fn new(store: S) -> Self {
        Self(Arc::new(Mutex::new(store)))
    }

    /// Does something with the store itself.
    pub fn with<T>(&self, run: impl FnOnce(&mut S) -> T) -> T {
        run(&mut self.store())
    }

    fn store(&self) -> MutexGuard<'_, S> {
        // A commit is all or nothing, so a panic leaves the store as good as it was.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<S: Host> Host for Lent<S> {
    fn get(&mut self, keys: Vec<String>) -> Answer<Vec<Option<String>>> {
        self.store().get(keys)
    }

    fn scan(&mut self, start: String, end: String, descending: bool, limit: u32, max_bytes: u32) -> Answer<RecordPage> {
        self.store().scan(start, end, descending, limit, max_bytes)
    }

    fn log_end(&mut self, log: String) -> Answer<u32> {
        self.store().log_end(log)
    }

    fn read_log(&mut self, log: String, start: u32, limit: u32, max_bytes: u32) -> Answer<LogPage> {
        self.store().read_log(log, start, limit, max_bytes)
    }

    fn search_text(&mut self, term: TextTerm, after: Option<TextHit>, limit: u32) -> Answer<TextHits> {
        self.store().search_text(term, after, limit)
    }

    fn find_text(&mut self, term: TextTerm, scopes: Vec<TextScope>) -> Answer<Vec<Option<u32>>> {
        self.store().find_text(term, scopes)
    }

    fn text_owners(&mut self, after: Option<String>, limit: u32) -> Answer<Vec<String>> {
        self.store().text_owners(after, limit)
    }

    fn read_texts(&mut self, owner: String, start: u32, limit: u32, max_bytes: u32) -> Answer<TextPage> {
        self.store().read_texts(owner, start, limit, max_bytes)
    }

    fn log_names(&mut self, after: Option<String>, limit: u32) -> Answer<Vec<String>> {
        self.store().log_names(after, limit)
    }

    fn commit(&mut self, expected: Vec<Expectation>, writes: Vec<Write>, durability: Durability) -> Answer<()> {
        self.store().commit(expected, writes, durability)
    }
}

/// There is no component here that a trap could stop: it is a store that cannot be used.
fn answer<T>(answer: Answer<T>) -> native::Result<T> {
    let answer = answer.map_err(|trap| native::StorageError::Unavailable(trap.to_string()))?;
    answer.map_err(types::error_to_native)
}

impl<S: Host> Storage for Lent<S> {
    fn get(&self, keys: &[String]) -> native::Result<Vec<Option<String>>> {
        answer(self.store().get(keys.to_vec()))
    }

    fn scan(&self, start: &str, end: &str, descending: bool, bounds: Bounds) -> native::Result<native::RecordPage> {
        let page = self.store().scan(start.to_owned(), end.to_owned(), descending, bounds.limit, bounds.max_bytes);
        answer(page).map(types::records_to_native)
    }

    fn log_end(&self, log: &str) -> native::Result<u32> {
        answer(self.store().log_end(log.to_owned()))
    }

    fn read_log(&self, log: &str, start: u32, bounds: Bounds) -> native::Result<native::LogPage> {
        let page = self.store().read_log(log.to_owned(), start, bounds.limit, bounds.max_bytes);
        answer(page).map(types::log_to_native)
    }

    fn search_text(
        &self,
        term: &native::TextTerm,
        after: Option<&native::TextHit>,
        limit: u32,
    ) -> native::Result<native::TextHits> {
        let after = after.cloned().map(types::hit_to_wit);
        let hits = answer(self.store().search_text(types::term_to_wit(term), after, limit))?;
        native::TextHits::from_raw(hits.owners, hits.ends, hits.parts)
    }

    fn find_text(&self, term: &native::TextTerm, scopes: &[native::TextScope]) -> native::Result<Vec<Option<u32>>> {
        let scopes = scopes.iter().map(types::scope_to_wit).collect();
        answer(self.store().find_text(types::term_to_wit(term), scopes))
    }

    fn text_owners(&self, after: Option<&str>, limit: u32) -> native::Result<Vec<String>> {
        answer(self.store().text_owners(after.map(str::to_owned), limit))
    }

    fn read_texts(&self, owner: &str, start: u32, bounds: Bounds) -> native::Result<native::TextPage> {
        let page = self.store().read_texts(owner.to_owned(), start, bounds.limit, bounds.max_bytes);
        answer(page).map(types::texts_to_native)
    }

    fn log_names(&self, after: Option<&str>, limit: u32) -> native::Result<Vec<String>> {
        answer(self.store().log_names(after.map(str::to_owned), limit))
    }

    fn commit(
        &self,
        expected: &[native::Expectation],
        writes: Vec<native::Write>,
        durability: native::Durability,
    ) -> native::Result<()> {
        let expected = expected.iter().map(types::expectation_to_wit).collect();
        let writes = writes.into_iter().map(types::write_to_wit).collect();
        answer(self.store().commit(expected, writes, types::durability_to_wit(durability)))
    }
}
