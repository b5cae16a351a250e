//! A storage in whose calls somebody has a hand.

use acp_sessions_guest::storage::{
    Bounds, Durability, Expectation, LogPage, RecordPage, Result, Storage, StorageError, TextHit, TextHits, TextPage,
    TextScope, TextTerm, Write,
};
use serde_json::{Value, json};

/// Who has a hand in the calls of a storage.
pub(crate) trait Hook {
    /// Instead of each call but `commit`, by its name in the WIT.
    fn read<T>(&self, function: &'static str, call: impl FnOnce() -> Result<T>) -> Result<T>;

    /// Instead of each commit.
    fn commit(
        &self,
        expected: &[Expectation],
        writes: Vec<Write>,
        call: impl FnOnce(Vec<Write>) -> Result<()>,
    ) -> Result<()>;
}

/// A storage as an engine sees it.
#[derive(Debug)]
pub(crate) struct Watched<S, H> {
    pub(crate) storage: S,
    pub(crate) hook: H,
}

impl<S: Storage, H: Hook> Storage for Watched<S, H> {
    fn get(&self, keys: &[String]) -> Result<Vec<Option<String>>> {
        self.hook.read("get", || self.storage.get(keys))
    }

    fn scan(&self, start: &str, end: &str, descending: bool, bounds: Bounds) -> Result<RecordPage> {
        self.hook.read("scan", || self.storage.scan(start, end, descending, bounds))
    }

    fn log_end(&self, log: &str) -> Result<u32> {
        self.hook.read("log-end", || self.storage.log_end(log))
    }

    fn read_log(&self, log: &str, start: u32, bounds: Bounds) -> Result<LogPage> {
        self.hook.read("read-log", || self.storage.read_log(log, start, bounds))
    }

    fn search_text(&self, term: &TextTerm, after: Option<&TextHit>, limit: u32) -> Result<TextHits> {
        self.hook.read("search-text", || self.storage.search_text(term, after, limit))
    }

    fn find_text(&self, term: &TextTerm, scopes: &[TextScope]) -> Result<Vec<Option<u32>>> {
        self.hook.read("find-text", || self.storage.find_text(term, scopes))
    }

    fn text_owners(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
        self.hook.read("text-owners", || self.storage.text_owners(after, limit))
    }

    fn read_texts(&self, owner: &str, start: u32, bounds: Bounds) -> Result<TextPage> {
        self.hook.read("read-texts", || self.storage.read_texts(owner, start, bounds))
    }

    fn log_names(&self, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
        self.hook.read("log-names", || self.storage.log_names(after, limit))
    }

    fn commit(&self, expected: &[Expectation], writes: Vec<Write>, durability: Durability) -> Result<()> {
        self.hook.commit(expected, writes, |writes| self.storage.commit(expected, writes, durability))
    }
}

/// A `storage-error` of the WIT.
pub(crate) fn error_value(error: &StorageError) -> Value {
    match error {
        StorageError::Conflict => json!("conflict"),
        StorageError::TooLarge => json!("too-large"),
        StorageError::Full => json!("full"),
        StorageError::ReadOnly => json!("read-only"),
        StorageError::Corrupt(what) => json!({ "corrupt": what }),
        StorageError::Unavailable(what) => json!({ "unavailable": what }),
        StorageError::Unsupported => json!("unsupported"),
    }
}

/// The other way round. None for what is no such error.
pub(crate) fn value_error(value: &Value) -> Option<StorageError> {
    let text = |name: &str| value[name].as_str().map(str::to_owned);
    Some(match value.as_str() {
        Some("conflict") => StorageError::Conflict,
        Some("too-large") => StorageError::TooLarge,
        Some("full") => StorageError::Full,
        Some("read-only") => StorageError::ReadOnly,
        Some("unsupported") => StorageError::Unsupported,
        Some(_) => return None,
        None => match text("corrupt") {
            Some(what) => StorageError::Corrupt(what),
            None => StorageError::Unavailable(text("unavailable")?),
        },
    })
}
