//! Taking over into a transcript what an agent replayed, as [`crate::reconcile`] has planned it, in one commit.
//!
//! Nothing is copied: the staging log, into which the replay was recorded, becomes part of the transcript as far as it is
//! needed. Where entries of the session's own log no longer stand at the conversation's end, a mark behind them keeps
//! recorders from amending the last of them; the mark is no part of the conversation.

mod layout;

use serde_json::json;

use super::create::mint;
use super::removal;
use crate::environment::Environment;
use crate::reconcile::{Disputed, Piece, Plan};
use crate::storage::{Durability, Expectation, Result, Storage, StorageError, Write, next_seq};
use crate::store::{Changed, Decision, Holders, Known, Left, Origin, Session, Store, keys};
use crate::transcript::{Entry, Kind};

use layout::{Layout, append};

/// How often a staging log is tried to be dropped while its holders change.
const ATTEMPTS: usize = 100;

/// A replay, and what is to become of it.
#[derive(Debug, Clone, Copy)]
pub struct Adoption<'a> {
    /// The session as it was read when the plan was made; for [`create`], as it is to be stored.
    pub session: &'a Session,
    /// The last entry of its own log at that time. What was appended since stays behind everything.
    pub own_end: u32,
    /// The log that the replay was recorded into.
    pub staging: &'a str,
    /// What is to be done.
    pub plan: &'a Plan,
    /// The agent that replayed.
    pub agent: &'a str,
    /// The id that agent knows the session by.
    pub agent_id: &'a str,
    /// The time of last activity in the agent's own list, if that is known.
    pub compared: Option<i64>,
    /// Milliseconds since 1970.
    pub now: i64,
}

/// What became of an adoption.
#[derive(Debug, Clone)]
pub enum Adopted {
    /// The transcript is as planned; the session as it is stored now.
    Done(Box<Session>),
    /// Another process has laid the transcript out anew, or created the session, in the meantime. The replay is
    /// dropped; what that process made of its own replay counts.
    Outrun,
    /// The session has been deleted. The replay is dropped.
    Deleted,
}

/// Carries out a plan for a session that has a record.
pub fn adopt<S: Storage>(store: &Store<S>, adoption: &Adoption<'_>) -> Result<Adopted> {
    let Adoption { session: base, agent, agent_id, .. } = *adoption;
    let mut otherwise = Adopted::Outrun;
    let changed = store.change(&base.id).durable().commit(|before, expected, writes| {
        let Some(current) = before else {
            otherwise = Adopted::Deleted;
            return Ok(Decision::Keep);
        };
        otherwise = Adopted::Outrun;
        if !is_same_transcript(current, base) {
            return Ok(Decision::Keep);
        }
        let mut session = current.clone();
        if adoption.plan.tells {
            let Some(placed) = place(store, adoption, &mut session, expected, writes)? else {
                return Ok(Decision::Keep);
            };
            // Another session of the agent's may have taken this one's place since.
            let known = current.agents.get(agent).filter(|known| known.id == agent_id);
            // What the agent heard through another connection since the transcript was read.
            let since = known.map_or(0, |known| if known.heard == u64::MAX { 0 } else { known.heard });
            let since = since.saturating_sub(adoption.plan.planned());
            let all = adoption.plan.heard == adoption.plan.length();
            let heard = adoption.plan.heard + if all { since } else { 0 };
            for (name, known) in &mut session.agents {
                carry_places(known, adoption.plan);
                if name != agent {
                    known.heard = adoption.plan.carried(known.heard);
                }
            }
            session.know_as(agent, agent_id, heard);
            if adoption.plan.disputed != Disputed::Stays {
                session.agents.entry(agent.to_owned()).and_modify(|known| known.note_comparison(adoption.compared));
            }
            if known.is_none() {
                writes.push(Write::Put { key: keys::agent_session(agent, agent_id), value: session.id.clone() });
            }
            if placed || session.to_text() != current.to_text() {
                return Ok(Decision::put(session));
            }
        }
        otherwise = Adopted::Done(Box::new(session));
        Ok(Decision::Keep)
    })?;
    if let Changed::Done { after: Some(after), .. } = changed {
        return Ok(Adopted::Done(after));
    }
    discard(store, adoption.staging, &[])?;
    Ok(otherwise)
}

