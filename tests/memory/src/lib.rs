//! The guest's store in memory as a component that exports `storage`, as the engine imports it. What is in it ends with the
//! instance.

#![cfg(target_arch = "wasm32")]

mod bindings;
mod types;

use acp_sessions_guest::storage::{Bounds, Memory, Storage as _};
use bindings::exports::acp::sessions::storage::{
    Durability, Expectation, Guest, LogPage, RecordPage, StorageError, TextHit, TextHits, TextPage, TextScope,
    TextTerm, Write,
};

thread_local! {
    static MEMORY: Memory = Memory::new();
}

type Answer<T> = Result<T, StorageError>;

impl Guest for bindings::Component {
    fn get(keys: Vec<String>) -> Answer<Vec<Option<String>>> {
        MEMORY.with(|memory| memory.get(&keys)).map_err(types::error)
    }

    fn scan(start: String, end: String, descending: bool, limit: u32, max_bytes: u32) -> Answer<RecordPage> {
        let page = MEMORY.with(|memory| memory.scan(&start, &end, descending, Bounds { limit, max_bytes }));
        page.map(types::records).map_err(types::error)
    }

    fn log_end(log: String) -> Answer<u32> {
        MEMORY.with(|memory| memory.log_end(&log)).map_err(types::error)
    }

    fn read_log(log: String, start: u32, limit: u32, max_bytes: u32) -> Answer<LogPage> {
        let page = MEMORY.with(|memory| memory.read_log(&log, start, Bounds { limit, max_bytes }));
        page.map(types::log).map_err(types::error)
    }

    fn search_text(term: TextTerm, after: Option<TextHit>, limit: u32) -> Answer<TextHits> {
        let (term, after) = (types::term(term), after.map(types::hit));
        let hits = MEMORY.with(|memory| memory.search_text(&term, after.as_ref(), limit));
        hits.map(types::hits).map_err(types::error)
    }

    fn find_text(term: TextTerm, scopes: Vec<TextScope>) -> Answer<Vec<Option<u32>>> {
        let (term, scopes) = (types::term(term), types::scopes(scopes));
        MEMORY.with(|memory| memory.find_text(&term, &scopes)).map_err(types::error)
    }

    fn text_owners(after: Option<String>, limit: u32) -> Answer<Vec<String>> {
        MEMORY.with(|memory| memory.text_owners(after.as_deref(), limit)).map_err(types::error)
    }

    fn read_texts(owner: String, start: u32, limit: u32, max_bytes: u32) -> Answer<TextPage> {
        let page = MEMORY.with(|memory| memory.read_texts(&owner, start, Bounds { limit, max_bytes }));
        page.map(|page| types::texts(&owner, page)).map_err(types::error)
    }

    fn log_names(after: Option<String>, limit: u32) -> Answer<Vec<String>> {
        MEMORY.with(|memory| memory.log_names(after.as_deref(), limit)).map_err(types::error)
    }

    fn commit(expected: Vec<Expectation>, writes: Vec<Write>, durability: Durability) -> Answer<()> {
        let (expected, writes) = (types::expectations(expected), types::writes(writes));
        MEMORY.with(|memory| memory.commit(&expected, writes, types::durability(durability))).map_err(types::error)
    }
}
