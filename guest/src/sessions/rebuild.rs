//! Making the indexes and texts anew from what they are derived from: the records and the logs. Other processes may use
//! the store meanwhile: each commit expects what it was made from.

mod clean;
mod sweep;
mod text;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::upgrade;
use crate::index;
use crate::storage::{Bounds, Result, Storage, StorageError, Write};
use crate::store::{Decision, Holders, Store, heading, keys};

/// How much is read, and written in one commit, at a time: others wait that long.
const BATCH: Bounds = Bounds { limit: 256, max_bytes: 256 * 1024 };
/// How many bytes of logs are indexed in one call, or a little more.
const AT_ONCE: usize = 1024 * 1024;
/// How often something is tried again after another process changed it.
const ATTEMPTS: usize = 1000;
/// How many records that cannot be read are named.
const MOST_NAMED: usize = 100;

/// What a part of a rebuild came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebuilt {
    /// How many sessions it did.
    pub done: u32,
    /// How many entries of logs it indexed.
    pub entries: u32,
    /// The keys of records that could not be read, of this call and those before it; no more than a hundred.
    pub broken: Vec<String>,
    /// Where the next call goes on; none at the end.
    pub next: Option<String>,
}

/// How far a rebuild has come.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Progress {
    stage: Stage,
    broken: Vec<String>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Stage {
    /// Bringing a store of an earlier version up to date, so that no list lacks anything meanwhile.
    #[default]
    Upgrade,
    /// Taking out index entries that no record stands for, behind this key.
    Clean(String),
    /// Writing the entries of each session, behind this key.
    Write(String),
    /// Indexing a log of the session with this key, from an entry on.
    Text { session: String, log: String, from: u32 },
    /// Dropping the texts of those that are no more, behind this name.
    Sweep(Option<String>),
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

/// Does a part of a rebuild: up to about `limit` sessions. A record that cannot be read is named and left as it is.
pub fn rebuild<S: Storage>(
    store: &Store<S>,
    cursor: Option<&str>,
    limit: u32,
) -> std::result::Result<Rebuilt, RebuildError> {
    let progress = cursor.map_or(Ok(Progress::default()), serde_json::from_str);
    let mut progress: Progress = progress.map_err(|_| RebuildError::Cursor)?;
    if progress.stage == Stage::Upgrade && !(upgrade::is_due(store)? && upgrade::step(store)?) {
        progress.stage = Stage::Clean(String::new());
    }
    let mut done = 0;
    let mut budget = Budget { left: AT_ONCE, entries: 0 };
    let next = match progress.stage {
        Stage::Upgrade => Some(Stage::Upgrade),
        Stage::Clean(behind) => {
            let behind = clean::clean(store, &behind)?;
            Some(behind.map_or(Stage::Write(String::new()), Stage::Clean))
        }
        Stage::Write(behind) => Some(write(store, &behind, limit, &mut done, &mut budget, &mut progress.broken)?),
        Stage::Text { session, log, from } => {
            let read = texts(store, &session, Some((&log, from)), &mut budget);
            Some(named(read, &session, &mut progress.broken)?.flatten().unwrap_or(Stage::Write(session)))
        }
        Stage::Sweep(behind) => sweep::sweep(store, behind.as_deref())?.map(|behind| Stage::Sweep(Some(behind))),
    };
    let broken = progress.broken;
    let next = next.map(|stage| serde_json::to_string(&Progress { stage, broken: broken.clone() }).unwrap_or_default());
    Ok(Rebuilt { done, entries: budget.entries, broken, next })
}

/// What may be indexed in a call, and what was.
#[derive(Debug, Clone, Copy)]
struct Budget {
    /// Bytes that are left.
    left: usize,
    /// Entries that were indexed.
    entries: u32,
}

/// The least key after this one.
fn after(key: &str, least: &str) -> String {
    if key.is_empty() { least.to_owned() } else { format!("{key}\u{0}") }
}

/// What came of a session; its record is named where it, or what belongs to it, cannot be read.
fn named<T>(result: Result<T>, key: &str, broken: &mut Vec<String>) -> Result<Option<T>> {
    match result {
        Err(StorageError::Corrupt(_)) => {
            if broken.len() < MOST_NAMED && broken.last().is_none_or(|last| last != key) {
                broken.push(key.to_owned());
            }
            Ok(None)
        }
        result => result.map(Some),
    }
}

/// Writes what is derived from some of the sessions; returns where to go on.
fn write<S: Storage>(
    store: &Store<S>,
    behind: &str,
    limit: u32,
    done: &mut u32,
    budget: &mut Budget,
    broken: &mut Vec<String>,
) -> Result<Stage> {
    let bounds = Bounds { limit: limit.clamp(1, BATCH.limit), ..BATCH };
    let page = store.storage().scan(&after(behind, "s/"), &keys::range_end("s/"), false, bounds)?;
    let last = page.entries.last().filter(|_| page.more).map(|entry| entry.key.clone());
    let mut behind = behind.to_owned();
    for entry in page.entries {
        if budget.left == 0 {
            return Ok(Stage::Write(behind));
        }
        behind.clone_from(&entry.key);
        if named(write_one(store, &entry.key), &entry.key, broken)?.is_none() {
            continue;
        }
        *done += 1;
        let texts = texts(store, &entry.key, None, budget);
        if let Some(Some(rest)) = named(texts, &entry.key, broken)? {
            return Ok(rest);
        }
    }
    Ok(last.map_or(Stage::Sweep(None), Stage::Write))
}

/// The id of the session that a record's key is of.
fn id_of(key: &str) -> Result<String> {
    let id = key.strip_prefix("s/").and_then(keys::decode);
    id.ok_or_else(|| StorageError::Corrupt("a session's key".to_owned()))
}

/// What is derived from a record alone.
fn write_one<S: Storage>(store: &Store<S>, key: &str) -> Result<()> {
    let id = id_of(key)?;
    // A change that changes nothing writes everything that is derived.
    store.change(&id).commit(|before, _, writes| {
        let Some(session) = before else { return Ok(Decision::Keep) };
        if session.id != id {
            return Err(StorageError::Corrupt("a session's record: it is another session's".to_owned()));
        }
        let owner = index::Owner::Heading(&id).name();
        writes.push(Write::IndexText { owner, part: 0, tokens: heading::tokens(session) });
        Ok(Decision::put(session.clone()))
    })?;
    Ok(())
}

/// Indexes a session's logs, from this entry of this one of them on, as far as the budget goes; returns where to go on if that is
/// amid them.
fn texts<S: Storage>(
    store: &Store<S>,
    key: &str,
    start: Option<(&str, u32)>,
    budget: &mut Budget,
) -> Result<Option<Stage>> {
    let id = id_of(key)?;
    // One that was deleted meanwhile took all that is derived from it along.
    let Some(session) = store.session(&id)? else { return Ok(None) };
    let mut logs: BTreeSet<&str> =
        session.segments.iter().chain(&session.aside).map(|part| part.log.as_str()).collect();
    logs.insert(&id);
    for log in logs {
        let from = match start {
            Some((begun, from)) if log == begun => from,
            Some((begun, _)) if log < begun => continue,
            _ => 1,
        };
        let stage = |from| Stage::Text { session: key.to_owned(), log: log.to_owned(), from };
        if budget.left == 0 {
            return Ok(Some(stage(from)));
        }
        if (log == id || is_for_this_one(store, log, &id)?)
            && let Some(from) = text::index_log(store, log, from, budget)?
        {
            return Ok(Some(stage(from)));
        }
    }
    Ok(None)
}

/// Whether a shared log is to be indexed for this one of its holders: it is done once, and for its own session where
/// that is still there.
fn is_for_this_one<S: Storage>(store: &Store<S>, log: &str, id: &str) -> Result<bool> {
    let holders = Holders::parse(store.record(keys::log_holders(log))?.as_deref())?;
    Ok(holders.orphaned && holders.holders.keys().next().is_some_and(|first| first == id))
}
