//! Making the indexes and texts anew from what they are derived from: the records and the logs.

use std::collections::BTreeSet;

use crate::search;
use crate::storage::{Bounds, Durability, Result, Storage, StorageError, Write};
use crate::store::{Session, Store, keys};

/// How many entries are read at a time.
const BATCH: u32 = 256;
const BATCH_BYTES: u32 = 1024 * 1024;

/// How far a rebuild has come. Opaque to callers.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    /// Taking out index entries that no record stands for, behind this key.
    Clean(String),
    /// Writing the entries of each session, behind this key.
    Write(String),
}

impl Stage {
    fn parse(cursor: Option<&str>) -> Option<Self> {
        match cursor {
            None => Some(Self::Clean(String::new())),
            Some(cursor) => match cursor.split_at_checked(2)? {
                ("c:", key) => Some(Self::Clean(key.to_owned())),
                ("w:", key) => Some(Self::Write(key.to_owned())),
                _ => None,
            },
        }
    }

    fn to_cursor(&self) -> String {
        match self {
            Self::Clean(key) => format!("c:{key}"),
            Self::Write(key) => format!("w:{key}"),
        }
    }
}

/// Why a rebuild does not go on.
#[derive(Debug, thiserror::Error)]
pub enum RebuildError {
    /// The cursor is not one of a rebuild's.
    #[error("the cursor is not one that a rebuild gave")]
    Cursor,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Does a part of a rebuild: up to about `limit` sessions. Returns how many sessions were done and the cursor to go on
/// with, none at the end. Other processes may use the store meanwhile.
pub fn rebuild<S: Storage>(
    store: &Store<S>,
    cursor: Option<&str>,
    limit: u32,
) -> std::result::Result<(u32, Option<String>), RebuildError> {
    match Stage::parse(cursor).ok_or(RebuildError::Cursor)? {
        Stage::Clean(behind) => Ok((0, Some(clean(store, &behind)?.to_cursor()))),
        Stage::Write(behind) => {
            let (done, next) = write(store, &behind, limit)?;
            Ok((done, next.map(|stage| stage.to_cursor())))
        }
    }
}

/// The least key after this one.
fn after(key: &str, least: &str) -> String {
    if key.is_empty() { least.to_owned() } else { format!("{key}\u{0}") }
}

fn clean<S: Storage>(store: &Store<S>, behind: &str) -> Result<Stage> {
    let bounds = Bounds { limit: BATCH, max_bytes: BATCH_BYTES };
    for prefix in ["e/", "i/", "t/"] {
        let end = keys::range_end(prefix);
        if behind > end.as_str() {
            continue;
        }
        let start = after(behind, prefix).max(prefix.to_owned());
        let page = store.storage().scan(&start, &end, false, bounds)?;
        let Some(last) = page.entries.last().map(|entry| entry.key.clone()) else { continue };
        let mut stale = Vec::new();
        for entry in page.entries {
            let id = entry.key.rsplit_once('/').and_then(|(_, id)| keys::decode(id));
            let session = id.map(|id| store.session(&id)).transpose()?.flatten();
            if !session.is_some_and(|session| session.index_keys().contains(&entry.key)) {
                stale.push(Write::Delete { key: entry.key });
            }
        }
        store.commit(&[], stale, Durability::Relaxed)?;
        return Ok(Stage::Clean(last));
    }
    Ok(Stage::Write(String::new()))
}

fn write<S: Storage>(store: &Store<S>, behind: &str, limit: u32) -> Result<(u32, Option<Stage>)> {
    let bounds = Bounds { limit: limit.clamp(1, BATCH), max_bytes: BATCH_BYTES };
    let page = store.storage().scan(&after(behind, "s/"), &keys::range_end("s/"), false, bounds)?;
    let Some(last) = page.entries.last().map(|entry| entry.key.clone()) else { return Ok((0, None)) };
    let mut logs = BTreeSet::new();
    let mut done = 0;
    for entry in page.entries {
        let session = Session::parse(&entry.value)?;
        // A change that changes nothing writes everything that is derived.
        store.change(&session.id).commit(|before, _, writes| {
            let Some(session) = before else { return Ok(None) };
            let owner = search::Owner::Heading(&session.id).name();
            writes.push(Write::IndexText { owner, part: 0, tokens: search::heading(session) });
            Ok(Some(Some(session.clone())))
        })?;
        // A log whose own session is gone is still its forks'.
        logs.extend(session.segments.iter().map(|segment| segment.log.clone()));
        logs.insert(session.id);
        done += 1;
    }
    for log in logs {
        index_log(store, &log)?;
    }
    Ok((done, page.more.then_some(Stage::Write(last))))
}

fn index_log<S: Storage>(store: &Store<S>, log: &str) -> Result<()> {
    let owner = search::Owner::Log(log).name();
    store.commit(&[], vec![Write::DropText { owner: owner.clone(), from: 0 }], Durability::Relaxed)?;
    let mut start = 1;
    loop {
        let page = store.storage().read_log(log, start, Bounds { limit: BATCH, max_bytes: BATCH_BYTES })?;
        let Some(last) = page.entries.last() else { return Ok(()) };
        start = last.seq + 1;
        let texts = page.entries.iter().filter_map(|entry| {
            let tokens = search::tokenise(&search::text::of_entry(&entry.value));
            (!tokens.is_empty()).then(|| Write::IndexText { owner: owner.clone(), part: entry.seq, tokens })
        });
        store.commit(&[], texts.collect(), Durability::Relaxed)?;
        if !page.more {
            return Ok(());
        }
    }
}
