//! Forking: a new session that shares the transcript up to now and goes its own way from here.

mod inherit;

use std::collections::BTreeMap;

use serde_json::json;

use super::create;
use crate::environment::Environment;
use crate::index;
use crate::storage::{Expectation, Result, Storage, StorageError, Write, next_seq};
use crate::store::{
    Changed, Cost, Costs, Decision, Holders, Origin, Segment, Session, State, Store, Title, Usage, keys,
};
use crate::transcript::{Entry, Kind, speaker, text};
use inherit::Inheritance;

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
    /// How many entries of the transcript that agent has heard; see [`crate::store::Known`].
    pub heard: u64,
    /// The ids of the agent's own sessions whose conversation the fork remembers.
    pub lineage: Vec<String>,
    /// The last entry of the parent's own log when the agent was asked to fork its session, if it has: what came behind it the
    /// fork has, and the agent's need not.
    pub asked_at: Option<u32>,
    /// What that agent has said that the parent has cost, if it has: other windows' agents may have said something else.
    pub told: Option<Costs>,
    /// The sessions that the connection has open: none of them is the fork.
    pub open: Vec<String>,
    /// The further directories of the fork.
    pub directories: Vec<String>,
    /// Milliseconds since 1970.
    pub now: i64,
}

/// Stores the fork; `None` if there is no such parent. A place in the parent's transcript is the same place in the
/// fork's. The cost depends neither on the length of the transcript nor, to speak of, on how many forks led to the
/// parent.
pub fn fork<S: Storage, E: Environment>(store: &Store<S>, environment: &E, fork: &Fork<'_>) -> Result<Option<Session>> {
    let mut id = listed(store, fork)?.unwrap_or_else(|| fork.wanted_id.clone());
    loop {
        let is_taken = |found: Option<&Session>| match found {
            Some(found) => Ok(!fork.is_listed_as(found) || store.storage().log_end(&found.id)? > 0),
            None => Ok(false),
        };
        if id.is_empty() || is_taken(store.session(&id)?.as_ref())? || store.is_deleted(&id)? {
            id = create::mint(environment);
        }
        let mut taken = false;
        let changed = store.change(&id).durable().commit(|before, expected, writes| {
            taken = is_taken(before)?;
            // Read anew in each round: the parent may have grown, or be gone. Its record stays as it is up to the
            // commit, which expects the revision.
            let Some(parent) = store.session(fork.parent)?.filter(|_| !taken) else { return Ok(Decision::Keep) };
            forked(store, fork, &parent, &id, expected, writes).map(Decision::put)
        })?;
        match changed {
            Changed::Done { after, .. } => return Ok(after.map(|session| *session)),
            Changed::Nothing if taken => {}
            Changed::Nothing => return Ok(None),
        }
    }
}

/// The session that another window has made of what the agent's list says of the fork, if there is one.
fn listed<S: Storage>(store: &Store<S>, fork: &Fork<'_>) -> Result<Option<String>> {
    let (Some(agent), Some(agent_id)) = (&fork.agent, &fork.agent_id) else { return Ok(None) };
    let Some(id) = store.record(keys::agent_session(agent, agent_id))? else { return Ok(None) };
    Ok(store.session(&id)?.filter(|found| fork.is_listed_as(found)).map(|found| found.id))
}

impl Fork<'_> {
    /// Whether this session is nothing but what the agent's list says of the fork: it was read before the fork was stored.
    fn is_listed_as(&self, found: &Session) -> bool {
        let own = self.agent.as_deref().and_then(|agent| found.id_at(agent));
        let is_its_row = found.origin == Origin::Agent && own.is_some() && own == self.agent_id.as_deref();
        // An agent that counts its sessions anew may give the fork the id of the parent, of which it has no more than a row.
        is_its_row
            && found.id != self.parent
            && !self.open.contains(&found.id)
            && found.prompts == 0
            && !found.archived
            && !matches!(found.title, Title::Set(_))
    }
}

