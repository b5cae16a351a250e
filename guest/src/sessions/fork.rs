//! Forking: a new session that shares the transcript up to now and goes its own way from here.

use serde_json::json;

use super::create;
use super::delete::Holders;
use crate::environment::Environment;
use crate::storage::{Expectation, Result, Storage, Write};
use crate::store::{Changed, Segment, Session, Store, keys};
use crate::transcript::{Entry, Kind};

/// What the fork is to be, besides what it takes from its parent.
#[derive(Debug)]
pub struct Fork<'a> {
    /// The session to fork.
    pub parent: &'a str,
    /// The id to use where it is free.
    pub wanted_id: String,
    /// The working directory of the fork.
    pub cwd: String,
    /// The agent it is with.
    pub agent: Option<String>,
    /// The id that agent knows the fork by.
    pub agent_id: Option<String>,
    /// Milliseconds since 1970.
    pub now: i64,
}

/// Stores the fork; `None` if there is no such parent. Copies nothing: the cost does not depend on the length of the
/// transcript.
pub fn fork<S: Storage, E: Environment>(store: &Store<S>, environment: &E, fork: &Fork<'_>) -> Result<Option<Session>> {
    let mut id = fork.wanted_id.clone();
    loop {
        if id.is_empty() || store.session(&id)?.is_some() || store.is_deleted(&id)? {
            id = create::mint(environment);
        }
        let mut taken = false;
        let changed = store.change(&id).durable().commit(|before, expected, writes| {
            taken = before.is_some();
            // Read anew in each round: the parent may have grown, or be gone.
            let Some(parent) = store.session(fork.parent)?.filter(|_| !taken) else { return Ok(None) };
            shared(store, fork, &parent, &id, expected, writes).map(|session| Some(Some(session)))
        })?;
        match changed {
            Changed::Done { after, .. } => return Ok(after.map(|session| *session)),
            Changed::Nothing if taken => {}
            Changed::Nothing => return Ok(None),
        }
    }
}

/// The fork's record, and what its commit writes elsewhere.
fn shared<S: Storage>(
    store: &Store<S>,
    fork: &Fork<'_>,
    parent: &Session,
    id: &str,
    expected: &mut Vec<Expectation>,
    writes: &mut Vec<Write>,
) -> Result<Session> {
    let until = store.storage().log_end(&parent.id)?;
    let mut inherited = parent.inherited.clone();
    if until > 0 {
        inherited.push(Segment { log: parent.id.clone(), until });
    }
    let session = Session {
        id: id.to_owned(),
        cwd: fork.cwd.clone(),
        created: fork.now,
        updated: fork.now,
        agent: fork.agent.clone(),
        agent_id: fork.agent_id.clone(),
        archived: false,
        inherited,
        ..parent.clone()
    };
    expected.push(Expectation { key: keys::tombstone(&parent.id), value: None });
    for segment in &session.inherited {
        let key = keys::log_holders(&segment.log);
        let text = store.record(key.clone())?;
        let mut holders = Holders::parse(text.as_deref())?;
        holders.holders.insert(id.to_owned(), segment.until);
        expected.push(Expectation { key: key.clone(), value: text });
        writes.push(Write::Put { key, value: holders.to_text() });
    }
    // The mark freezes the shared part: what the parent's writer has open there goes to a new row.
    let mark = Entry::text(Kind::Fork, fork.now, &json!({ "fork": id }).to_string());
    writes.push(Write::Append { log: parent.id.clone(), seq: until + 1, value: mark });
    if let Some(state) = store.record(keys::state(&parent.id))? {
        writes.push(Write::Put { key: keys::state(id), value: state });
    }
    if let (Some(agent), Some(agent_id)) = (&session.agent, &session.agent_id) {
        writes.push(Write::Put { key: keys::agent_session(agent, agent_id), value: id.to_owned() });
    }
    Ok(session)
}
