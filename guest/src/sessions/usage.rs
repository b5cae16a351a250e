//! What all sessions have used, a page at a time: by session, day and agent. Whoever wants other sums adds up.

use std::borrow::Cow;

use serde::Deserialize;

use super::cursor_mark::CursorMark;
use super::fingerprint::Fingerprint;
use crate::storage::{Bounds, Storage, StorageError};
use crate::store::{Day, Store, Title, Usage, keys};

/// How many bytes of records make a page full.
const BYTES: u32 = 256 * 1024;
/// How many sessions a page has at most.
const MOST: u32 = 1000;

/// What one session has used on one day, with one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// The session's id.
    pub session_id: String,
    /// Its directory.
    pub cwd: String,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The day, the agent, and what was used.
    pub day: Day,
}

/// The rows of some sessions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsagePage {
    /// Those of one session stand together, its days in their order.
    pub rows: Vec<UsageRow>,
    /// For the next page, which may be empty; none at the end.
    pub next_cursor: Option<String>,
}

/// Why there are no rows.
#[derive(Debug, thiserror::Error)]
pub enum UsageError {
    /// The cursor is none that this gave.
    #[error("the cursor is not one that a list of what was used gave")]
    Cursor,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What a row needs of a session's record.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Cow<'a, str>,
    #[serde(borrow)]
    cwd: Cow<'a, str>,
    #[serde(default)]
    title: Title,
}

/// The rows of the sessions after a cursor, of at most `limit` sessions, from 1 to 1000. What cannot be read is left out; a
/// checkup tells of it.
pub fn usage<S: Storage>(store: &Store<S>, cursor: Option<&str>, limit: u32) -> Result<UsagePage, UsageError> {
    let start = match cursor {
        None => keys::USAGES.to_owned(),
        Some(cursor) => format!("{}{}\u{0}", keys::USAGES, id_behind(cursor).ok_or(UsageError::Cursor)?),
    };
    let bounds = Bounds { limit: limit.clamp(1, MOST), max_bytes: BYTES };
    let page = store.storage().scan(&start, &keys::range_end(keys::USAGES), false, bounds)?;
    let id_of = |key: &str| key.strip_prefix(keys::USAGES).map(str::to_owned);
    let next_cursor =
        page.entries.last().filter(|_| page.more).and_then(|entry| id_of(&entry.key)).map(|id| to_cursor(&id));
    let known: Vec<(String, Usage)> = page
        .entries
        .iter()
        .filter_map(|entry| Some((keys::decode(&id_of(&entry.key)?)?, Usage::parse(&entry.value).ok()?)))
        .collect();
    let records = store.storage().get(&known.iter().map(|(id, _)| keys::session(id)).collect::<Vec<_>>())?;
    let mut rows = Vec::new();
    for ((id, usage), record) in known.into_iter().zip(records) {
        let head = record.as_deref().and_then(|record| serde_json::from_str::<Head<'_>>(record).ok());
        let Some(head) = head.filter(|head| head.id == id) else { continue };
        rows.extend(usage.into_days().into_iter().map(|day| UsageRow {
            session_id: id.clone(),
            cwd: head.cwd.clone().into_owned(),
            title: head.title.text().map(str::to_owned),
            day,
        }));
    }
    Ok(UsagePage { rows, next_cursor })
}

/// The cursor behind the session whose id is so encoded.
fn to_cursor(encoded: &str) -> String {
    mark(encoded).cursor(encoded)
}

/// The encoded id of the session that a cursor is behind.
fn id_behind(cursor: &str) -> Option<&str> {
    let (_, encoded) = cursor.split_once('/')?;
    mark(encoded).place(cursor)
}

/// What the cursor behind the session begins with whose id is so encoded: damage of that is noticed too.
fn mark(encoded: &str) -> CursorMark {
    let mut print = Fingerprint::default();
    print.text("usage");
    print.text(encoded);
    CursorMark::short(&print, '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_no_other_is() {
        for (encoded, cursor) in [("s1", "8ae402/s1"), ("a%2Fb", "67d65f/a%2Fb"), ("", "16e196/")] {
            assert_eq!(to_cursor(encoded), cursor);
            assert_eq!(id_behind(cursor), Some(encoded));
        }
        for cursor in ["", "s1", "/s1", "8ae402/s2", "8ae402-s1", "000000/s1", "s1/s1"] {
            assert_eq!(id_behind(cursor), None, "{cursor}");
        }
    }
}
