//! Taking in a row of an agent's own list: a session that the layer did not know, or what the agent knows better of one
//! that it does.

use super::{create, info};
use crate::environment::Environment;
use crate::rpc::Object;
use crate::storage::{Durability, Result, Storage};
use crate::store::{Decision, Origin, Session, Store, Title, directory, keys};
use crate::time;
use crate::transcript::own_words;

/// A row of an agent's list (protocol v1, `SessionInfo`).
#[derive(Debug, Clone)]
pub struct Row {
    /// The id that the agent knows the session by.
    pub agent_id: String,
    /// The directory, absolute.
    pub cwd: String,
    /// Its title, unless it is empty or of the layer's own words.
    pub title: Option<String>,
    /// Milliseconds since 1970.
    pub updated: Option<i64>,
    /// When it was created, where the agent says so: as the draft had it, or as a layer in front of it does.
    pub created: Option<i64>,
    /// The further directories, if the row says which: an agent that leaves them out says nothing of them.
    pub directories: Option<Vec<String>>,
    /// Whether it is put away, if the row says so (unstable).
    pub archived: Option<bool>,
    /// `_meta` as JSON.
    pub meta: String,
}

impl Row {
    /// Reads a row; `None` where it lacks what every row must have.
    pub fn read(json: &str) -> Option<Self> {
        let row = Object::parse(json)?;
        let (agent_id, cwd) = (row.get_string("sessionId")?, row.get_string("cwd")?);
        directory::normalise(&cwd)?;
        let title = row.get_string("title").filter(|title| !own_words::is_ours(title));
        let meta = Object::parse_or_empty(row.get_some("_meta").unwrap_or("{}"));
        let layers = Object::parse_or_empty(meta.get("acp-sessions").unwrap_or("{}"));
        let created = row.get_string("createdAt").or_else(|| layers.get_string("createdAt"));
        let directories = row.get_some("additionalDirectories").and_then(|json| serde_json::from_str(json).ok());
        let directories =
            directories.filter(|all: &Vec<String>| all.iter().all(|one| directory::normalise(one).is_some()));
        (!agent_id.is_empty()).then(|| Self {
            agent_id,
            cwd,
            title: title.as_deref().and_then(info::agents_title),
            updated: row.get_string("updatedAt").and_then(|text| time::parse(&text)),
            created: created.and_then(|text| time::parse(&text)),
            directories,
            archived: row.get_some("archived").and_then(|json| serde_json::from_str(json).ok()),
            meta: meta.to_json(),
        })
    }
}

/// What a row was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A session that is listed from now on.
    New,
    /// One that was listed before.
    Known,
    /// The same, which its user has given this title and the agent has not.
    Named(String),
    /// One that was put away here, or brought back, which the agent has not followed.
    Archived {
        /// The session.
        id: String,
        /// Whether it is put away.
        archived: bool,
    },
    /// One that was deleted here; the agent has not followed.
    Deleted,
}

/// Takes in a row; `is_open` says that this connection has the session open.
pub fn take_in<S: Storage, E: Environment>(
    store: &Store<S>,
    environment: &E,
    agent: &str,
    row: &Row,
    is_open: bool,
    now: i64,
) -> Result<Found> {
    let read = [keys::agent_session(agent, &row.agent_id), keys::agent_tombstone(agent, &row.agent_id)];
    let mut known = store.storage().get(&read)?.into_iter();
    let (mapped, tombstone) = (known.next().flatten(), known.next().flatten());
    // One that has the id by now was given it after another was deleted that had it.
    if let Some(id) = mapped {
        return refresh(store, &id, agent, row, is_open, now);
    }
    if tombstone.is_some() {
        return Ok(Found::Deleted);
    }
    let updated = row.updated.or(row.created).unwrap_or(now);
    let mut session = Session::new(row.agent_id.clone(), row.cwd.clone(), updated);
    session.create_at(row.created);
    session.give_to(agent, &row.agent_id, 0);
    session.origin = Origin::Agent;
    session.undated = row.updated.is_none();
    session.directories = row.directories.clone().unwrap_or_default();
    session.archived = row.archived.unwrap_or_default();
    session.title = row.title.clone().map_or(Title::None, Title::Agent);
    if let Some(known) = session.agents.get_mut(agent) {
        known.listed = row.updated;
        known.archived = session.archived;
    }
    info::merge(&mut session, &format!("{{\"_meta\":{}}}", row.meta), now);
    create::create(store, environment, &session, Durability::Relaxed)?;
    Ok(Found::New)
}

/// What the agent knows better of a session that is listed already: its title, unless a user has set one, a later
/// activity, its further directories, unless it has just been opened here with others, and whether it is put away. Of
/// the last two changes to that, one here and one at the agent, the later one counts: the agent has made one where its
/// list says another thing than it said, or was told, before.
fn refresh<S: Storage>(store: &Store<S>, id: &str, agent: &str, row: &Row, is_open: bool, now: i64) -> Result<Found> {
    let mut found = Found::Known;
    store.change(id).commit(|before, _, _| {
        found = Found::Known;
        let Some(session) = before else { return Ok(Decision::Keep) };
        let mut fresh = session.clone();
        // What it says of one that it began anew since is not about this one any more.
        let is_current = session.id_at(agent) == Some(&row.agent_id);
        let title = row.title.as_ref().filter(|_| is_current);
        if let (Title::None | Title::Auto(_) | Title::Agent(_), Some(title)) = (&session.title, title) {
            fresh.title = Title::Agent(title.clone());
        }
        if let Title::Set(title) = &session.title
            && is_current
            && !is_named_so(row, title)
        {
            found = Found::Named(title.clone());
        }
        if session.origin == Origin::Agent {
            fresh.create_at(row.created);
        }
        if let Some(updated) = row.updated.filter(|_| is_current) {
            // A time to come orders nothing, but that it is another one says that something was said.
            if updated <= now && (updated > session.updated || session.origin == Origin::Agent) {
                fresh.touch(updated);
            }
            if let Some(known) = fresh.agents.get_mut(agent) {
                known.listed = Some(updated);
            }
        }
        if let Some(directories) = row.directories.as_ref().filter(|_| is_current && !is_open) {
            fresh.directories.clone_from(directories);
        }
        if let (Some(archived), Some(known)) = (row.archived.filter(|_| is_current), fresh.agents.get_mut(agent)) {
            if known.archived != archived {
                known.archived = archived;
                fresh.archived = archived;
            } else if fresh.archived != archived {
                found = Found::Archived { id: id.to_owned(), archived: fresh.archived };
            }
        }
        let same = fresh.title == session.title
            && (fresh.updated, fresh.undated) == (session.updated, session.undated)
            && (fresh.archived, &fresh.directories) == (session.archived, &session.directories)
            && fresh.created == session.created
            && fresh.agents == session.agents;
        Ok(if same { Decision::Keep } else { Decision::put(fresh) })
    })?;
    Ok(found)
}

/// Whether the agent has this title for it, or as much of it as it has room for.
fn is_named_so(row: &Row, title: &str) -> bool {
    let Some(theirs) = &row.title else { return false };
    let kept = theirs.strip_suffix('…').or_else(|| theirs.strip_suffix("...")).map(str::trim_end);
    theirs == title || kept.is_some_and(|kept| !kept.is_empty() && title.starts_with(kept))
}
