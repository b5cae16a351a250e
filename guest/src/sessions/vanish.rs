//! Sessions that their agent has no more. One whose history is here stays; of one that only the agent had nothing is
//! left to keep. It leaves no tombstone: should the agent have it again, so has the list. One that its user has named, put
//! away or brought back, or has had follow a folder, stays: that is nowhere else, and another program of the agent's may
//! still have the session.

use super::{open_marks, unsent};
use crate::storage::{Bounds, Result, Storage, Write};
use crate::store::{Decision, Known, Origin, Session, Store, Title, keys};

/// How many of an agent's sessions are looked at in one call.
const LOOKED: Bounds = Bounds { limit: 64, max_bytes: 64 * 1024 };

/// A part of the sessions that an agent knows.
#[derive(Debug)]
pub struct KnownPart {
    /// The agent's ids of them, and ours.
    pub ids: Vec<(String, String)>,
    /// Where to go on, if there are more.
    pub next: Option<String>,
}

/// A part of the sessions that an agent knows, behind a key.
pub fn known_to<S: Storage>(store: &Store<S>, agent: &str, behind: &str) -> Result<KnownPart> {
    let prefix = keys::agent_sessions(agent);
    let start = if behind.is_empty() { prefix.clone() } else { format!("{behind}\u{0}") };
    let page = store.storage().scan(&start, &keys::range_end(&prefix), false, LOOKED)?;
    let next = page.entries.last().filter(|_| page.more).map(|entry| entry.key.clone());
    let ids =
        page.entries.into_iter().filter_map(|entry| Some((keys::decode(&entry.key[prefix.len()..])?, entry.value)));
    Ok(KnownPart { ids: ids.collect(), next })
}

/// The folder of a session of which nothing is here but what the agent's list said, as far as [`forget_if_since`] can tell
/// without anybody having it open.
pub fn folder_if_forgettable<S: Storage>(
    store: &Store<S>,
    id: &str,
    by: (&str, &str),
    since: i64,
) -> Result<Option<String>> {
    let Some(session) = store.session(id)? else { return Ok(None) };
    let is_forgettable = is_its_since(&session, by, since) && is_only_listed(store, &session, by.0)?;
    Ok(is_forgettable.then_some(session.cwd))
}

/// The session that the agent has by this id, if it is nothing but what the agent's list has said since the store was at this
/// revision.
pub fn listed_since<S: Storage>(
    store: &Store<S>,
    (agent, agent_id): (&str, &str),
    revision: u64,
) -> Result<Option<Session>> {
    let Some(id) = store.record(keys::agent_session(agent, agent_id))? else { return Ok(None) };
    let Some(session) = store.session(&id)?.filter(|session| session.born > revision) else { return Ok(None) };
    let is_its_row = session.id_at(agent) == Some(agent_id) && is_only_listed(store, &session, agent)?;
    Ok(is_its_row.then_some(session))
}

/// Removes a session of which nothing is here but what its agent's list said, unless somebody has it open: what is said
/// there is going to be here too.
pub fn forget<S: Storage>(store: &Store<S>, id: &str, agent: &str, now: i64) -> Result<()> {
    forget_where(store, id, agent, now, |_| true)
}

/// Removes such a session, see [`forget`], if it is the one that the agent has by this id, and its last activity is not
/// before `since`. That the agent has the session no more that stood in for it says nothing of its own.
pub fn forget_if_since<S: Storage>(store: &Store<S>, id: &str, by: (&str, &str), since: i64, now: i64) -> Result<()> {
    forget_where(store, id, by.0, now, |session| is_its_since(session, by, since))
}

fn is_its_since(session: &Session, (agent, agent_id): (&str, &str), since: i64) -> bool {
    session.updated >= since && session.id_at(agent) == Some(agent_id)
}

fn forget_where<S: Storage>(
    store: &Store<S>,
    id: &str,
    agent: &str,
    now: i64,
    is_meant: impl Fn(&Session) -> bool,
) -> Result<()> {
    store.change(id).commit(|before, expected, writes| {
        let Some(session) = before else { return Ok(Decision::Keep) };
        let may_go = is_meant(session) && is_only_listed(store, session, agent)? && !unsent::is_any(store, id)?;
        if !may_go || !open_marks::expect_closed(store, &[id], now, expected)? {
            return Ok(Decision::Keep);
        }
        for (agent, id) in session.agents.iter().flat_map(|(agent, known)| known.ids().map(move |id| (agent, id))) {
            let mapping = keys::agent_session(agent, id);
            // An agent that hands out the same id again has another session by it now.
            if store.record(mapping.clone())?.is_some_and(|mapped| mapped == session.id) {
                writes.push(match had_before(store, session, agent, id)? {
                    Some(value) => Write::Put { key: mapping, value },
                    None => Write::Remove { key: mapping },
                });
            }
        }
        writes.extend(keys::beside(id).map(|key| Write::Remove { key }));
        Ok(Decision::Remove)
    })?;
    Ok(())
}

/// The session that had this id of the agent's before this one was given it, as the first to have it does: it bears it.
fn had_before<S: Storage>(store: &Store<S>, session: &Session, agent: &str, agent_id: &str) -> Result<Option<String>> {
    if session.id == agent_id {
        return Ok(None);
    }
    // The commit expects the revision, so no record can change before it.
    let before = store.session(agent_id)?.filter(|before| before.id_at(agent) == Some(agent_id));
    Ok(before.map(|before| before.id))
}

/// Whether nobody but this agent knows anything of the session.
fn is_only_listed<S: Storage>(store: &Store<S>, session: &Session, agent: &str) -> Result<bool> {
    let is_theirs = session.is_known_to_none_but(agent);
    let is_empty = session.segments.is_empty() && session.aside.is_empty() && session.prompts == 0;
    Ok(session.origin == Origin::Agent
        && is_theirs
        && is_empty
        && !is_as_its_user_wants(session)
        && store.storage().log_end(&session.id)? == 0)
}

/// Whether its user has made something of it that the agent's list does not say.
fn is_as_its_user_wants(session: &Session) -> bool {
    let is_named = matches!(session.title, Title::Set(_));
    let is_put_away_here = |known: &Known| session.archived != known.archived || known.archived_as_told;
    is_named || session.agents.values().any(|known| is_put_away_here(known) || known.moved)
}
