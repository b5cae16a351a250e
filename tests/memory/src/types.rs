//! The guest's types made of those of the WIT, and the other way round.

use acp_sessions_guest::storage as native;

use crate::bindings::exports::acp::sessions::storage as wit;

pub(crate) fn error(error: native::StorageError) -> wit::StorageError {
    match error {
        native::StorageError::Conflict => wit::StorageError::Conflict,
        native::StorageError::TooLarge => wit::StorageError::TooLarge,
        native::StorageError::Full => wit::StorageError::Full,
        native::StorageError::ReadOnly => wit::StorageError::ReadOnly,
        native::StorageError::Corrupt(what) => wit::StorageError::Corrupt(what),
        native::StorageError::Unavailable(what) => wit::StorageError::Unavailable(what),
        native::StorageError::Unsupported => wit::StorageError::Unsupported,
    }
}

pub(crate) fn records(page: native::RecordPage) -> wit::RecordPage {
    let entries = page.entries.into_iter().map(|entry| wit::Entry { key: entry.key, value: entry.value });
    wit::RecordPage { entries: entries.collect(), more: page.more }
}

pub(crate) fn log(page: native::LogPage) -> wit::LogPage {
    let entries = page.entries.into_iter().map(|entry| wit::LogEntry { seq: entry.seq, value: entry.value });
    wit::LogPage { entries: entries.collect(), more: page.more }
}

pub(crate) fn texts(owner: &str, page: native::TextPage) -> wit::TextPage {
    let part = |text: native::Text| wit::TextPart { owner: owner.to_owned(), part: text.part, tokens: text.tokens };
    wit::TextPage { texts: page.texts.into_iter().map(part).collect(), more: page.more }
}

pub(crate) fn hits(hits: native::TextHits) -> wit::TextHits {
    let (owners, ends, parts) = hits.into_raw();
    wit::TextHits { owners, ends, parts }
}

pub(crate) fn term(term: wit::TextTerm) -> native::TextTerm {
    native::TextTerm { tokens: term.tokens, prefix: term.prefix }
}

pub(crate) fn hit(hit: wit::TextHit) -> native::TextHit {
    native::TextHit { owner: hit.owner, part: hit.part }
}

pub(crate) fn scopes(scopes: Vec<wit::TextScope>) -> Vec<native::TextScope> {
    scopes.into_iter().map(|scope| native::TextScope { owner: scope.owner, until: scope.until }).collect()
}

pub(crate) fn expectations(expected: Vec<wit::Expectation>) -> Vec<native::Expectation> {
    let one = |expected: wit::Expectation| native::Expectation { key: expected.key, value: expected.value };
    expected.into_iter().map(one).collect()
}

pub(crate) fn durability(durability: wit::Durability) -> native::Durability {
    match durability {
        wit::Durability::Relaxed => native::Durability::Relaxed,
        wit::Durability::Durable => native::Durability::Durable,
    }
}

pub(crate) fn writes(writes: Vec<wit::Write>) -> Vec<native::Write> {
    writes.into_iter().map(write).collect()
}

fn write(write: wit::Write) -> native::Write {
    match write {
        wit::Write::Put(wit::Entry { key, value }) => native::Write::Put { key, value },
        wit::Write::Remove(key) => native::Write::Remove { key },
        wit::Write::Append(wit::LogRow { log, seq, value }) => native::Write::Append { log, seq, value },
        wit::Write::Amend(wit::LogRow { log, seq, value }) => native::Write::Amend { log, seq, value },
        wit::Write::Restore(wit::LogRow { log, seq, value }) => native::Write::Restore { log, seq, value },
        wit::Write::CutLog(wit::LogCut { log, start }) => native::Write::CutLog { log, start },
        wit::Write::IndexText(wit::TextPart { owner, part, tokens }) => {
            native::Write::IndexText { owner, part, tokens }
        }
        wit::Write::DropText(wit::TextCut { owner, start }) => native::Write::DropText { owner, start },
    }
}
