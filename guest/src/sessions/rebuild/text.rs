//! Indexing the texts of a log anew.

use super::{ATTEMPTS, BATCH};
use crate::index;
use crate::storage::{Bounds, Durability, Expectation, LAST_PART, Result, Storage, StorageError, Write};
use crate::store::{Store, keys};
use crate::transcript::text;

/// Indexes what a log holds.
///
/// Whoever writes to the log meanwhile indexes what is new himself. Two things could still go wrong: the text of a log
/// that is cut comes back, so each commit expects what every delete changes; and the last entry, which may grow, is
/// indexed as it was, so it is read again until it is what was indexed.
pub(super) fn index_log<S: Storage>(store: &Store<S>, log: &str) -> Result<()> {
    let owner = index::Owner::Log(log).name();
    let drop = Write::DropText { owner: owner.clone(), start: 0 };
    store.commit(&[], vec![drop], Durability::Relaxed)?;
    let mut start = 1;
    let mut attempts = 0;
    loop {
        let expected = whoever_needs_it(store, log)?;
        let page = store.storage().read_log(log, start, BATCH)?;
        let Some(last) = page.entries.last() else { return Ok(()) };
        let indexed = page.entries.iter().filter(|entry| entry.seq <= LAST_PART);
        let texts = indexed.map(|entry| Write::IndexText {
            owner: owner.clone(),
            part: entry.seq,
            tokens: index::tokenise(&text::of_entry(&entry.value)),
        });
        let texts = texts.filter(|text| !matches!(text, Write::IndexText { tokens, .. } if tokens.is_empty()));
        match store.commit(&expected, texts.collect(), Durability::Relaxed) {
            Err(StorageError::Conflict) if attempts < ATTEMPTS => {
                attempts += 1;
                continue;
            }
            result => result?,
        }
        start = last.seq + 1;
        if !page.more {
            let again = store.storage().read_log(log, last.seq, Bounds { limit: 1, max_bytes: 1 })?;
            let Some(grown) = again.entries.first().filter(|entry| *entry != last) else { return Ok(()) };
            start = grown.seq;
        }
    }
}

/// What changes when a log is cut: its session is deleted, or one that shares it.
fn whoever_needs_it<S: Storage>(store: &Store<S>, log: &str) -> Result<Vec<Expectation>> {
    let read = [keys::tombstone(log), keys::log_holders(log)];
    let values = store.storage().get(&read)?;
    Ok(read.into_iter().zip(values).map(|(key, value)| Expectation { key, value }).collect())
}
