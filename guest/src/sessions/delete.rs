//! Deleting: the record, every index entry and the title's text go in one small commit with the tombstones, which notes what
//! is to be removed of logs ([`super::removal`]). A session takes those of its sub-agents with it.

mod logs;
mod pending;
mod unknown;

use std::collections::BTreeSet;

pub use pending::{confirmed, pending, unconfirmed};
pub use unknown::unknown;

use crate::storage::{Bounds, Expectation, Result, Storage, StorageError, Write};
use crate::store::{Changed, Decision, Session, Store, derived, keys};
use logs::Release;

/// How many sub-agents' sessions are read at a time.
const BATCH: Bounds = Bounds { limit: 256, max_bytes: 64 * 1024 };

/// Deletes a session for good, with the sessions of its sub-agents, and returns what it deleted, the session itself
/// first; nothing if there is none. What forks share of a log stays, for them alone, until the last of them is deleted.
///
/// What the agents know the sessions by is remembered until they have confirmed that they deleted theirs: see
/// [`pending`].
pub fn delete<S: Storage>(store: &Store<S>, id: &str, now: i64) -> Result<Vec<Session>> {
    delete_if(store, id, now, |_, _, _| Ok(true))
}

/// Deletes if it is still wanted: `wanted` gets the session and those of its sub-agents as they are when the commit is
/// made, and what else that commit is to expect, and to write before anything is removed.
pub(super) fn delete_if<S: Storage>(
    store: &Store<S>,
    id: &str,
    now: i64,
    mut wanted: impl FnMut(&[Session], &mut Vec<Expectation>, &mut Vec<Write>) -> Result<bool>,
) -> Result<Vec<Session>> {
    let mut deleted = Vec::new();
    let changed = store.change(id).durable().commit(|before, expected, writes| {
        deleted.clear();
        let Some(session) = before else { return Ok(Decision::Keep) };
        // The commit expects the revision, so none of these records can change before it.
        let family = family(store, session)?;
        if !wanted(&family, expected, writes)? {
            return Ok(Decision::Keep);
        }
        let mut logs = Release::default();
        for member in &family {
            forget(store, member, now, writes)?;
            logs.session(store, member, expected)?;
            if member.id != session.id {
                writes.extend(derived(Some(member), None));
            }
        }
        writes.extend(logs.into_writes(store)?);
        deleted = family;
        Ok(Decision::Remove)
    })?;
    Ok(match changed {
        Changed::Done { .. } => deleted,
        Changed::Nothing => Vec::new(),
    })
}

/// A session and those of its sub-agents, of theirs, and so on.
pub(super) fn family<S: Storage>(store: &Store<S>, session: &Session) -> Result<Vec<Session>> {
    let mut family = vec![session.clone()];
    let mut known = BTreeSet::from([session.id.clone()]);
    let mut next = 0;
    while let Some(parent) = family.get(next).map(|parent| parent.id.clone()) {
        next += 1;
        for id in subagents(store, &parent)? {
            // Records that name each other as parents do not make this go round for ever.
            if !known.insert(id.clone()) {
                continue;
            }
            match store.session(&id) {
                Ok(child) => family.extend(child),
                // What cannot be read stays: the session can be deleted all the same.
                Err(StorageError::Corrupt(_)) => {}
                Err(error) => return Err(error),
            }
        }
    }
    Ok(family)
}

fn subagents<S: Storage>(store: &Store<S>, parent: &str) -> Result<Vec<String>> {
    let prefix = keys::subagents(parent);
    let (mut start, end) = (prefix.clone(), keys::range_end(&prefix));
    let mut ids = Vec::new();
    loop {
        let page = store.storage().scan(&start, &end, false, BATCH)?;
        ids.extend(page.entries.iter().filter_map(|entry| keys::decode(entry.key.strip_prefix(&prefix)?)));
        let Some(last) = page.entries.last().filter(|_| page.more) else { return Ok(ids) };
        start = format!("{}\u{0}", last.key);
    }
}

/// What a session leaves behind besides its logs: that it is gone, here and at its agents.
fn forget<S: Storage>(store: &Store<S>, session: &Session, now: i64, writes: &mut Vec<Write>) -> Result<()> {
    writes.push(Write::Put { key: keys::tombstone(&session.id), value: now.to_string() });
    writes.extend(keys::beside(&session.id).map(|key| Write::Remove { key }));
    for (agent, id) in session.agents.iter().flat_map(|(agent, known)| known.ids().map(move |id| (agent, id))) {
        let mapping = keys::agent_session(agent, id);
        // An agent that hands out the same id again has another session by it now.
        if store.record(mapping.clone())?.is_some_and(|mapped| mapped != session.id) {
            continue;
        }
        writes.push(Write::Put { key: keys::agent_tombstone(agent, id), value: now.to_string() });
        writes.push(Write::Remove { key: mapping });
        writes.push(Write::Put { key: keys::pending_delete(agent, id), value: now.to_string() });
    }
    Ok(())
}