/// Creates the record of a session that the layer did not know, under the id it asks for or, where that is taken or was
/// once deleted, under a new one, with what its agent replayed. The plan is one for an empty transcript.
pub fn create<S: Storage, E: Environment>(
    store: &Store<S>,
    environment: &E,
    adoption: &Adoption<'_>,
) -> Result<Adopted> {
    let mapping = keys::agent_session(adoption.agent, adoption.agent_id);
    let tombstone = keys::agent_tombstone(adoption.agent, adoption.agent_id);
    let mut wanted = adoption.session.id.clone();
    loop {
        let mut otherwise = None;
        let changed = store.change(&wanted).durable().commit(|before, expected, writes| {
            otherwise = if store.record(tombstone.clone())?.is_some() {
                Some(Adopted::Deleted)
            } else if store.record(mapping.clone())?.is_some() {
                Some(Adopted::Outrun)
            } else {
                None
            };
            if otherwise.is_some() || before.is_some() || wanted.is_empty() || store.is_deleted(&wanted)? {
                return Ok(Decision::Keep);
            }
            expected.extend([&tombstone, &mapping].map(|key| Expectation { key: key.clone(), value: None }));
            writes.push(Write::Put { key: mapping.clone(), value: wanted.clone() });
            let mut session = adoption.session.clone();
            session.id.clone_from(&wanted);
            session.give_to(adoption.agent, adoption.agent_id, adoption.plan.heard);
            if let Some(known) = session.agents.get_mut(adoption.agent) {
                known.note_comparison(adoption.compared);
            }
            if !adoption.plan.tells {
                // Whatever there is of its history, only the agent has it.
                session.origin = Origin::Agent;
            }
            if place(store, adoption, &mut session, expected, writes)?.is_none() {
                otherwise = Some(Adopted::Outrun);
                return Ok(Decision::Keep);
            }
            Ok(Decision::put(session))
        })?;
        match (changed, otherwise) {
            (Changed::Done { after: Some(after), .. }, _) => return Ok(Adopted::Done(after)),
            (_, Some(otherwise)) => {
                discard(store, adoption.staging, &[])?;
                return Ok(otherwise);
            }
            _ => wanted = mint(environment),
        }
    }
}

/// Puts what stands in a log of its own (its name, how many entries there are, and when) into the transcript of a session whose own log
/// ends at `end`, `behind` so many entries. Says whether it has: not where that log is somebody's already.
pub(super) fn put_in<S: Storage>(
    store: &Store<S>,
    session: &mut Session,
    (end, behind): (u32, u64),
    (log, entries, now): (&str, u32, i64),
    expected: &mut Vec<Expectation>,
    writes: &mut Vec<Write>,
) -> Result<bool> {
    let before = session.clone();
    let total = before.length_up_to(end);
    let pieces = [Piece::Keep(1..=behind), Piece::Insert(1..=u64::from(entries)), Piece::Keep(behind + 1..=total)];
    let pieces = pieces.into_iter().filter(|piece| !piece.range().is_empty()).collect();
    let plan = Plan { pieces, ..Plan::default() };
    let adoption = Adoption {
        session: &before,
        own_end: end,
        staging: log,
        plan: &plan,
        agent: "",
        agent_id: "",
        compared: None,
        now,
    };
    if place(store, &adoption, session, expected, writes)?.is_none() {
        return Ok(false);
    }
    for known in session.agents.values_mut() {
        carry_places(known, &plan);
        known.heard = plan.carried(known.heard);
    }
    Ok(true)
}

