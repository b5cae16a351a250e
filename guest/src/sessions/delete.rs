//! Deleting: the record, every index entry and the title's text go in one small commit with the tombstones, which notes what
//! is to be removed of logs ([`super::removal`]). A session takes those of its sub-agents with it.

mod logs;
mod pending;
mod unknown;

pub use pending::{confirmed, pending, unconfirmed};
pub use unknown::unknown;

use super::family::family;
use super::unsent;
use crate::storage::{Expectation, Result, Storage, Write};
use crate::store::{Changed, Decision, Session, Store, derived, keys};
use logs::Release;

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

/// What a session leaves behind besides its logs: that it is gone, here and at its agents.
fn forget<S: Storage>(store: &Store<S>, session: &Session, now: i64, writes: &mut Vec<Write>) -> Result<()> {
    writes.push(Write::Put { key: keys::tombstone(&session.id), value: now.to_string() });
    unsent::remove(store, &session.id, writes)?;
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