/// The fork's record, and what its commit writes elsewhere.
fn forked<S: Storage>(
    store: &Store<S>,
    fork: &Fork<'_>,
    parent: &Session,
    id: &str,
    expected: &mut Vec<Expectation>,
    writes: &mut Vec<Write>,
) -> Result<Session> {
    let until = store.storage().log_end(&parent.id)?;
    let Inheritance { shared, copied } = inherit::inherit(store.storage(), parent, until)?;
    let mut session = parent.clone();
    id.clone_into(&mut session.id);
    session.cwd.clone_from(&fork.cwd);
    session.directories.clone_from(&fork.directories);
    if let Title::Set(title) = session.title {
        // The user gave it to the parent; the agent may have a better one for the fork.
        session.title = Title::Auto(title);
    }
    session.created = fork.now;
    session.updated = fork.now;
    session.prompted = None;
    session.turn_ended = None;
    session.forked_from = Some(parent.id.clone());
    session.agents.clear();
    session.agent = None;
    session.archived = false;
    // Nobody's sub-agent: it is the user's own, and stays when the session is deleted that started the parent.
    session.parent = None;
    // It has not spent what its parent has.
    session.cost = None;
    session.segments = shared;
    session.tail = 1;
    session.aside.clear();
    expected.push(Expectation { key: keys::tombstone(&parent.id), value: None });
    let inherited: u64 = session.segments.iter().map(Segment::length).sum();
    let beginning = inherited + copied.len() as u64;
    if let (Some(agent), Some(agent_id)) = (&fork.agent, &fork.agent_id) {
        session.give_to(agent, agent_id, fork.heard);
        // What the agent remembers of the parent it remembers of the fork.
        let parents = parent.agents.get(agent).filter(|known| fork.lineage.contains(&known.id));
        let since = if fork.lineage.is_empty() { beginning } else { parents.map_or(0, |known| known.since) };
        if let Some(known) = session.agents.get_mut(agent) {
            known.lineage.clone_from(&fork.lineage);
            known.names = parents.map(|parents| parents.names.clone()).unwrap_or_default();
            known.since = since;
            known.uncopied = parents.map(|parents| parents.uncopied.clone()).unwrap_or_default();
            let copied = fork.asked_at.map(|asked_at| parent.length_before(asked_at));
            known.uncopied.extend(copied.filter(|copied| *copied < beginning).map(|copied| (copied, beginning)));
        }
    }
    share_logs(store, &session, expected, writes)?;
    for (value, seq) in copied.into_iter().zip(1..) {
        let tokens = text::tokens_of_entry(&value);
        if !tokens.is_empty() {
            writes.push(Write::IndexText { owner: index::Owner::Log(id).name(), part: seq, tokens });
        }
        writes.push(Write::Append { log: id.to_owned(), seq, value });
    }
    if session.segments.iter().any(|segment| segment.log == parent.id && segment.until == until) {
        // The mark freezes what is shared: what the parent's writer has open there goes to a new row.
        let mark = Entry::text(Kind::Fork, fork.now, &json!({ "fork": id }).to_string());
        writes.push(Write::Append { log: parent.id.clone(), seq: next_seq(until)?, value: mark });
    }
    if let Some(state) = store.record(keys::state(&parent.id))? {
        // What cannot be read stays as it is.
        let value = State::parse(&state).map_or(state, |state| state.without_cost().to_text());
        writes.push(Write::Put { key: keys::state(id), value });
    }
    writes.extend(used_before(store, fork, parent, id)?);
    for (agent, known) in &session.agents {
        writes.push(Write::Put { key: keys::agent_session(agent, &known.id), value: id.to_owned() });
    }
    Ok(session)
}

/// What the fork is noted to have used: nothing, and that its count begins at its parent's.
fn used_before<S: Storage>(store: &Store<S>, fork: &Fork<'_>, parent: &Session, id: &str) -> Result<Option<Write>> {
    let (Some(agent), Some(agent_id)) = (&fork.agent, &fork.agent_id) else { return Ok(None) };
    // The agent has forked what it has of the parent now.
    if !parent.id_at(agent).is_some_and(|own| fork.lineage.iter().any(|known| known == own)) {
        return Ok(None);
    }
    let usage = spent_before(store, parent, fork.told.as_ref(), (agent, agent_id))?;
    Ok(usage.map(|usage| Write::Put { key: keys::usage(id), value: usage.to_text() }))
}

/// What the agent has said that its session has cost, which its fork may go on counting from: here (`told`), and in a unit
/// of which it has said nothing here, elsewhere. What that session is known to have cost besides, as other windows were told,
/// is not the fork's either.
pub fn spent_before<S: Storage>(
    store: &Store<S>,
    parent: &Session,
    told: Option<&Costs>,
    (agent, agent_id): (&str, &str),
) -> Result<Option<Usage>> {
    let Some(forked) = parent.id_at(agent).map(|own| speaker(agent, own)) else { return Ok(None) };
    let parents = match store.usage(&parent.id) {
        // What cannot be read is nothing that a fork needs.
        Err(StorageError::Corrupt(_)) => Usage::default(),
        usage => usage?,
    };
    let mut begins_at = parents.told(&forked).cloned().unwrap_or_default();
    told.into_iter().flat_map(Costs::iter).for_each(|cost| begins_at.set_last(cost));
    let mut known = parents.known(&forked);
    // What it is said to have cost in a turn that is under way, in whichever window, the store has not as used yet.
    if let Some(cost) = told_in_turn(store, &parent.id, &forked)? {
        if begins_at.of(&cost.currency).is_none() {
            begins_at.set(&cost);
        }
        known.raise(&cost);
    }
    if begins_at.is_empty() {
        return Ok(None);
    }
    let mut usage = Usage::default();
    usage.note_told(&speaker(agent, agent_id), begins_at, &known);
    Ok(Some(usage))
}

/// What this one of the agents' sessions was last said to have cost, also where that is not written as used yet.
fn told_in_turn<S: Storage>(store: &Store<S>, id: &str, of: &str) -> Result<Option<Cost>> {
    match store.state(id) {
        Err(StorageError::Corrupt(_)) => Ok(None),
        state => Ok(state?.told_cost(of)),
    }
}

/// Notes the session as a holder of each log that its transcript shares.
fn share_logs<S: Storage>(
    store: &Store<S>,
    session: &Session,
    expected: &mut Vec<Expectation>,
    writes: &mut Vec<Write>,
) -> Result<()> {
    let mut shared: BTreeMap<&str, u32> = BTreeMap::new();
    for segment in &session.segments {
        let until = shared.entry(&segment.log).or_default();
        *until = segment.until.max(*until);
    }
    let read: Vec<String> = shared.keys().map(|log| keys::log_holders(log)).collect();
    if read.is_empty() {
        return Ok(());
    }
    let texts = store.storage().get(&read)?;
    for ((until, key), text) in shared.into_values().zip(read).zip(texts) {
        let mut holders = Holders::parse(text.as_deref())?;
        holders.holders.insert(session.id.clone(), until);
        expected.push(Expectation { key: key.clone(), value: text });
        writes.push(Write::Put { key, value: holders.to_text() });
    }
    Ok(())
}
