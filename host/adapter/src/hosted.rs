//! The engine's own stores behind the host's trait.

use acp_sessions::component::storage::{
    Durability, Expectation, Host, LogPage, RecordPage, StorageError, TextHit, TextHits, TextPage, TextScope, TextTerm,
    Write,
};
use acp_sessions_guest::storage::{self as native, Bounds, Storage};

use super::types;

type Answer<T> = wasmtime::Result<Result<T, StorageError>>;

/// A store of the engine's trait, to be lent to a component.
#[derive(Debug, Default, Clone)]
pub struct Hosted<S>(pub S);

/// The outer result is for traps, of which these stores have none.
#[expect(clippy::unnecessary_wraps, reason = "it is what the trait of the host's stores returns")]
fn answer<T>(result: native::Result<T>) -> Answer<T> {
    Ok(result.map_err(types::error_to_wit))
}

impl<S: Storage> Host for Hosted<S> {
    fn get(&mut self, keys: Vec<String>) -> Answer<Vec<Option<String>>> {
        answer(self.0.get(&keys))
    }

    fn scan(&mut self, start: String, end: String, descending: bool, limit: u32, max_bytes: u32) -> Answer<RecordPage> {
        let page = self.0.scan(&start, &end, descending, Bounds { limit, max_bytes });
        answer(page.map(types::records_to_wit))
    }

    fn log_end(&mut self, log: String) -> Answer<u32> {
        answer(self.0.log_end(&log))
    }

    fn read_log(&mut self, log: String, start: u32, limit: u32, max_bytes: u32) -> Answer<LogPage> {
        answer(self.0.read_log(&log, start, Bounds { limit, max_bytes }).map(types::log_to_wit))
    }

    fn search_text(&mut self, term: TextTerm, after: Option<TextHit>, limit: u32) -> Answer<TextHits> {
        let after = after.map(types::hit_to_native);
        let hits = self.0.search_text(&types::term_to_native(term), after.as_ref(), limit);
        answer(hits.map(types::hits_to_wit))
    }

    fn find_text(&mut self, term: TextTerm, scopes: Vec<TextScope>) -> Answer<Vec<Option<u32>>> {
        let scopes: Vec<_> = scopes.into_iter().map(types::scope_to_native).collect();
        answer(self.0.find_text(&types::term_to_native(term), &scopes))
    }

    fn text_owners(&mut self, after: Option<String>, limit: u32) -> Answer<Vec<String>> {
        answer(self.0.text_owners(after.as_deref(), limit))
    }

    fn read_texts(&mut self, owner: String, start: u32, limit: u32, max_bytes: u32) -> Answer<TextPage> {
        let page = self.0.read_texts(&owner, start, Bounds { limit, max_bytes });
        answer(page.map(|page| types::texts_to_wit(&owner, page)))
    }

    fn log_names(&mut self, after: Option<String>, limit: u32) -> Answer<Vec<String>> {
        answer(self.0.log_names(after.as_deref(), limit))
    }

    fn commit(&mut self, expected: Vec<Expectation>, writes: Vec<Write>, durability: Durability) -> Answer<()> {
        let expected: Vec<_> = expected.into_iter().map(types::expectation_to_native).collect();
        let writes = writes.into_iter().map(types::write_to_native).collect();
        answer(self.0.commit(&expected, writes, types::durability_to_native(durability)))
    }
}
