//! Sessions that an agent starts on behalf of another (unstable: `subagent_update`).

use crate::storage::{Durability, Result, Storage, Write};
use crate::store::{Changed, Decision, Session, Store, Title, keys};

use super::info;

/// What an agent says of a session that it has started.
#[derive(Debug)]
pub struct Announced<'a> {
    /// The session on behalf of which it did.
    pub parent: &'a str,
    /// The agent.
    pub agent: &'a str,
    /// The id it knows the new session by, which is also the one clients are told.
    pub agent_id: &'a str,
    /// Where it works; its parent's directory if the agent does not say.
    pub cwd: Option<String>,
    /// Its title, if the agent gives one.
    pub title: Option<String>,
    /// Milliseconds since 1970.
    pub now: i64,
}

/// Stores it, or finds it where it was announced before. `None` if it cannot be recorded: it was deleted, or its id is
/// another session's.
pub fn announced<S: Storage>(store: &Store<S>, announced: &Announced<'_>) -> Result<Option<Session>> {
    let Announced { parent, agent, agent_id, .. } = *announced;
    let (parents_cwd, directories) =
        store.session(parent)?.map(|session| (session.cwd, session.directories)).unwrap_or_default();
    let cwd = announced.cwd.clone().unwrap_or(parents_cwd);
    let mut found = None;
    let changed = store.change(agent_id).with(Durability::Relaxed).commit(|before, _, writes| {
        found = before.filter(|session| session.id_at(agent) == Some(agent_id)).cloned();
        let tombstones = [keys::tombstone(agent_id), keys::agent_tombstone(agent, agent_id)];
        let is_deleted = store.storage().get(&tombstones)?.iter().any(Option::is_some);
        if before.is_some() || is_deleted || store.record(keys::agent_session(agent, agent_id))?.is_some() {
            return Ok(Decision::Keep);
        }
        let mut session = Session::new(agent_id.to_owned(), cwd.clone(), announced.now);
        session.parent = Some(parent.to_owned());
        // An agent does not say more of where it works, and works where its parent does.
        session.directories.clone_from(&directories);
        session.give_to(agent, agent_id, 0);
        if let Some(title) = announced.title.as_deref().and_then(info::agents_title) {
            session.title = Title::Agent(title);
        }
        writes.push(Write::Put { key: keys::agent_session(agent, agent_id), value: agent_id.to_owned() });
        Ok(Decision::put(session))
    })?;
    Ok(match changed {
        Changed::Done { after, .. } => after.map(|session| *session),
        Changed::Nothing => found,
    })
}
