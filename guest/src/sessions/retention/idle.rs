//! Finding what has been idle for long: by the list's own index, from its old end.

use crate::storage::{Bounds, Entry, Result, Storage};
use crate::store::{Shelf, Store, keys};

/// How many bytes of index entries are read at a time.
pub(super) const BATCH_BYTES: u32 = 512 * 1024;

/// The next rows of sessions without activity since then, the shelves one after the other; none at the end. `behind` is
/// the key of the last row that was looked at.
pub(super) fn old_rows<S: Storage>(
    store: &Store<S>,
    cwd: Option<&str>,
    since: i64,
    mut behind: Option<&str>,
    limit: u32,
) -> Result<Vec<Entry>> {
    let roster = store.roster()?;
    let ranges = Shelf::ALL.into_iter().flat_map(|shelf| roster.row_sets().map(move |agent| (shelf, agent)));
    for (shelf, agent) in ranges {
        let prefix = keys::rows(shelf.letter(), agent, cwd);
        let start = match behind.take() {
            Some(key) if key.starts_with(&prefix) => format!("{key}\u{0}"),
            Some(key) => {
                behind = Some(key);
                continue;
            }
            None => prefix.clone(),
        };
        let bounds = Bounds { limit, max_bytes: BATCH_BYTES };
        let page = store.storage().scan(&start, &format!("{prefix}{:015}", since.max(0)), false, bounds)?;
        if !page.entries.is_empty() {
            return Ok(page.entries);
        }
    }
    Ok(Vec::new())
}
