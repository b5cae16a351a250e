//! Putting sessions away and bringing them back.

use crate::storage::{Result, Storage};
use crate::store::{Changed, Store};

/// Sets whether a session is archived; says whether there is such a session. Setting it again changes nothing.
pub fn set_archived<S: Storage>(store: &Store<S>, id: &str, archived: bool) -> Result<bool> {
    let mut found = false;
    let changed = store.change(id).durable().commit(|before, _, _| {
        found = before.is_some();
        let Some(mut session) = before.filter(|session| session.archived != archived).cloned() else { return Ok(None) };
        session.archived = archived;
        Ok(Some(Some(session)))
    })?;
    Ok(found || matches!(changed, Changed::Done { .. }))
}
