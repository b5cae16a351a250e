//! Logs into which connections record what an agent tells of a session, before it is known what of it is new. A record
//! names each, so that what a killed process left behind is dropped by another.

use super::{adopt, open_marks};
use crate::storage::{Bounds, Durability, Result, Storage, Write};
use crate::store::{Store, keys};

/// How many records one sweep looks at.
const LOOKED: Bounds = Bounds { limit: 64, max_bytes: 64 * 1024 };

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
