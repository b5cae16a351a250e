//! Removing what nobody needs any more of logs, and its texts: a little at a time, so that others who use the store never wait
//! long.
//!
//! Whatever lets go of a log notes so, in the commit that does: from then on it is nobody's. Any connection's `idle`
//! removes some of what is noted, from the end of the log, and with the last of it the note. So whatever a killed process has
//! left is gone on with by the next.

use crate::index::Owner;
use crate::storage::{Bounds, Durability, Expectation, Result, Storage, StorageError, Write};
use crate::store::{Removals, Store, keys};

/// How much goes in one commit: entries and their bytes. One entry always does, however long it is.
const AT_ONCE: Bounds = Bounds { limit: 128, max_bytes: 128 * 1024 };
/// How many notes are looked at for one commit.
const NOTES: Bounds = Bounds { limit: 32, max_bytes: 64 * 1024 };

/// What lets go of a log from an entry on, which nobody will add to.
pub(super) fn let_go<S: Storage>(store: &Store<S>, log: &str, start: u32) -> Result<Vec<Write>> {
    if store.storage().log_end(log)? >= start {
        return Ok(vec![Write::Put { key: keys::removal(log), value: start.to_string() }]);
    }
    // There is nothing to be removed, unless it comes before the commit: then it is little.
    Ok(cut(log, start).into())
}

/// What came of a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovalStep {
    /// There is nothing more to be removed.
    Over,
    /// There is more.
    More,
    /// Another process is at it.
    Outrun,
}

/// Removes some of what is to be removed; returns whether there is more.
pub fn step<S: Storage>(store: &Store<S>) -> Result<bool> {
    try_step(store).map(|step| step != RemovalStep::Over)
}

/// Removes some of what is to be removed; tells whether another process is at it as well, so that they need not get in
/// each other's way.
pub fn try_step<S: Storage>(store: &Store<S>) -> Result<RemovalStep> {
    let page = store.storage().scan(keys::REMOVALS, &keys::range_end(keys::REMOVALS), false, NOTES)?;
    if page.entries.is_empty() {
        return Ok(RemovalStep::Over);
    }
    let mut is_all = !page.more;
    let mut left = AT_ONCE;
    let (mut expected, mut writes) = (Vec::new(), Vec::new());
    for note in page.entries {
        let names = note.key.strip_prefix(keys::REMOVALS).and_then(keys::decode).zip(Removals::read_start(&note.value));
        let mut is_last = true;
        if let Some((log, start)) = names {
            let Some(from) = piece(store.storage(), &log, start, &mut left)? else {
                is_all = false;
                break;
            };
            writes.extend(cut(&log, from));
            is_last = from <= start;
            if !is_last {
                // How far it is: who has read what stood there before is outrun.
                writes.push(Write::Put { key: note.key.clone(), value: format!("{start} {from}") });
            }
        }
        if is_last {
            writes.push(Write::Remove { key: note.key.clone() });
        }
        // Whoever lets go of more of the log meanwhile changes it.
        expected.push(Expectation { key: note.key, value: Some(note.value) });
        is_all &= is_last;
        if !is_last {
            break;
        }
    }
    match store.commit(&expected, writes, Durability::Relaxed) {
        Ok(()) if is_all => Ok(RemovalStep::Over),
        Ok(()) => Ok(RemovalStep::More),
        Err(StorageError::Conflict) => Ok(RemovalStep::Outrun),
        Err(error) => Err(error),
    }
}

/// Where the last entries of a log begin, not before `start`, that can go with what is left of a commit; none if it is too
/// full for any.
fn piece<S: Storage>(storage: &S, log: &str, start: u32, left: &mut Bounds) -> Result<Option<u32>> {
    let end = storage.log_end(log)?;
    if end < start {
        return Ok(Some(start));
    }
    let mut count = (end - start).saturating_add(1).min(left.limit);
    while count > 0 {
        let from = end - count + 1;
        let page = storage.read_log(log, from, Bounds { limit: count, max_bytes: left.max_bytes.max(1) })?;
        let bytes = page.entries.iter().map(|entry| entry.value.len()).fold(0, usize::saturating_add);
        let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
        let is_first = *left == AT_ONCE;
        if !page.more && (bytes <= left.max_bytes || count == 1 && is_first) {
            left.limit -= count;
            left.max_bytes = left.max_bytes.saturating_sub(bytes);
            return Ok(Some(from));
        }
        // The entries behind those that fit: where the first alone is too much, all others are tried without it.
        count = if count == 1 { 0 } else { count / 2 };
    }
    Ok(None)
}

/// The writes that remove a log and its texts from an entry on.
fn cut(log: &str, start: u32) -> [Write; 2] {
    let owner = Owner::Log(log).name();
    [Write::CutLog { log: log.to_owned(), start }, Write::DropText { owner, start: if start <= 1 { 0 } else { start } }]
}
