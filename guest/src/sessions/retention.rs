//! Removing what nobody has touched for long: by the list's own index from its old end, never an open session, a few
//! at a time.

use super::list::Page;
use super::{delete, open_marks};
use crate::storage::{Bounds, Result, Storage};
use crate::store::{Row, Session, Shelf, Store, keys};

/// How many entries are read at a time.
const BATCH: u32 = 128;

/// What is too old to keep. Times are milliseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Policy {
    /// Sessions without activity since then.
    pub idle_since: Option<i64>,
    /// Sessions that never got a prompt and were not touched since then.
    pub unprompted_since: Option<i64>,
}

/// Removes up to `most` sessions and returns how many it did.
pub fn sweep<S: Storage>(store: &Store<S>, policy: &Policy, now: i64, most: u32) -> Result<u32> {
    let mut removed = 0;
    if let Some(since) = policy.unprompted_since {
        removed += sweep_unprompted(store, since, now, most)?;
    }
    if let Some(idle_since) = policy.idle_since.filter(|_| removed < most) {
        let request = Prune { idle_since, cwd: None, limit: most - removed, dry_run: false, after: None };
        removed += u32::try_from(prune(store, &request, now)?.rows.len()).unwrap_or(u32::MAX);
    }
    Ok(removed)
}

/// Editors open a session with every window; those that stay without a prompt go early.
fn sweep_unprompted<S: Storage>(store: &Store<S>, since: i64, now: i64, most: u32) -> Result<u32> {
    let (mut start, end) = ("e/".to_owned(), format!("e/{:015}", since.max(0)));
    let mut removed = 0;
    while removed < most {
        let page = store.storage().scan(&start, &end, false, Bounds { limit: BATCH, max_bytes: 64 * 1024 })?;
        let Some(last) = page.entries.last() else { break };
        start = format!("{}\u{0}", last.key);
        let ids = page.entries.iter().filter_map(|entry| keys::decode(entry.key.rsplit_once('/')?.1));
        for id in ids.take((most - removed) as usize) {
            let idle = |session: &Session| session.is_unprompted() && session.updated < since;
            removed += u32::from(remove(store, &id, now, idle)?);
        }
        if !page.more {
            break;
        }
    }
    Ok(removed)
}

/// A removal by hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Prune {
    /// Sessions without activity since then go; milliseconds since 1970.
    pub idle_since: i64,
    /// Only those of this directory, normalised.
    pub cwd: Option<String>,
    /// At most this many in one call.
    pub limit: u32,
    /// Only name them.
    pub dry_run: bool,
    /// The cursor of the last call.
    pub after: Option<String>,
}

/// Removes what has been idle for too long and returns the rows of what it removed, with a cursor while there may be
/// more.
pub fn prune<S: Storage>(store: &Store<S>, prune: &Prune, now: i64) -> Result<Page> {
    let mut rows = Vec::new();
    // The cursor is the key of the last entry that was looked at: it names the shelf too.
    let mut after = prune.after.clone();
    let roster = store.roster()?;
    let ranges = Shelf::ALL.into_iter().flat_map(|shelf| roster.row_sets().map(move |agent| (shelf, agent)));
    for (shelf, agent) in ranges {
        let prefix = keys::rows(shelf.letter(), agent, prune.cwd.as_deref());
        let mut start = match &after {
            Some(key) if key.starts_with(&prefix) => format!("{key}\u{0}"),
            Some(_) => continue,
            None => prefix.clone(),
        };
        after = None;
        let end = format!("{prefix}{:015}", prune.idle_since.max(0));
        loop {
            let page = store.storage().scan(&start, &end, false, Bounds { limit: BATCH, max_bytes: 512 * 1024 })?;
            for entry in &page.entries {
                if rows.len() >= prune.limit as usize {
                    return Ok(Page { rows, next_cursor: Some(start_before(&start)) });
                }
                start = format!("{}\u{0}", entry.key);
                let id = entry.key.rsplit_once('/').and_then(|(_, id)| keys::decode(id));
                let (Some(id), Some(row)) = (id, Row::parse(&entry.value)) else { continue };
                let goes = if prune.dry_run {
                    // It is named once, however many agents know it.
                    let session = store.session(&id)?;
                    let is_first = session.is_some_and(|session| session.row_sets().next() == Some(agent));
                    is_first && !open_marks::is_open(store, &id, now)?
                } else {
                    remove(store, &id, now, |session| session.updated < prune.idle_since)?
                };
                if goes {
                    rows.push(row.json.to_owned());
                }
            }
            if !page.more {
                break;
            }
        }
    }
    Ok(Page { rows, next_cursor: None })
}

