//! Deletes that the agent has not confirmed yet: they are remembered, so that they can be asked for again.

use crate::storage::{Bounds, Durability, Expectation, Result, Storage, StorageError, Write};
use crate::store::{Store, keys};

/// For how long they are, in milliseconds. An agent that did not delete until then never will.
const KEPT_FOR: i64 = 90 * 24 * 3_600_000;
/// How many records are read at a time.
const BATCH: Bounds = Bounds { limit: 256, max_bytes: 64 * 1024 };

/// Up to `limit` of the ids that this agent knows deleted sessions by. Forgets those that were deleted too long ago,
/// and those that the agent has given to another session since.
pub fn pending<S: Storage>(store: &Store<S>, agent: &str, now: i64, limit: u32) -> Result<Vec<String>> {
    let prefix = keys::pending_deletes(agent);
    let (mut start, end) = (prefix.clone(), keys::range_end(&prefix));
    let (mut ids, mut stale, mut expected) = (Vec::new(), Vec::new(), Vec::new());
    while ids.len() < limit as usize {
        let page = store.storage().scan(&start, &end, false, BATCH)?;
        let Some(last) = page.entries.last() else { break };
        start = format!("{}\u{0}", last.key);
        let of = |key: &str| key.strip_prefix(&prefix).and_then(keys::decode);
        let read: Vec<String> =
            page.entries.iter().map(|entry| keys::agent_session(agent, &of(&entry.key).unwrap_or_default())).collect();
        let mapped = store.storage().get(&read)?;
        for (entry, mapped) in page.entries.into_iter().zip(mapped) {
            let is_due = entry.value.parse::<i64>().is_ok_and(|at| now - at <= KEPT_FOR);
            if let Some(id) = of(&entry.key).filter(|_| is_due && mapped.is_none()) {
                ids.push(id);
            } else {
                stale.push(Write::Remove { key: entry.key.clone() });
                expected.push(Expectation { key: entry.key, value: Some(entry.value) });
            }
        }
        if !page.more {
            break;
        }
    }
    ids.truncate(limit as usize);
    if stale.is_empty() {
        return Ok(ids);
    }
    match store.commit(&expected, stale, Durability::Relaxed) {
        // One of them was remembered anew: all of them are looked at again the next time.
        Ok(()) | Err(StorageError::Conflict) => Ok(ids),
        Err(error) => Err(error),
    }
}

/// Those of an agent's ids by which it has a delete to confirm. It has none by an id that is another session's by now.
pub fn unconfirmed<S: Storage>(store: &Store<S>, agent: &str, ids: &[&str]) -> Result<Vec<String>> {
    let keys: Vec<String> = ids.iter().map(|id| keys::pending_delete(agent, id)).collect();
    let pending = store.storage().get(&keys)?;
    let unconfirmed = ids.iter().zip(pending).filter(|(_, pending)| pending.is_some());
    Ok(unconfirmed.map(|(id, _)| (*id).to_owned()).collect())
}

/// The agent has deleted the session that it knew by this id, or never will.
pub fn confirmed<S: Storage>(store: &Store<S>, agent: &str, id: &str) -> Result<()> {
    store.commit(&[], vec![Write::Remove { key: keys::pending_delete(agent, id) }], Durability::Relaxed)
}
