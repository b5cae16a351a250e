//! What may be removed, decided in the commit that removes it.
//!
//! A session goes together with those of its sub-agents, and only if none of them is open or was used. Stays: whose
//! history only its agent has, what another kept session's agent started, and what was created or touched a moment ago.
//!
//! The commit expects what the decision was made on. The records cannot change before it, since any change of a session
//! raises the revision. Nobody can open a session before it, since an open mark is expected not to be there for every
//! connection that there is, and new connections are counted. Nothing can be added to a log before it, since the commit
//! itself adds the next entry (and cuts it off again), which has its place only if the log still ends where it did: the
//! first prompt of a session is in its log long before the record tells of it.

use crate::sessions::delete::delete_if;
use crate::sessions::family::family;
use crate::sessions::open_marks;
use crate::storage::{Bounds, Expectation, Result, Storage, StorageError, Write, next_seq};
use crate::store::{Origin, Session, Store, keys};
use crate::transcript::{self, Entry};

/// How many entries from the end of a log are looked at for the last that was said: the marks of forks say nothing.
const LAST_FEW: usize = 16;

/// What kind of sessions may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Any without activity.
    Idle,
    /// Those with nothing in them.
    Empty,
}

/// Which sessions may go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rule {
    /// Of what kind.
    pub(super) kind: Kind,
    /// Without activity since then, in the record as in the log.
    pub(super) since: i64,
    /// Neither created nor touched since then.
    pub(super) settled_since: Option<i64>,
}

/// Removes a session if it may go; returns what was removed.
pub(super) fn remove<S: Storage>(store: &Store<S>, id: &str, now: i64, rule: Rule) -> Result<Vec<Session>> {
    let mut first_ends = None;
    let removed = delete_if(store, id, now, |family, expected, writes| {
        let ends = log_ends(store, family)?;
        // Somebody has written to it since it was first looked at: it is in use, whatever its marks say.
        if *first_ends.get_or_insert_with(|| ends.clone()) != ends || !goes(store, family, &ends, now, rule, expected)?
        {
            return Ok(false);
        }
        // A log that is full is one that nobody adds to.
        let next = family.iter().zip(ends).filter_map(|(session, end)| Some((session, next_seq(end).ok()?)));
        writes.extend(next.map(|(session, seq)| Write::Append { log: session.id.clone(), seq, value: String::new() }));
        Ok(true)
    });
    kept_if_damaged(removed)
}

/// What [`remove`] would remove.
pub(super) fn would_go<S: Storage>(store: &Store<S>, id: &str, now: i64, rule: Rule) -> Result<Vec<Session>> {
    let decide = || {
        let Some(session) = store.session(id)? else { return Ok(Vec::new()) };
        let family = family(store, &session)?;
        let ends = log_ends(store, &family)?;
        let goes = goes(store, &family, &ends, now, rule, &mut Vec::new())?;
        Ok(if goes { family } else { Vec::new() })
    };
    kept_if_damaged(decide())
}

/// A record that cannot be read must not keep all behind it from being looked at.
fn kept_if_damaged(removed: Result<Vec<Session>>) -> Result<Vec<Session>> {
    match removed {
        Err(StorageError::Corrupt(_)) => Ok(Vec::new()),
        result => result,
    }
}

fn log_ends<S: Storage>(store: &Store<S>, family: &[Session]) -> Result<Vec<u32>> {
    family.iter().map(|session| store.storage().log_end(&session.id)).collect()
}

/// Whether a session and those of its sub-agents (`family`, in this order, with the ends of their logs) may go.
fn goes<S: Storage>(
    store: &Store<S>,
    family: &[Session],
    ends: &[u32],
    now: i64,
    rule: Rule,
    expected: &mut Vec<Expectation>,
) -> Result<bool> {
    let Some(session) = family.first() else { return Ok(false) };
    let is_recent = |session: &Session| {
        session.updated >= rule.since
            || rule.settled_since.is_some_and(|settled| session.created.max(session.updated) > settled)
    };
    if session.origin == Origin::Agent || family.iter().any(is_recent) {
        return Ok(false);
    }
    if rule.kind == Kind::Empty && !is_empty(session, ends) {
        return Ok(false);
    }
    if let Some(parent) = &session.parent
        && store.record(keys::session(parent))?.is_some()
    {
        return Ok(false);
    }
    for (session, end) in family.iter().zip(ends) {
        if last_said(store, session, *end)?.is_some_and(|at| at >= rule.since) {
            return Ok(false);
        }
    }
    let ids: Vec<&str> = family.iter().map(|session| session.id.as_str()).collect();
    open_marks::expect_closed(store, &ids, now, expected)
}

/// Whether nothing was ever said in a session, neither here nor at its agent.
fn is_empty(session: &Session, ends: &[u32]) -> bool {
    session.is_unprompted() && session.aside.is_empty() && ends.first() == Some(&0)
}

/// When the last entry of a transcript was recorded. It tells of an adoption and of a turn that a crash cut off, which
/// the record does not.
fn last_said<S: Storage>(store: &Store<S>, session: &Session, end: u32) -> Result<Option<i64>> {
    let segments = session.segments.iter().map(|segment| (segment.log.as_str(), segment.until));
    let mut last = None;
    for (log, until) in segments.chain([(session.id.as_str(), end)]) {
        for seq in (1..=until).rev().take(LAST_FEW) {
            let page = store.storage().read_log(log, seq, Bounds { limit: 1, max_bytes: 1 })?;
            let entry = page.entries.first().and_then(|entry| Entry::parse(&entry.value));
            if let Some(entry) = entry.filter(|entry| entry.kind != transcript::Kind::Fork) {
                last = last.max(Some(entry.time));
                break;
            }
        }
    }
    Ok(last)
}