/// Has what is known by places in a transcript, but for how much was heard, follow the transcript.
fn carry_places(known: &mut Known, plan: &Plan) {
    known.since = plan.carried(known.since);
    known.uncopied = known.uncopied.iter().filter_map(|part| plan.moved(*part)).collect();
    known.left = known.left.map(|left| Left { heard: plan.carried(left.heard), ..left });
}

/// Has a staging log and its texts removed, with these writes in the same commit; not where a transcript holds a part of
/// it, when only these are made.
pub fn discard<S: Storage>(store: &Store<S>, staging: &str, with: &[Write]) -> Result<()> {
    let key = keys::log_holders(staging);
    for _ in 0..ATTEMPTS {
        let text = store.record(key.clone())?;
        let is_held = !Holders::parse(text.as_deref())?.holders.is_empty();
        let unheld = Expectation { key: key.clone(), value: text };
        let mut writes = with.to_vec();
        if !is_held {
            writes.push(Write::Remove { key: key.clone() });
            writes.extend(removal::let_go(store, staging, 1)?);
        }
        if writes.is_empty() {
            return Ok(());
        }
        match store.commit(&[unheld], writes, Durability::Relaxed) {
            Err(StorageError::Conflict) => {}
            result => return result,
        }
    }
    Err(StorageError::Unavailable("other processes keep changing who holds a log".to_owned()))
}

/// Lays the session's transcript out and takes hold of the staging log. Whether anything moved, came or went; `None` if the
/// plan is not one for this transcript, or the staging log belongs to somebody by now.
fn place<S: Storage>(
    store: &Store<S>,
    adoption: &Adoption<'_>,
    session: &mut Session,
    expected: &mut Vec<Expectation>,
    writes: &mut Vec<Write>,
) -> Result<Option<bool>> {
    let Adoption { own_end, staging, plan, .. } = *adoption;
    let Some(layout) = Layout::of(session, own_end, staging, plan) else { return Ok(None) };
    let key = keys::log_holders(staging);
    let text = store.record(key.clone())?;
    let mut holders = Holders::parse(text.as_deref())?;
    if !holders.holders.is_empty() {
        return Ok(None);
    }
    expected.push(Expectation { key: key.clone(), value: text });
    // Another process may take this connection for one that has ended.
    let given_up = keys::removal(staging);
    if store.record(given_up.clone())?.is_some() {
        return Ok(None);
    }
    expected.push(Expectation { key: given_up, value: None });
    if layout.used_until > 0 {
        holders.holders.insert(session.id.clone(), layout.used_until);
        holders.orphaned = true;
        writes.push(Write::Put { key, value: holders.to_text() });
    } else {
        writes.push(Write::Remove { key });
    }
    writes.extend(removal::let_go(store, staging, layout.used_until + 1)?);
    if plan.tells {
        session.origin = Origin::Layer;
    }
    if plan.keeps_all() {
        return Ok(Some(false));
    }
    let end = store.storage().log_end(&session.id)?;
    session.tail = match layout.tail {
        Some(tail) => tail,
        None if end > own_end => own_end + 1,
        None => {
            let mark = Entry::text(Kind::Fork, adoption.now, &json!({ "adopted": staging }).to_string());
            let seq = next_seq(own_end)?;
            writes.push(Write::Append { log: session.id.clone(), seq, value: mark });
            seq + 1
        }
    };
    session.segments = layout.segments;
    layout.aside.into_iter().for_each(|segment| append(&mut session.aside, segment));
    if layout.has_moved || end > own_end {
        session.layout += 1;
        session.settled = 0;
    }
    Ok(Some(true))
}

/// Whether a plan made for the one is good for the other.
fn is_same_transcript(one: &Session, other: &Session) -> bool {
    (&one.segments, one.tail, one.layout, one.origin) == (&other.segments, other.tail, other.layout, other.origin)
}
