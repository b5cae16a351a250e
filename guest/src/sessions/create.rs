//! Creating a session's record, under the agent's own id where that is free.

use crate::environment::Environment;
use crate::storage::{Durability, Result, Storage, Write};
use crate::store::{Changed, Decision, Session, Store, keys};

/// Stores a session under the id it asks for or, where that is taken or was once deleted, under a new one. Returns it
/// as stored.
pub fn create<S: Storage, E: Environment>(
    store: &Store<S>,
    environment: &E,
    session: &Session,
    durability: Durability,
) -> Result<Session> {
    create_with(store, environment, session, durability, |_| Ok(Vec::new()))
}

/// The same, with what `writes` makes of the final id in the same commit.
pub fn create_with<S: Storage, E: Environment>(
    store: &Store<S>,
    environment: &E,
    session: &Session,
    durability: Durability,
    writes: impl Fn(&str) -> Result<Vec<Write>>,
) -> Result<Session> {
    let mut wanted = session.id.clone();
    loop {
        let mut created = session.clone();
        created.id.clone_from(&wanted);
        let changed = store.change(&wanted).with(durability).commit(|before, _, also| {
            if before.is_some() || wanted.is_empty() || store.is_deleted(&wanted)? {
                return Ok(Decision::Keep);
            }
            for (agent, known) in &created.agents {
                also.push(Write::Put { key: keys::agent_session(agent, &known.id), value: wanted.clone() });
            }
            also.extend(writes(&wanted)?);
            Ok(Decision::put(created.clone()))
        })?;
        if let Changed::Done { after: Some(after), .. } = changed {
            created = *after;
            return Ok(created);
        }
        wanted = mint(environment);
    }
}

/// A new session id.
pub fn mint<E: Environment>(environment: &E) -> String {
    format!("sess_{:016x}{:016x}", environment.random(), environment.random())
}
