//! A session's family: the sessions of its sub-agents, of theirs, and so on.

use std::collections::{BTreeSet, VecDeque};

use crate::storage::{Bounds, Result, Storage, StorageError};
use crate::store::{Session, Store, keys};

/// How many sub-agents' sessions are looked for at a time where all are wanted.
const ALL: Bounds = Bounds { limit: 256, max_bytes: 64 * 1024 };
/// How many are looked for at a time where the next one is wanted.
const NEXT: Bounds = Bounds { limit: 2, max_bytes: 1024 };

/// A session and its family.
pub(super) fn family<S: Storage>(store: &Store<S>, session: &Session) -> Result<Vec<Session>> {
    let mut family = vec![session.clone()];
    let mut known = BTreeSet::from([session.id.clone()]);
    let mut next = 0;
    while let Some(parent) = family.get(next).map(|parent| parent.id.clone()) {
        next += 1;
        let mut subagents = Subagents::of(&parent, None, ALL);
        while let Some(id) = subagents.next(store)? {
            // Records that name each other as parents do not make this go round for ever.
            if known.insert(id.clone()) {
                // What cannot be read stays: the session can be deleted all the same.
                family.extend(readable(store, &id)?);
            }
        }
    }
    Ok(family)
}

/// Whether a session is another one's, or in its family.
pub(super) fn is_of_family<S: Storage>(store: &Store<S>, of: &str, id: &str) -> Result<bool> {
    let mut line = Line::up_from(store, id);
    while let Some(session) = line.next()? {
        if session.id == of {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The session that comes behind `id` in the family of `of`: behind each session come those of its sub-agents, in the order of
/// their ids, each with its own. None at the end.
pub(super) fn next_of_family<S: Storage>(store: &Store<S>, of: &str, id: &str) -> Result<Option<String>> {
    if let Some(first) = next_subagent(store, of, id, None)? {
        return Ok(Some(first));
    }
    let mut line = Line::up_from(store, id);
    while let Some(Session { id, parent: Some(parent), .. }) = line.next()?.filter(|session| session.id != of) {
        if let Some(next) = next_subagent(store, of, &parent, Some(&id))? {
            return Ok(Some(next));
        }
    }
    Ok(None)
}

/// The session of a sub-agent of this parent's that comes next behind this one, or the first; never that of `of`.
fn next_subagent<S: Storage>(store: &Store<S>, of: &str, parent: &str, behind: Option<&str>) -> Result<Option<String>> {
    let mut subagents = Subagents::of(parent, behind, NEXT);
    while let Some(id) = subagents.next(store)? {
        // Of records that name each other as parents none is below the other.
        let is_its = |session: Session| session.parent.as_deref() == Some(parent) && session.id != of;
        if readable(store, &id)?.is_some_and(is_its) {
            return Ok(Some(id));
        }
    }
    Ok(None)
}

/// The ids of the sessions of a parent's sub-agents, in their order.
struct Subagents {
    prefix: String,
    /// Where the next ones begin; none behind the last.
    start: Option<String>,
    read: VecDeque<String>,
    bounds: Bounds,
}

impl Subagents {
    /// All of them, or those behind one.
    fn of(parent: &str, behind: Option<&str>, bounds: Bounds) -> Self {
        let prefix = keys::subagents(parent);
        let start = behind.map_or_else(|| prefix.clone(), |id| just_behind(&keys::subagent(parent, id)));
        Self { prefix, start: Some(start), read: VecDeque::new(), bounds }
    }

    fn next<S: Storage>(&mut self, store: &Store<S>) -> Result<Option<String>> {
        while self.read.is_empty()
            && let Some(start) = self.start.take()
        {
            let page = store.storage().scan(&start, &keys::range_end(&self.prefix), false, self.bounds)?;
            let id = |key: &str| keys::decode(key.strip_prefix(&self.prefix)?);
            self.read = page.entries.iter().filter_map(|entry| id(&entry.key)).collect();
            self.start = page.entries.last().filter(|_| page.more).map(|last| just_behind(&last.key));
        }
        Ok(self.read.pop_front())
    }
}

/// The first key behind this one.
fn just_behind(key: &str) -> String {
    format!("{key}\u{0}")
}

/// A session, if there is one that can be read.
fn readable<S: Storage>(store: &Store<S>, id: &str) -> Result<Option<Session>> {
    match store.session(id) {
        Err(StorageError::Corrupt(_)) => Ok(None),
        read => read,
    }
}

/// A session, its parent, that one's parent, and so on.
struct Line<'s, S> {
    store: &'s Store<S>,
    next: Option<String>,
    seen: BTreeSet<String>,
}

impl<'s, S: Storage> Line<'s, S> {
    fn up_from(store: &'s Store<S>, id: &str) -> Self {
        Self { store, next: Some(id.to_owned()), seen: BTreeSet::new() }
    }

    fn next(&mut self) -> Result<Option<Session>> {
        let Some(id) = self.next.take().filter(|id| self.seen.insert(id.clone())) else { return Ok(None) };
        let session = readable(self.store, &id)?;
        self.next = session.as_ref().and_then(|session| session.parent.clone());
        Ok(session)
    }
}
