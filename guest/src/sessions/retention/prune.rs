//! Removing by hand.

use super::idle::old_rows;
use super::rule::{self, Kind, Rule};
use crate::sessions::list::Page;
use crate::sessions::{open_marks, upgrade};
use crate::storage::{Result, Storage, StorageError};
use crate::store::{Layout, Row, Session, Store, keys};

/// How many rows are read at a time.
const BATCH: u32 = 128;

/// The cursor of a removal that has not begun, because the store is still brought up to date.
const UPGRADING: &str = "-";

/// What the cursor of a removal begins with that waits for windows to say that they are there; it goes on with since when, in
/// milliseconds since 1970.
const AWAITING: &str = "w:";

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
/// as long as there are such ones nothing is removed for some seconds: an empty page has the cursor that it was asked for with.
pub fn prune<S: Storage>(store: &Store<S>, prune: &Prune, now: i64) -> std::result::Result<Page, PruneError> {
    let mut rows = Vec::new();
    // The cursor is the key of the last entry that was looked at: it names the shelf too.
    let mut after = prune.after.clone();
    let rule = Rule { kind: Kind::Idle, since: prune.idle_since, settled_since: None };
    let awaiting_since = after.as_deref().and_then(|after| after.strip_prefix(AWAITING)?.parse::<i64>().ok());
    let is_begun = |after: &str| awaiting_since.is_none() && after != UPGRADING;
    if after.as_deref().is_some_and(|after| is_begun(after) && !keys::is_row(after, prune.cwd.as_deref())) {
        return Err(PruneError::Cursor);
    }
    if prune.limit == 0 {
        return Ok(Page { rows, next_cursor: None });
    }
    // A store of an earlier version has its rows elsewhere.
    if !after.as_deref().is_some_and(is_begun) {
        after = None;
        if store.layout()? != Layout::Present && upgrade::step(store)? {
            return Ok(Page { rows, next_cursor: Some(UPGRADING.to_owned()) });
        }
        let since = awaiting_since.unwrap_or(now);
        if (0..open_marks::WAKES_IN).contains(&(now - since)) && open_marks::is_any_silent(store, now)? {
            return Ok(Page { rows, next_cursor: Some(format!("{AWAITING}{since}")) });
        }
    }
    loop {
        let entries = old_rows(store, prune.cwd.as_deref(), prune.idle_since, after.as_deref(), BATCH)?;
        if entries.is_empty() {
            return Ok(Page { rows, next_cursor: None });
        }
        for entry in entries {
            if rows.len() >= prune.limit as usize {
                return Ok(Page { rows, next_cursor: after });
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
