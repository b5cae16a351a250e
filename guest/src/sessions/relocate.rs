//! Sessions follow a folder that was renamed or moved.
//!
//! Their records are gone through in the order of their keys, which no move changes, so that each is looked at once, in pages
//! that are as small in a large store as in a small one.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::cursor_mark::CursorMark;
use super::fingerprint::Fingerprint;
use super::folders;
use crate::storage::{Bounds, Durability, Entry, Expectation, Result, Storage, StorageError, Write};
use crate::store::{Decision, Session, Store, directory, keys};

/// How many records are looked at in a call.
const LOOKED: Bounds = Bounds { limit: 1024, max_bytes: 1024 * 1024 };

/// A folder that has become another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Relocate {
    /// Where it was, absolute.
    pub old: String,
    /// Where it is, absolute.
    pub new: String,
    /// At most so many sessions are moved in one call.
    pub limit: u32,
    /// They are only named.
    pub dry_run: bool,
    /// The cursor of the last call.
    pub after: Option<String>,
}

/// A session that has moved, or would.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Relocation {
    /// The session.
    pub id: String,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// The directory that it had.
    pub old_cwd: String,
    /// The one that it has; the same where only further directories of it have moved.
    pub new_cwd: String,
    /// How many of its further directories have moved.
    pub directories: u32,
}

/// Some of the sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Relocations {
    /// In the order of their records.
    pub sessions: Vec<Relocation>,
    /// For the next call; none at the end.
    pub next_cursor: Option<String>,
}

/// Why nothing was moved.
#[derive(Debug, thiserror::Error)]
pub enum RelocateError {
    /// One of the two is no absolute path.
    #[error("`{0}` must be an absolute path")]
    NoPath(&'static str),
    /// Whatever is moved would have to be moved again.
    #[error("a folder cannot be moved to itself or to a folder below it: move it to some other place first")]
    Inside,
    /// The same move made again would take further what has moved already.
    #[error(
        "a folder cannot be moved to one that it lies in, since the same move made again would go on with what has moved: \
         move it to some place outside of that first, and from there, or move the folders in it one by one"
    )]
    Above,
    /// The cursor is not one of this move's.
    #[error("the cursor is not one that a move of the same folder gave")]
    Cursor,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// The two folders, normalised.
struct Folders {
    old: String,
    new: String,
}

/// What of a record says where its session is.
#[derive(Deserialize)]
struct Places {
    id: String,
    cwd: String,
    #[serde(default)]
    directories: Vec<String>,
}

/// Looks at some of the sessions and moves those that are in the folder or below it, further directories included, each by a
/// commit of its own. The activity of none of them changes, nor anything else but where it is; a window that has it open, or is
/// opening it, goes on with it. Returns what has moved, with a cursor while there may be more.
pub fn relocate<S: Storage>(store: &Store<S>, relocate: &Relocate) -> std::result::Result<Relocations, RelocateError> {
    let normal = |path: &str, name| directory::normalise(path).ok_or(RelocateError::NoPath(name));
    let folders = Folders { old: normal(&relocate.old, "old-cwd")?, new: normal(&relocate.new, "new-cwd")? };
    if directory::is_in(&folders.new, &folders.old) {
        return Err(RelocateError::Inside);
    }
    if directory::is_in(&folders.old, &folders.new) {
        return Err(RelocateError::Above);
    }
    let behind =
        relocate.after.as_deref().map(|cursor| folders.key_of(cursor).ok_or(RelocateError::Cursor)).transpose()?;
    let mut sessions = Vec::new();
    if relocate.limit == 0 {
        return Ok(Relocations { sessions, next_cursor: None });
    }
    // The least key behind it.
    let start = behind.map_or_else(|| keys::SESSIONS.to_owned(), |key| format!("{key}\u{0}"));
    let page = store.storage().scan(&start, &keys::range_end(keys::SESSIONS), false, LOOKED)?;
    let mut last = page.entries.last().filter(|_| page.more).map(|entry| entry.key.clone());
    let mut found: Vec<(String, String)> = page.entries.iter().filter_map(|entry| folders.has(entry)).collect();
    let limit = relocate.limit as usize;
    if found.len() > limit {
        found.truncate(limit);
        last = found.last().map(|(key, _)| key.clone());
    }
    let count = found.len();
    for (nth, (_, id)) in found.iter().enumerate() {
        // One for all that came before it: what a store loses with the power is what was written last.
        let durability = if nth + 1 == count { Durability::Durable } else { Durability::Relaxed };
        sessions.extend(folders.follow(store, id, durability, relocate.dry_run)?);
    }
    Ok(Relocations { sessions, next_cursor: last.map(|key| folders.cursor(&key)) })
}