/// The key that a scan's start follows.
fn start_before(start: &str) -> String {
    start.trim_end_matches('\u{0}').to_owned()
}

/// Removes a session that is open nowhere and still what the index said; says whether it did.
fn remove<S: Storage>(store: &Store<S>, id: &str, now: i64, is_old: impl Fn(&Session) -> bool) -> Result<bool> {
    if open_marks::is_open(store, id, now)? || !store.session(id)?.is_some_and(|session| is_old(&session)) {
        return Ok(false);
    }
    Ok(delete::delete(store, id, now)?.is_some())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::storage::{Durability, Memory, Write};

    const NOW: i64 = 1_000_000;

    fn store() -> Store<Memory> {
        let store = Store::new(Memory::new());
        for (id, updated, prompts, archived) in [
            ("old", 10, 1, false),
            ("new", 900, 1, false),
            ("archived", 20, 1, true),
            ("empty", 30, 0, false),
            ("open", 5, 1, false),
        ] {
            let mut session = Session::new(id.to_owned(), "/x".to_owned(), updated);
            session.prompts = prompts;
            session.archived = archived;
            for agent in ["a", "b"].into_iter().take(usize::try_from(updated % 3).unwrap()) {
                session.give_to(agent, id, 0);
            }
            store.change(id).commit(|_, _, _| Ok(Some(Some(session.clone())))).unwrap();
        }
        let mark = Write::Put { key: keys::open_mark("open", "c"), value: (NOW + 1).to_string() };
        store.commit(&[], vec![mark], Durability::Relaxed).unwrap();
        store
    }

    fn left(store: &Store<Memory>) -> Vec<&'static str> {
        let all = ["old", "new", "archived", "empty", "open"];
        all.into_iter().filter(|id| store.session(id).unwrap().is_some()).collect()
    }

    #[test]
    fn what_is_idle_goes_a_little_at_a_time_and_what_is_open_stays() {
        let store = store();
        let policy = Policy { idle_since: Some(500), unprompted_since: None };
        let rounds: Vec<u32> = (0..5).map(|_| sweep(&store, &policy, NOW, 1).unwrap()).collect();
        assert_eq!(rounds, [1, 1, 1, 0, 0]);
        assert_eq!(left(&store), ["new", "open"]);
    }

    #[test]
    fn sessions_without_a_prompt_go_early() {
        let store = store();
        let policy = Policy { idle_since: None, unprompted_since: Some(500) };
        assert_eq!(sweep(&store, &policy, NOW, 10).unwrap(), 1);
        assert_eq!(left(&store), ["old", "new", "archived", "open"]);
    }

    #[test]
    fn a_dry_run_names_what_would_go_and_removes_nothing() {
        let store = store();
        let mut request = Prune { idle_since: 500, cwd: None, limit: 1, dry_run: true, after: None };
        let mut named = Vec::new();
        loop {
            let page = prune(&store, &request, NOW).unwrap();
            named.extend(page.rows);
            request.after = page.next_cursor;
            if request.after.is_none() {
                break;
            }
        }
        assert_eq!(named.len(), 3);
        assert_eq!(left(&store).len(), 5);
    }
}
