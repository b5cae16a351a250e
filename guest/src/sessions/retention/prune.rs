//! Removing by hand.

use super::cursor::{self, Awaited, Awaiting, Cursor};
use super::idle::old_rows;
use super::rule::{self, Kind, Rule};
use crate::sessions::list::Page;
use crate::sessions::{open_marks, upgrade};
use crate::storage::{Result, Storage, StorageError};
use crate::store::{Layout, Row, Session, Store, keys};

/// How many rows are read at a time.
const BATCH: u32 = 128;

/// A removal by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prune {
    /// Sessions without activity since then go; milliseconds since 1970.
    pub idle_since: i64,
    /// Only those of this directory, normalised.
    pub cwd: Option<String>,
    /// About this many in one call: a session goes with all its sub-agents'.
    pub limit: u32,
    /// Only name them.
    pub dry_run: bool,
    /// The cursor of the last call.
    pub after: Option<String>,
}

/// Why nothing was removed.
#[derive(Debug, thiserror::Error)]
pub enum PruneError {
    /// The cursor is not one of a removal's, or one from another directory's.
    #[error("the cursor is not one that a removal with the same folder gave")]
    Cursor,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Removes what has been idle for too long and returns the rows of what it removed, with a cursor while there may be
/// more. The same sessions are kept as by a sweep, but for those made a moment ago: who prunes says since when.
///
/// Right after a computer has woken up, nobody can tell a window that was killed from one that has not yet said that it is there. So
/// as long as there are such ones nothing is removed for some seconds: an empty page has the cursor that it was asked for with. Nor
/// is it where the computer has been asleep between two calls.
pub fn prune<S: Storage>(store: &Store<S>, prune: &Prune, now: i64) -> std::result::Result<Page, PruneError> {
    if prune.limit == 0 {
        return Ok(Page { rows: Vec::new(), next_cursor: None });
    }
    let mut after = match begin(store, prune, now)? {
        Begun::Not(cursor) => return Ok(Page { rows: Vec::new(), next_cursor: Some(cursor.to_text()) }),
        Begun::Behind(row) => row,
    };
    let mut rows = Vec::new();
    let rule = Rule { kind: Kind::Idle, since: prune.idle_since, settled_since: None };
    loop {
        let entries = old_rows(store, prune.cwd.as_deref(), prune.idle_since, after.as_deref(), BATCH)?;
        if entries.is_empty() {
            return Ok(Page { rows, next_cursor: None });
        }
        for entry in entries {
            if rows.len() >= prune.limit as usize {
                let next = after.map(|row| Cursor::Behind { at: now, row }.to_text());
                return Ok(Page { rows, next_cursor: next });
            }
            if let Some(id) = entry.key.rsplit_once('/').and_then(|(_, id)| keys::decode(id)) {
                let gone = if !prune.dry_run {
                    rule::remove(store, &id, now, rule)?
                } else if is_first_row(store, &id, &entry.key, prune.cwd.as_deref())? {
                    rule::would_go(store, &id, now, rule)?
                } else {
                    // A session has a row for each agent that knows it, and is named once.
                    Vec::new()
                };
                rows.extend(gone.iter().filter_map(row));
            }
            after = Some(entry.key);
        }
    }
}

/// Where a removal stands.
enum Begun {
    /// It has to wait, and goes on by this cursor.
    Not(Cursor),
    /// It goes on behind this list row, or begins.
    Behind(Option<String>),
}

/// Whether a removal begins, or goes on.
fn begin<S: Storage>(store: &Store<S>, prune: &Prune, now: i64) -> std::result::Result<Begun, PruneError> {
    let cursor = prune.after.as_deref();
    let cursor = cursor.map(|text| Cursor::parse(text, prune.cwd.as_deref()).ok_or(PruneError::Cursor)).transpose()?;
    let mut awaiting = match cursor {
        None | Some(Cursor::Upgrading) => {
            // A store of an earlier version has its rows elsewhere.
            if store.layout()? != Layout::Present && upgrade::step(store)? {
                return Ok(Begun::Not(Cursor::Upgrading));
            }
            Awaiting::begin(now, None)
        }
        Some(Cursor::Behind { at, row }) if cursor::is_in_one_go(at, now) => return Ok(Begun::Behind(Some(row))),
        Some(Cursor::Behind { row, .. }) => Awaiting::begin(now, Some(row)),
        Some(Cursor::Awaiting(awaiting)) => awaiting,
    };
    match awaiting.look(store, now)? {
        Awaited::NotYet => return Ok(Begun::Not(Cursor::Awaiting(awaiting))),
        // Nobody is to wait for them again.
        Awaited::InVain if !prune.dry_run => open_marks::forget_silent(store, now)?,
        Awaited::InVain | Awaited::Nobody => {}
    }
    Ok(Begun::Behind(awaiting.behind))
}

/// Whether a row is the first of its session's.
fn is_first_row<S: Storage>(store: &Store<S>, id: &str, key: &str, cwd: Option<&str>) -> Result<bool> {
    Ok(store.session(id)?.is_some_and(|session| {
        let first = session.row_sets().next().flatten().map(str::to_owned);
        key.starts_with(&keys::rows(session.shelf().letter(), first.as_deref(), cwd))
    }))
}

fn row(session: &Session) -> Option<String> {
    Some(Row::parse(&Row::text(session))?.json.to_owned())
}