impl Folders {
    /// Key and session of a record that lies here. One that cannot be read is a checkup's to tell, and holds no other up.
    fn has(&self, entry: &Entry) -> Option<(String, String)> {
        let places: Places = serde_json::from_str(&entry.value).ok()?;
        let is_here = |path: &String| directory::normalise(path).is_some_and(|path| directory::is_in(&path, &self.old));
        let is_wanted = is_here(&places.cwd) || places.directories.iter().any(is_here);
        is_wanted.then(|| (entry.key.clone(), places.id))
    }

    /// Has a session follow. None where it lies elsewhere by now, or is gone.
    fn follow<S: Storage>(
        &self,
        store: &Store<S>,
        id: &str,
        durability: Durability,
        dry_run: bool,
    ) -> Result<Option<Relocation>> {
        if dry_run {
            return Ok(store.session(id)?.and_then(|session| self.moved(&session)).map(|(_, relocation)| relocation));
        }
        let mut done = None;
        store.change(id).with(durability).commit(|before, expected, writes| {
            let Some((session, relocation)) = before.and_then(|session| self.moved(session)) else {
                done = None;
                return Ok(Decision::Keep);
            };
            if let Some((expectation, write)) = self.note(store, &relocation)? {
                expected.push(expectation);
                writes.push(write);
            }
            done = Some(relocation);
            Ok(Decision::put(session))
        })?;
        Ok(done)
    }

    /// The session as it shall be, if it lies here.
    fn moved(&self, session: &Session) -> Option<(Session, Relocation)> {
        let follow = |path: &String| directory::moved(&directory::normalise(path)?, &self.old, &self.new);
        let mut moved = session.clone();
        let cwd = follow(&session.cwd);
        if let Some(cwd) = &cwd {
            moved.cwd.clone_from(cwd);
        }
        let mut directories = 0;
        let mut places = session.directories.clone();
        for directory in &mut places {
            if let Some(followed) = follow(directory) {
                *directory = followed;
                directories += 1;
            }
        }
        // Where some have come together, or one and the session's own, it is there once.
        let mut taken = BTreeSet::from([directory::normalise(&moved.cwd)]);
        places.retain(|place| taken.insert(directory::normalise(place)));
        if places != session.directories {
            moved.move_directories(places);
        }
        moved.note_moved();
        let relocation = Relocation {
            id: session.id.clone(),
            title: session.title.text().map(str::to_owned),
            old_cwd: session.cwd.clone(),
            new_cwd: moved.cwd.clone(),
            directories,
        };
        (cwd.is_some() || directories > 0).then_some((moved, relocation))
    }

    /// What goes with a session of which repository its directory is, as is noted: who moves that once more is told of it then.
    fn note<S: Storage>(&self, store: &Store<S>, relocation: &Relocation) -> Result<Option<(Expectation, Write)>> {
        let (old, new) = (directory::normalise(&relocation.old_cwd), directory::normalise(&relocation.new_cwd));
        match (old, new) {
            (Some(old), Some(new)) if old != new => folders::carried(store, &old, &new, &self.old),
            _ => Ok(None),
        }
    }

    /// What the cursors of this move begin with.
    fn mark(&self) -> CursorMark {
        let mut print = Fingerprint::default();
        print.text(&self.old);
        print.text(&self.new);
        CursorMark::long(&print, '/')
    }

    /// The cursor behind a record.
    fn cursor(&self, key: &str) -> String {
        self.mark().cursor(key)
    }

    /// The record that a cursor of this move's is behind.
    fn key_of<'c>(&self, cursor: &'c str) -> Option<&'c str> {
        let key = self.mark().place(cursor)?;
        keys::is_encoded(key.strip_prefix(keys::SESSIONS)?).then_some(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_as_it_was_written_and_no_other_is() {
        let of = |old: &str| Folders { old: old.into(), new: "/b".into() };
        let cursor = "4f26008071a73a67/s/s1";
        assert_eq!(of("/a").cursor("s/s1"), cursor);
        assert_eq!(of("/a").key_of(cursor), Some("s/s1"));
        assert_eq!(of("/c").key_of(cursor), None);
        for other in ["", "s/s1", "/s/s1", "4f2600/s/s1", "4f26008071a73a67/s1", "4f26008071a73a67-s/s1"] {
            assert_eq!(of("/a").key_of(other), None, "{other}");
        }
    }
}
