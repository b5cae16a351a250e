//! Deleting a session of which nothing is here: its agent may have it all the same, and list it again.

use crate::storage::{Expectation, Result, Storage, Write};
use crate::store::{Changed, Decision, Store, keys};

/// Notes that the session is deleted that this agent may know by this id, and that the agent has not confirmed it; says
/// whether that was to be noted. It is not where something is here, where it was deleted before, and where the agent's
/// id is that of another session.
pub fn unknown<S: Storage>(store: &Store<S>, agent: &str, id: &str, now: i64) -> Result<bool> {
    let changed = store.change(id).durable().commit(|before, expected, writes| {
        let (mapping, agents) = (keys::agent_session(agent, id), keys::agent_tombstone(agent, id));
        let read = [mapping.clone(), agents.clone(), keys::tombstone(id)];
        let is_known = before.is_some() || store.storage().get(&read)?.iter().any(Option::is_some);
        if is_known || id.is_empty() {
            return Ok(Decision::Keep);
        }
        expected.push(Expectation { key: mapping, value: None });
        for key in [keys::tombstone(id), agents, keys::pending_delete(agent, id)] {
            writes.push(Write::Put { key, value: now.to_string() });
        }
        Ok(Decision::Remove)
    })?;
    Ok(matches!(changed, Changed::Done { .. }))
}
