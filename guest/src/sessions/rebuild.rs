//! Making the indexes and texts anew from what they are derived from: the records and the logs. Other processes may use
//! the store meanwhile: each commit expects what it was made from.

mod clean;
mod text;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::upgrade;
use crate::index;
use crate::storage::{Bounds, Result, Storage, StorageError, Write};
use crate::store::{Decision, Holders, Session, Store, heading, keys};

/// How much is read at a time.
const BATCH: Bounds = Bounds { limit: 256, max_bytes: 1024 * 1024 };
/// How often something is tried again after another process changed it.
const ATTEMPTS: usize = 1000;
/// How many records that cannot be read are named.
const MOST_NAMED: usize = 100;

/// What a part of a rebuild came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rebuilt {
    /// How many sessions it did.
    pub done: u32,
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
    let (done, next) = match progress.stage {
        Stage::Upgrade => (0, Some(Stage::Upgrade)),
        Stage::Clean(behind) => {
            let behind = clean::clean(store, &behind)?;
            (0, Some(behind.map_or(Stage::Write(String::new()), Stage::Clean)))
        }
        Stage::Write(behind) => write(store, &behind, limit, &mut progress.broken)?,
    };
    let broken = progress.broken;
    let next = next.map(|stage| serde_json::to_string(&Progress { stage, broken: broken.clone() }).unwrap_or_default());
    Ok(Rebuilt { done, broken, next })
}

/// The least key after this one.
fn after(key: &str, least: &str) -> String {
    if key.is_empty() { least.to_owned() } else { format!("{key}\u{0}") }
}

fn write<S: Storage>(
    store: &Store<S>,
    behind: &str,
    limit: u32,
    broken: &mut Vec<String>,
) -> Result<(u32, Option<Stage>)> {
    let bounds = Bounds { limit: limit.clamp(1, BATCH.limit), ..BATCH };
    let page = store.storage().scan(&after(behind, "s/"), &keys::range_end("s/"), false, bounds)?;
    let last = page.entries.last().filter(|_| page.more).map(|entry| entry.key.clone());
    let mut done = 0;
    for entry in page.entries {
        match write_one(store, &entry.key) {
            Ok(()) => done += 1,
            Err(StorageError::Corrupt(_)) if broken.len() < MOST_NAMED => broken.push(entry.key),
            Err(StorageError::Corrupt(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok((done, last.map(Stage::Write)))
}

/// What is derived from one record and its logs.
fn write_one<S: Storage>(store: &Store<S>, key: &str) -> Result<()> {
    let id = key.strip_prefix("s/").and_then(keys::decode);
    let id = id.ok_or_else(|| StorageError::Corrupt("a session's key".to_owned()))?;
    let mut written: Option<Session> = None;
    // A change that changes nothing writes everything that is derived.
    store.change(&id).commit(|before, _, writes| {
        let Some(session) = before else { return Ok(Decision::Keep) };
        if session.id != id {
            return Err(StorageError::Corrupt("a session's record: it is another session's".to_owned()));
        }
        let owner = index::Owner::Heading(&id).name();
        writes.push(Write::IndexText { owner, part: 0, tokens: heading::tokens(session) });
        written = Some(session.clone());
        Ok(Decision::put(session.clone()))
    })?;
    // Deleted meanwhile, with all that is derived.
    let Some(session) = written else { return Ok(()) };
    text::index_log(store, &id)?;
    let logs: BTreeSet<&str> = session.segments.iter().chain(&session.aside).map(|part| part.log.as_str()).collect();
    for log in logs {
        if log != id && is_for_this_one(store, log, &id)? {
            text::index_log(store, log)?;
        }
    }
    Ok(())
}

/// Whether a shared log is to be indexed for this one of its holders: it is done once, and for its own session where
/// that is still there.
fn is_for_this_one<S: Storage>(store: &Store<S>, log: &str, id: &str) -> Result<bool> {
    let holders = Holders::parse(store.record(keys::log_holders(log))?.as_deref())?;
    Ok(holders.orphaned && holders.holders.keys().next().is_some_and(|first| first == id))
}
