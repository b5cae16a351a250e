//! Creating a session's record, under the agent's own id where that is free.

use crate::environment::Environment;
use crate::storage::{Durability, Result, Storage, Write};
use crate::store::{Draft, Session, Store, keys};

/// Stores a session under the id it asks for or, where that is taken or was once deleted, under a new one, with what
/// `writes` makes of that id in the same commit. Returns it as stored.
pub fn create_with<S: Storage, E: Environment>(
    store: &Store<S>,
    environment: &E,
    session: &Session,
    durability: Durability,
    writes: impl Fn(&str) -> Result<Vec<Write>>,
) -> Result<Session> {
    let (id, draft) = store.change_all(&[&session.id], durability, |draft| {
        let id = add(draft, environment, session.clone());
        draft.writes.extend(writes(&id)?);
        Ok(id)
    })?;
    Ok(draft.session(&id).unwrap_or(session).clone())
}

/// Adds a session to those that are changed together, under the id it asks for, which has been read, or a new one.
/// Returns that id.
pub(super) fn add<S: Storage, E: Environment>(
    draft: &mut Draft<'_, S>,
    environment: &E,
    mut session: Session,
) -> String {
    if session.id.is_empty() || !draft.is_free(&session.id) {
        session.id = mint(environment);
    }
    for (agent, known) in &session.agents {
        draft.writes.push(Write::Put { key: keys::agent_session(agent, &known.id), value: session.id.clone() });
    }
    let id = session.id.clone();
    draft.put(session);
    id
}

/// A new session id.
pub fn mint<E: Environment>(environment: &E) -> String {
    format!("sess_{:016x}{:016x}", environment.random(), environment.random())
}
