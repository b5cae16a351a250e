//! Creating a session's record, under the agent's own id where that is free.

use crate::environment::Environment;
use crate::sessions::vanish;
use crate::storage::{Durability, Result, Storage, Write};
use crate::store::{Draft, Session, Store, keys};

/// Stores a session that an agent has made under the id it asks for or, where that is taken or was once deleted, under a new
/// one, with what `writes` makes of that id in the same commit; on disk when this returns. Returns it as stored.
///
/// The agent's list may have told of it since it was asked for, which was at this revision of the store: it takes the place
/// of that row.
pub fn create_with<S: Storage, E: Environment>(
    store: &Store<S>,
    environment: &E,
    session: &Session,
    asked_at: Option<u64>,
    writes: impl Fn(&str) -> Result<Vec<Write>>,
) -> Result<Session> {
    let (id, draft) = store.change_all(&[&session.id], Durability::Durable, |draft| {
        let id = match listed_since(store, session, asked_at)? {
            Some(row) => take_place(draft, &row, session)?,
            None => add(draft, environment, session.clone()),
        };
        draft.writes.extend(writes(&id)?);
        Ok(id)
    })?;
    Ok(draft.session(&id).unwrap_or(session).clone())
}

/// What the agent's list has told of a session that was asked for at this revision of the store.
fn listed_since<S: Storage>(store: &Store<S>, session: &Session, asked_at: Option<u64>) -> Result<Option<Session>> {
    let (Some(asked_at), Some((agent, known))) = (asked_at, session.agents.first_key_value()) else { return Ok(None) };
    vanish::listed_since(store, (agent, &known.id), asked_at)
}

/// Puts a session in the place of that row, whose title is the agent's.
fn take_place<S: Storage>(draft: &mut Draft<'_, S>, row: &Session, session: &Session) -> Result<String> {
    draft.read(&[&row.id])?;
    let mut session = session.clone();
    session.id.clone_from(&row.id);
    session.title.clone_from(&row.title);
    session.born = row.born;
    draft.put(session);
    Ok(row.id.clone())
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
