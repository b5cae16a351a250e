//! Logs into which connections record what an agent tells of a session, before it is known what of it is new. A record
//! names each, so that what a killed process left behind is dropped by another.

use std::ops::RangeInclusive;

use super::{adopt, open_marks};
use crate::index::Owner;
use crate::storage::{Bounds, Durability, Expectation, LAST_PART, Result, Storage, StorageError, Write};
use crate::store::{Store, keys};
use crate::transcript::text;

/// How many records one sweep looks at.
const LOOKED: Bounds = Bounds { limit: 64, max_bytes: 64 * 1024 };
/// How much is indexed in one commit.
const INDEXED: Bounds = Bounds { limit: 4096, max_bytes: 1024 * 1024 };

/// A connection begins to record into a log.
pub fn begin<S: Storage>(store: &Store<S>, connection: &str, log: &str, now: i64) -> Result<()> {
    store.commit(&[], vec![named(connection, log, now)], Durability::Relaxed)
}

/// What names the log. It goes with all that is recorded: another process may have taken the connection for one that has
/// ended, and dropped what there was of the log.
pub fn named(connection: &str, log: &str, now: i64) -> Write {
    Write::Put { key: keys::staging(connection, log), value: now.to_string() }
}

/// Whether some of what was recorded, up to this entry, was dropped by a process that took the connection for one that has
/// ended, or is being dropped.
pub fn is_cut<S: Storage>(store: &Store<S>, log: &str, written: u32) -> Result<bool> {
    let is_being_dropped = || Ok(store.record(keys::removal(log))?.is_some());
    Ok(written > 0 && (store.storage().log_end(log)? != written || is_being_dropped()?))
}

/// Indexes these entries of a log, as far as they are there: they were recorded without.
pub fn index<S: Storage>(store: &Store<S>, log: &str, entries: RangeInclusive<u32>) -> Result<()> {
    let owner = Owner::Log(log).name();
    let mut start = *entries.start();
    while start <= *entries.end().min(&LAST_PART) {
        let page = store.storage().read_log(log, start, INDEXED)?;
        let Some(last) = page.entries.last() else { return Ok(()) };
        let tokens = page.entries.iter().filter(|entry| entries.contains(&entry.seq) && entry.seq <= LAST_PART);
        let tokens = tokens.map(|entry| (entry.seq, text::tokens_of_entry(&entry.value)));
        let found = tokens.filter(|(_, tokens)| !tokens.is_empty());
        let writes = found.map(|(part, tokens)| Write::IndexText { owner: owner.clone(), part, tokens }).collect();
        // Whoever takes the connection for one that has ended drops the log, and its texts with it.
        let unheld = Expectation { key: keys::removal(log), value: None };
        match store.commit(&[unheld], writes, Durability::Relaxed) {
            // It is found out when the log is to become part of a transcript.
            Err(StorageError::Conflict) if store.record(keys::removal(log))?.is_some() => return Ok(()),
            Err(StorageError::Conflict) => continue,
            result => result?,
        }
        start = last.seq.saturating_add(1);
        if !page.more {
            return Ok(());
        }
    }
    Ok(())
}

/// What was recorded has become part of a transcript, or was dropped with the decision that nothing of it is new.
pub fn end<S: Storage>(store: &Store<S>, connection: &str, log: &str) -> Result<()> {
    store.commit(&[], vec![unnamed(connection, log)], Durability::Relaxed)
}

fn unnamed(connection: &str, log: &str) -> Write {
    Write::Remove { key: keys::staging(connection, log) }
}

/// Drops what was recorded, unless it has become part of a transcript.
pub fn discard<S: Storage>(store: &Store<S>, connection: &str, log: &str) -> Result<()> {
    adopt::discard(store, log, &[unnamed(connection, log)])
}

/// Drops what connections have left behind that are believed no more, a little at a time.
pub fn sweep<S: Storage>(store: &Store<S>, now: i64) -> Result<()> {
    let page = store.storage().scan(keys::STAGINGS, &keys::range_end(keys::STAGINGS), false, LOOKED)?;
    for entry in page.entries {
        let names = entry.key[keys::STAGINGS.len()..].split_once('/');
        let names = names.and_then(|(connection, log)| Some((keys::decode(connection)?, keys::decode(log)?)));
        let Some((connection, log)) = names else { continue };
        if !open_marks::is_believed(store, &connection, now)? {
            discard(store, &connection, &log)?;
        }
    }
    Ok(())
}
