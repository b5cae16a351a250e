//! Indexing the texts of a log anew.

use super::{ATTEMPTS, Budget};
use crate::index;
use crate::storage::{Bounds, Durability, Expectation, LAST_PART, Result, Storage, StorageError, Write};
use crate::store::{Store, keys};
use crate::transcript::text;

/// How much is indexed in one commit, an entry at least. Others wait that long: a store of 100 MB takes some 10 ms for it.
const TEXTS: Bounds = Bounds { limit: 128, max_bytes: 32 * 1024 };

/// What an entry counts for besides its text.
const ENTRY: usize = 64;

/// Indexes what a log holds from an entry on, as far as the budget goes; returns where to go on if there is more.
///
/// Each entry's text takes the place of what stood there, so that what is searched meanwhile is found. Whoever writes to the
/// log meanwhile indexes what is new himself. Two things could still go wrong: the text of a log that is cut comes back, so
/// each commit expects what every delete changes; and the last entry, which may grow, is indexed as it was, so it is read
/// again until it is what was indexed.
pub(super) fn index_log<S: Storage>(
    store: &Store<S>,
    log: &str,
    from: u32,
    budget: &mut Budget,
) -> Result<Option<u32>> {
    if from <= 1 {
        drop_outside(store, log)?;
    }
    let owner = index::Owner::Log(log).name();
    let mut start = from;
    let mut attempts = 0;
    loop {
        let expected = whoever_needs_it(store, log)?;
        let page = store.storage().read_log(log, start, TEXTS)?;
        let Some(last) = page.entries.last() else { return Ok(None) };
        let indexed = page.entries.iter().filter(|entry| entry.seq <= LAST_PART);
        let texts = indexed.map(|entry| Write::IndexText {
            owner: owner.clone(),
            part: entry.seq,
            tokens: index::tokenise(&text::of_entry(&entry.value)),
        });
        match store.commit(&expected, texts.collect(), Durability::Relaxed) {
            Err(StorageError::Conflict) if attempts < ATTEMPTS => {
                attempts += 1;
                continue;
            }
            result => result?,
        }
        start = last.seq + 1;
        budget.entries += u32::try_from(page.entries.len()).unwrap_or(u32::MAX);
        if !page.more {
            let again = store.storage().read_log(log, last.seq, Bounds { limit: 1, max_bytes: 1 })?;
            let Some(grown) = again.entries.first().filter(|entry| *entry != last) else { return Ok(None) };
            start = grown.seq;
        }
        let bytes = page.entries.iter().map(|entry| entry.value.len() + ENTRY).sum();
        budget.left = budget.left.saturating_sub(bytes);
        if budget.left == 0 {
            return Ok(Some(start));
        }
    }
}

/// Drops the texts before the first entry and behind the last, which are nobody's. What comes to stand behind it meanwhile
/// is read after this, and indexed like the rest.
fn drop_outside<S: Storage>(store: &Store<S>, log: &str) -> Result<()> {
    let owner = index::Owner::Log(log).name();
    let behind = store.storage().log_end(log)?.saturating_add(1);
    let before = Write::IndexText { owner: owner.clone(), part: 0, tokens: String::new() };
    store.commit(&[], vec![before, Write::DropText { owner, start: behind }], Durability::Relaxed)
}

/// What changes when a log is let go of, and when the last of that is removed: its session is deleted, or one that shares
/// it.
fn whoever_needs_it<S: Storage>(store: &Store<S>, log: &str) -> Result<Vec<Expectation>> {
    let read = [keys::tombstone(log), keys::log_holders(log), keys::removal(log)];
    let values = store.storage().get(&read)?;
    Ok(read.into_iter().zip(values).map(|(key, value)| Expectation { key, value }).collect())
}
