//! Of which repository the directories of sessions are, noted while they were there: so that whoever finds the repository at
//! another place can be told which sessions stayed behind.
//!
//! A note is of a directory, not of a session, and names neither: its key is the hash that the directory's rows stand under,
//! which tell the path as long as any session is there.

use serde::{Deserialize, Serialize};

use crate::environment::Repository;
use crate::storage::{Bounds, Durability, Expectation, Result, Storage, Write};
use crate::store::{Layout, Row, Shelf, Store, directory, keys};

/// How many notes are read at a time, and how many folders are told at most.
const BATCH: Bounds = Bounds { limit: 1024, max_bytes: 256 * 1024 };
const MOST: usize = 1000;
/// Whether there is any row.
const ANY: Bounds = Bounds { limit: 1, max_bytes: 1 };
/// Longer than any hash.
const LONGEST: usize = 128;

/// A directory that sessions are in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Folder {
    /// The directory.
    pub cwd: String,
    /// The root of the main worktree that it was in when that was noted.
    pub root: String,
}

/// A note as it is kept: `<first commit> <depth>`.
fn read(note: &str) -> Option<(&str, u32)> {
    let (first_commit, depth) = note.split_once(' ')?;
    Some((first_commit, depth.parse().ok()?))
}

/// Whether a record can be such a note.
pub fn is_note(value: &str) -> bool {
    read(value).is_some()
}

/// Notes which repository a directory is of. That may be another one than before: its first commit was made anew, or the
/// folder was.
pub fn note<S: Storage>(store: &Store<S>, cwd: &str, repository: &Repository) -> Result<()> {
    let Repository { first_commit, depth } = repository;
    let is_hash = first_commit.len() <= LONGEST && first_commit.chars().all(|c| c.is_ascii_alphanumeric());
    let Some(cwd) = directory::normalise(cwd).filter(|_| is_hash && !first_commit.is_empty()) else { return Ok(()) };
    let (key, value) = (keys::folder(&cwd), format!("{first_commit} {depth}"));
    if store.record(key.clone())?.as_ref() == Some(&value) {
        return Ok(());
    }
    store.commit(&[], vec![Write::Put { key, value }], Durability::Relaxed)
}

/// What a commit expects and writes that has a session follow from one directory to another, as the folder `moved` has: what is
/// noted of the one holds of the other too. None where nothing is, where the other has a note of its own, or where the folder was
/// moved out of the repository that it was a part of. All three are normalised.
pub fn carried<S: Storage>(
    store: &Store<S>,
    old: &str,
    new: &str,
    moved: &str,
) -> Result<Option<(Expectation, Write)>> {
    let noted = store.storage().get(&[keys::folder(old), keys::folder(new)])?;
    let [Some(note), None] = &noted[..] else { return Ok(None) };
    let Some((first_commit, depth)) = read(note) else { return Ok(None) };
    let Some(root) = directory::above(old, depth) else { return Ok(None) };
    // The repository as a whole has moved, or a part of it within it.
    let depth = if directory::is_in(&root, moved) { Some(depth) } else { directory::levels(new, &root) };
    let Some(depth) = depth else { return Ok(None) };
    let key = keys::folder(new);
    let write = Write::Put { key: key.clone(), value: format!("{first_commit} {depth}") };
    Ok(Some((Expectation { key, value: None }, write)))
}

/// The directories that sessions are in and that were noted to be of the repository with this first commit.
pub fn of_repository<S: Storage>(store: &Store<S>, first_commit: &str) -> Result<Vec<Folder>> {
    let mut folders = Vec::new();
    let mut start = keys::FOLDERS.to_owned();
    while folders.len() < MOST {
        let page = store.storage().scan(&start, &keys::range_end(keys::FOLDERS), false, BATCH)?;
        for entry in &page.entries {
            let Some((_, depth)) = read(&entry.value).filter(|(commit, _)| *commit == first_commit) else { continue };
            match path_of(store, &entry.key)? {
                Some(cwd) => folders.extend(directory::above(&cwd, depth).map(|root| Folder { cwd, root })),
                None => forget(store, &entry.key, &entry.value)?,
            }
        }
        let Some(last) = page.entries.last().filter(|_| page.more) else { break };
        start = format!("{}\u{0}", last.key);
    }
    folders.truncate(MOST);
    Ok(folders)
}

/// The directory of a note, by any row of a session there.
fn path_of<S: Storage>(store: &Store<S>, key: &str) -> Result<Option<String>> {
    #[derive(Deserialize)]
    struct Info {
        cwd: String,
    }
    let Some(hash) = key.strip_prefix(keys::FOLDERS) else { return Ok(None) };
    let roster = store.roster()?;
    for shelf in Shelf::ALL {
        for agent in roster.row_sets() {
            let rows = keys::rows_in(shelf.letter(), agent, hash);
            let page = store.storage().scan(&rows, &keys::range_end(&rows), true, ANY)?;
            let row = page.entries.first().and_then(|entry| Row::parse(&entry.value));
            if let Some(info) = row.and_then(|row| serde_json::from_str::<Info>(row.json).ok()) {
                return Ok(directory::normalise(&info.cwd));
            }
        }
    }
    Ok(None)
}

/// No session is there any more. Where that cannot be written, it is found out again.
fn forget<S: Storage>(store: &Store<S>, key: &str, value: &str) -> Result<()> {
    if store.layout()? != Layout::Present {
        return Ok(());
    }
    let expected = Expectation { key: key.to_owned(), value: Some(value.to_owned()) };
    let _ = store.commit(&[expected], vec![Write::Remove { key: key.to_owned() }], Durability::Relaxed);
    Ok(())
}
