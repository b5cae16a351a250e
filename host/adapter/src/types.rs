//! The types of the one side made of those of the other.

use acp_sessions::component::storage as wit;
use acp_sessions_guest::storage::{self as native, StorageError};

pub(crate) fn error_to_wit(error: StorageError) -> wit::StorageError {
    match error {
        StorageError::Conflict => wit::StorageError::Conflict,
        StorageError::TooLarge => wit::StorageError::TooLarge,
        StorageError::Full => wit::StorageError::Full,
        StorageError::ReadOnly => wit::StorageError::ReadOnly,
        StorageError::Corrupt(what) => wit::StorageError::Corrupt(what),
        StorageError::Unavailable(what) => wit::StorageError::Unavailable(what),
        StorageError::Unsupported => wit::StorageError::Unsupported,
    }
}

pub(crate) fn error_to_native(error: wit::StorageError) -> StorageError {
    match error {
        wit::StorageError::Conflict => StorageError::Conflict,
        wit::StorageError::TooLarge => StorageError::TooLarge,
        wit::StorageError::Full => StorageError::Full,
        wit::StorageError::ReadOnly => StorageError::ReadOnly,
        wit::StorageError::Corrupt(what) => StorageError::Corrupt(what),
        wit::StorageError::Unavailable(what) => StorageError::Unavailable(what),
        wit::StorageError::Unsupported => StorageError::Unsupported,
    }
}

pub(crate) fn records_to_wit(page: native::RecordPage) -> wit::RecordPage {
    let entries = page.entries.into_iter().map(|entry| wit::Entry { key: entry.key, value: entry.value });
    wit::RecordPage { entries: entries.collect(), more: page.more }
}

pub(crate) fn records_to_native(page: wit::RecordPage) -> native::RecordPage {
    let entries = page.entries.into_iter().map(|entry| native::Entry { key: entry.key, value: entry.value });
    native::RecordPage { entries: entries.collect(), more: page.more }
}

pub(crate) fn log_to_wit(page: native::LogPage) -> wit::LogPage {
    let entries = page.entries.into_iter().map(|entry| wit::LogEntry { seq: entry.seq, value: entry.value });
    wit::LogPage { entries: entries.collect(), more: page.more }
}

pub(crate) fn log_to_native(page: wit::LogPage) -> native::LogPage {
    let entries = page.entries.into_iter().map(|entry| native::LogEntry { seq: entry.seq, value: entry.value });
    native::LogPage { entries: entries.collect(), more: page.more }
}

pub(crate) fn texts_to_wit(owner: &str, page: native::TextPage) -> wit::TextPage {
    let part = |text: native::Text| wit::TextPart { owner: owner.to_owned(), part: text.part, tokens: text.tokens };
    wit::TextPage { texts: page.texts.into_iter().map(part).collect(), more: page.more }
}

pub(crate) fn texts_to_native(page: wit::TextPage) -> native::TextPage {
    let texts = page.texts.into_iter().map(|text| native::Text { part: text.part, tokens: text.tokens });
    native::TextPage { texts: texts.collect(), more: page.more }
}

pub(crate) fn term_to_wit(term: &native::TextTerm) -> wit::TextTerm {
    wit::TextTerm { tokens: term.tokens.clone(), prefix: term.prefix }
}

pub(crate) fn term_to_native(term: wit::TextTerm) -> native::TextTerm {
    native::TextTerm { tokens: term.tokens, prefix: term.prefix }
}

pub(crate) fn hit_to_wit(hit: native::TextHit) -> wit::TextHit {
    wit::TextHit { owner: hit.owner, part: hit.part }
}

pub(crate) fn hits_to_wit(hits: native::TextHits) -> wit::TextHits {
    let (owners, ends, parts) = hits.into_raw();
    wit::TextHits { owners, ends, parts }
}

pub(crate) fn hit_to_native(hit: wit::TextHit) -> native::TextHit {
    native::TextHit { owner: hit.owner, part: hit.part }
}

pub(crate) fn scope_to_wit(scope: &native::TextScope) -> wit::TextScope {
    wit::TextScope { owner: scope.owner.clone(), until: scope.until }
}

pub(crate) fn scope_to_native(scope: wit::TextScope) -> native::TextScope {
    native::TextScope { owner: scope.owner, until: scope.until }
}

pub(crate) fn expectation_to_wit(expectation: &native::Expectation) -> wit::Expectation {
    wit::Expectation { key: expectation.key.clone(), value: expectation.value.clone() }
}

pub(crate) fn expectation_to_native(expectation: wit::Expectation) -> native::Expectation {
    native::Expectation { key: expectation.key, value: expectation.value }
}

pub(crate) fn durability_to_wit(durability: native::Durability) -> wit::Durability {
    match durability {
        native::Durability::Relaxed => wit::Durability::Relaxed,
        native::Durability::Durable => wit::Durability::Durable,
    }
}

pub(crate) fn durability_to_native(durability: wit::Durability) -> native::Durability {
    match durability {
        wit::Durability::Relaxed => native::Durability::Relaxed,
        wit::Durability::Durable => native::Durability::Durable,
    }
}

pub(crate) fn write_to_wit(write: native::Write) -> wit::Write {
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

pub(crate) fn write_to_native(write: wit::Write) -> native::Write {
    match write {
        wit::Write::Put(entry) => native::Write::Put { key: entry.key, value: entry.value },
        wit::Write::Remove(key) => native::Write::Remove { key },
        wit::Write::Append(row) => native::Write::Append { log: row.log, seq: row.seq, value: row.value },
        wit::Write::Amend(row) => native::Write::Amend { log: row.log, seq: row.seq, value: row.value },
        wit::Write::Restore(row) => native::Write::Restore { log: row.log, seq: row.seq, value: row.value },
        wit::Write::CutLog(cut) => native::Write::CutLog { log: cut.log, start: cut.start },
        wit::Write::IndexText(text) => {
            native::Write::IndexText { owner: text.owner, part: text.part, tokens: text.tokens }
        }
        wit::Write::DropText(cut) => native::Write::DropText { owner: cut.owner, start: cut.start },
    }
}
