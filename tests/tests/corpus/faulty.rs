//! A store in which things go wrong as a step of a case says.

use std::collections::BTreeMap;

use acp_sessions::component::storage::{
    Durability, Expectation, Host, LogPage, RecordPage, StorageError, TextHit, TextHits, TextPage, TextScope, TextTerm,
    Write,
};
use acp_sessions_adapter::Lent;
use acp_sessions_corpus::{Fault, Flaw};
use serde_json::Value;

type Answer<T> = wasmtime::Result<Result<T, StorageError>>;

/// The store, as an instance is lent it. What loses the instance is a trap.
pub(crate) struct Faulty<S> {
    store: Lent<S>,
    faults: Vec<Fault>,
    counts: BTreeMap<&'static str, u32>,
    /// Whether it answers `unsupported` to whatever asks for texts.
    pub(crate) without_text_search: bool,
}

impl<S> Faulty<S> {
    pub(crate) fn new(store: Lent<S>) -> Self {
        Self { store, faults: Vec::new(), counts: BTreeMap::new(), without_text_search: false }
    }

    /// From now on this goes wrong, and counting begins anew.
    pub(crate) fn arm(&mut self, faults: &[Fault]) {
        self.faults = faults.to_vec();
        self.counts.clear();
    }

    fn strike<T>(&mut self, function: &'static str, call: impl FnOnce(&mut Lent<S>) -> Answer<T>) -> Answer<T> {
        let count = self.counts.entry(function).or_default();
        *count += 1;
        let fault = self.faults.iter().find(|fault| fault.function == function && fault.nth == *count);
        match fault.map(|fault| &fault.flaw) {
            None => call(&mut self.store),
            Some(Flaw::Error(error)) => Ok(Err(storage_error(error))),
            Some(Flaw::LostBefore) => Err(lost()),
            Some(Flaw::LostAfter) => {
                call(&mut self.store)?.ok();
                Err(lost())
            }
        }
    }

    fn strike_text<T>(&mut self, function: &'static str, call: impl FnOnce(&mut Lent<S>) -> Answer<T>) -> Answer<T> {
        let is_there = !self.without_text_search;
        self.strike(function, |store| if is_there { call(store) } else { Ok(Err(StorageError::Unsupported)) })
    }
}

fn lost() -> wasmtime::Error {
    wasmtime::format_err!("the instance is to be lost")
}

fn storage_error(value: &Value) -> StorageError {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    match value.as_str() {
        Some("conflict") => StorageError::Conflict,
        Some("too-large") => StorageError::TooLarge,
        Some("full") => StorageError::Full,
        Some("read-only") => StorageError::ReadOnly,
        Some("unsupported") => StorageError::Unsupported,
        Some(other) => panic!("there is no error {other}"),
        None => match text("corrupt") {
            Some(what) => StorageError::Corrupt(what),
            None => StorageError::Unavailable(text("unavailable").expect("an error of the storage")),
        },
    }
}

impl<S: Host> Host for Faulty<S> {
    fn get(&mut self, keys: Vec<String>) -> Answer<Vec<Option<String>>> {
        self.strike("get", |store| store.get(keys))
    }

    fn scan(&mut self, start: String, end: String, descending: bool, limit: u32, bytes: u32) -> Answer<RecordPage> {
        self.strike("scan", |store| store.scan(start, end, descending, limit, bytes))
    }

    fn log_end(&mut self, log: String) -> Answer<u32> {
        self.strike("log-end", |store| Host::log_end(store, log))
    }

    fn read_log(&mut self, log: String, start: u32, limit: u32, bytes: u32) -> Answer<LogPage> {
        self.strike("read-log", |store| Host::read_log(store, log, start, limit, bytes))
    }

    fn search_text(&mut self, term: TextTerm, after: Option<TextHit>, limit: u32) -> Answer<TextHits> {
        self.strike_text("search-text", |store| Host::search_text(store, term, after, limit))
    }

    fn find_text(&mut self, term: TextTerm, scopes: Vec<TextScope>) -> Answer<Vec<Option<u32>>> {
        self.strike_text("find-text", |store| Host::find_text(store, term, scopes))
    }

    fn text_owners(&mut self, after: Option<String>, limit: u32) -> Answer<Vec<String>> {
        self.strike_text("text-owners", |store| Host::text_owners(store, after, limit))
    }

    fn read_texts(&mut self, owner: String, start: u32, limit: u32, bytes: u32) -> Answer<TextPage> {
        self.strike_text("read-texts", |store| Host::read_texts(store, owner, start, limit, bytes))
    }

    fn log_names(&mut self, after: Option<String>, limit: u32) -> Answer<Vec<String>> {
        self.strike("log-names", |store| Host::log_names(store, after, limit))
    }

    fn commit(&mut self, expected: Vec<Expectation>, writes: Vec<Write>, durability: Durability) -> Answer<()> {
        self.strike("commit", |store| Host::commit(store, expected, writes, durability))
    }
}
