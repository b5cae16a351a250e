//! Putting sessions away and bringing them back.

use crate::storage::{Result, Storage};
use crate::store::{Changed, Decision, Store};

/// Sets whether a session is archived; says whether there is such a session. Setting it again changes nothing.
pub fn set_archived<S: Storage>(store: &Store<S>, id: &str, archived: bool) -> Result<bool> {
    let mut found = false;
    let changed = store.change(id).durable().commit(|before, _, _| {
        found = before.is_some();
        let Some(mut session) = before.filter(|session| session.archived != archived).cloned() else {
            return Ok(Decision::Keep);
        };
        session.archived = archived;
        Ok(Decision::put(session))
    })?;
    Ok(found || matches!(changed, Changed::Done { .. }))
}

/// Notes that the agent that knows a session by this id has put it away too, or brought it back. What a list of its says that was
/// asked for before is older.
pub fn followed<S: Storage>(
    store: &Store<S>,
    id: &str,
    (agent, agent_id): (&str, &str),
    archived: bool,
    now: i64,
) -> Result<()> {
    store.change(id).commit(|before, _, _| {
        let Some(mut session) = before.cloned() else { return Ok(Decision::Keep) };
        let known = session.agents.get_mut(agent).filter(|known| known.id == agent_id);
        let Some(known) = known else { return Ok(Decision::Keep) };
        if known.archived != archived {
            known.archived = archived;
            known.archived_as_told = archived;
        }
        known.as_of.followed(now);
        Ok(Decision::put(session))
    })?;
    Ok(())
}
