//! The storage import as the engine's trait.

use super::acp::sessions::storage as wit;
use crate::storage as native;

/// The storage that the host lends.
#[derive(Debug, Clone, Copy)]
pub(super) struct HostStorage;

fn from_error(error: wit::StorageError) -> native::StorageError {
    match error {
        wit::StorageError::Conflict => native::StorageError::Conflict,
        wit::StorageError::TooLarge => native::StorageError::TooLarge,
        wit::StorageError::Full => native::StorageError::Full,
        wit::StorageError::ReadOnly => native::StorageError::ReadOnly,
        wit::StorageError::Corrupt(what) => native::StorageError::Corrupt(what),
        wit::StorageError::Unavailable(what) => native::StorageError::Unavailable(what),
        wit::StorageError::Unsupported => native::StorageError::Unsupported,
    }
}

fn to_term(term: &native::TextTerm) -> wit::TextTerm {
    wit::TextTerm { tokens: term.tokens.clone(), prefix: term.prefix }
}

fn to_write(write: native::Write) -> wit::Write {
    match write {
        native::Write::Put { key, value } => wit::Write::Put(wit::Entry { key, value }),
        native::Write::Remove { key } => wit::Write::Remove(key),
        native::Write::Append { log, seq, value } => wit::Write::Append(wit::LogRow { log, seq, value }),
        native::Write::Amend { log, seq, value } => wit::Write::Amend(wit::LogRow { log, seq, value }),
        native::Write::Restore { log, seq, value } => wit::Write::Restore(wit::LogRow { log, seq, value }),
        native::Write::CutLog { log, start } => wit::Write::CutLog(wit::LogCut { log, start }),
        native::Write::IndexText { owner, part, tokens } => {
            wit::Write::IndexText(wit::TextPart { owner, part, tokens })
        }
        native::Write::DropText { owner, start } => wit::Write::DropText(wit::TextCut { owner, start }),
    }
}

impl native::Storage for HostStorage {
    fn get(&self, keys: &[String]) -> native::Result<Vec<Option<String>>> {
        wit::get(keys).map_err(from_error)
    }

    fn scan(
        &self,
        start: &str,
        end: &str,
        descending: bool,
        bounds: native::Bounds,
    ) -> native::Result<native::RecordPage> {
        let page = wit::scan(start, end, descending, bounds.limit, bounds.max_bytes).map_err(from_error)?;
        let entries = page.entries.into_iter().map(|entry| native::Entry { key: entry.key, value: entry.value });
        Ok(native::RecordPage { entries: entries.collect(), more: page.more })
    }

    fn log_end(&self, log: &str) -> native::Result<u32> {
        wit::log_end(log).map_err(from_error)
    }

    fn read_log(&self, log: &str, start: u32, bounds: native::Bounds) -> native::Result<native::LogPage> {
        let page = wit::read_log(log, start, bounds.limit, bounds.max_bytes).map_err(from_error)?;
        let entries = page.entries.into_iter().map(|entry| native::LogEntry { seq: entry.seq, value: entry.value });
        Ok(native::LogPage { entries: entries.collect(), more: page.more })
    }

    fn search_text(
        &self,
        term: &native::TextTerm,
        after: Option<&native::TextHit>,
        limit: u32,
    ) -> native::Result<native::TextHits> {
        let after = after.map(|hit| wit::TextHit { owner: hit.owner.clone(), part: hit.part });
        let hits = wit::search_text(&to_term(term), after.as_ref(), limit).map_err(from_error)?;
        native::TextHits::from_raw(hits.owners, hits.ends, hits.parts)
    }

    fn find_text(&self, term: &native::TextTerm, scopes: &[native::TextScope]) -> native::Result<Vec<Option<u32>>> {
        let scopes: Vec<_> =
            scopes.iter().map(|scope| wit::TextScope { owner: scope.owner.clone(), until: scope.until }).collect();
        wit::find_text(&to_term(term), &scopes).map_err(from_error)
    }

    fn text_owners(&self, after: Option<&str>, limit: u32) -> native::Result<Vec<String>> {
        wit::text_owners(after, limit).map_err(from_error)
    }

    fn read_texts(&self, owner: &str, start: u32, bounds: native::Bounds) -> native::Result<native::TextPage> {
        let page = wit::read_texts(owner, start, bounds.limit, bounds.max_bytes).map_err(from_error)?;
        let texts = page.texts.into_iter().map(|text| native::Text { part: text.part, tokens: text.tokens });
        Ok(native::TextPage { texts: texts.collect(), more: page.more })
    }

    fn log_names(&self, after: Option<&str>, limit: u32) -> native::Result<Vec<String>> {
        wit::log_names(after, limit).map_err(from_error)
    }

    fn commit(
        &self,
        expected: &[native::Expectation],
        writes: Vec<native::Write>,
        durability: native::Durability,
    ) -> native::Result<()> {
        let expected: Vec<_> = expected
            .iter()
            .map(|expectation| wit::Expectation { key: expectation.key.clone(), value: expectation.value.clone() })
            .collect();
        let writes: Vec<_> = writes.into_iter().map(to_write).collect();
        let durability = match durability {
            native::Durability::Relaxed => wit::Durability::Relaxed,
            native::Durability::Durable => wit::Durability::Durable,
        };
        wit::commit(&expected, &writes, durability).map_err(from_error)
    }
}
