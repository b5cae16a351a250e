//! Bringing a store of an earlier version up to date, a little at a time, while it is in use.
//!
//! The records are passed over in the order of their keys; a step writes the index entries of some sessions, takes out
//! their rows as they were, and notes how far it has come, all in one commit. So several processes may do it at once,
//! and what a killed one has left undone is done by the next that comes. Meanwhile lists read both kinds of rows
//! ([`super::walk`]).
//!
//! A window of the earlier version may still be running: what it changes has rows as they were. Whoever starts next finds
//! and moves them.

use crate::storage::{Bounds, Durability, Entry, Expectation, Result, Storage, StorageError, Write};
use crate::store::{Layout, Roster, Session, Shelf, Store, directory, keys};

/// How much is read in a step: requests wait for these.
const STEP: Bounds = Bounds { limit: 64, max_bytes: 256 * 1024 };

/// Looks whether there is anything to bring up to date, also in a store that has been.
pub fn is_due<S: Storage>(store: &Store<S>) -> Result<bool> {
    let (layout, text) = store.look_at_layout()?;
    if layout != Layout::Present {
        return Ok(true);
    }
    if text.is_none() || older_rows(store, Bounds { limit: 1, max_bytes: 1 })?.is_empty() {
        return Ok(false);
    }
    let expected = Expectation { key: keys::LAYOUT.to_owned(), value: text };
    match store.commit(&[expected], vec![Layout::Rows.write()], Durability::Relaxed) {
        Ok(()) | Err(StorageError::Conflict) => store.look_at_layout().map(|_| true),
        Err(error) => Err(error),
    }
}

/// Does a part of it; says whether there is more to do.
pub fn step<S: Storage>(store: &Store<S>) -> Result<bool> {
    let (layout, text) = store.look_at_layout()?;
    let mut expected = vec![Expectation { key: keys::LAYOUT.to_owned(), value: text }];
    let mut writes = Vec::new();
    let next = match layout {
        Layout::Present => return Ok(false),
        Layout::Records(behind) => {
            let start = if behind.is_empty() { keys::SESSIONS.to_owned() } else { format!("{behind}\u{0}") };
            let page = store.storage().scan(&start, &keys::range_end(keys::SESSIONS), false, STEP)?;
            let last = page.entries.last().map(|entry| entry.key.clone()).filter(|_| page.more);
            write_entries(store, page.entries, &mut expected, &mut writes)?;
            last.map_or(Layout::Rows, Layout::Records)
        }
        Layout::Rows => {
            let rows = older_rows(store, STEP)?;
            let is_last = rows.is_empty();
            let sessions: Vec<String> = rows.iter().filter_map(|row| session_of(&row.key)).collect();
            let records = store.storage().get(&sessions)?;
            let records = sessions.into_iter().zip(records);
            let records = records.filter_map(|(key, value)| Some(Entry { key, value: value? }));
            write_entries(store, records.collect(), &mut expected, &mut writes)?;
            // Whatever they stand for, nobody reads them any more.
            writes.extend(rows.into_iter().map(|row| Write::Remove { key: row.key }));
            if is_last { Layout::Present } else { Layout::Rows }
        }
    };
    let is_over = next == Layout::Present;
    writes.push(next.write());
    match store.commit(&expected, writes, Durability::Relaxed) {
        Ok(()) => Ok(!is_over),
        // Another process has done it, or one of the sessions has changed.
        Err(StorageError::Conflict) => Ok(true),
        Err(error) => Err(error),
    }
}

/// The index entries of these records, and no rows as they were. A record that cannot be read has none: a rebuild names
/// it.
fn write_entries<S: Storage>(
    store: &Store<S>,
    records: Vec<Entry>,
    expected: &mut Vec<Expectation>,
    writes: &mut Vec<Write>,
) -> Result<()> {
    let roster = store.record(keys::ROSTER.to_owned())?;
    let mut names = Roster::parse(roster.as_deref())?;
    let mut is_new = false;
    for record in records {
        let session = Session::parse(&record.value).ok().filter(|session| keys::session(&session.id) == record.key);
        if let Some(session) = session {
            is_new |= names.add(&session);
            writes.extend(older_keys(&session).map(|key| Write::Remove { key }));
            writes.extend(session.index_entries());
        }
        expected.push(Expectation { key: record.key, value: Some(record.value) });
    }
    if is_new {
        expected.push(Expectation { key: keys::ROSTER.to_owned(), value: roster });
        writes.push(Write::Put { key: keys::ROSTER.to_owned(), value: names.to_text() });
    }
    Ok(())
}

/// The keys of a session's index entries as they were.
fn older_keys(session: &Session) -> impl Iterator<Item = String> {
    let letter = session.shelf().letter();
    let place = keys::row_place(session.recency(), &session.id);
    let cwd = directory::normalise(&session.cwd);
    let prefixes = [Some(keys::older_rows(letter, None)), cwd.map(|cwd| keys::older_rows(letter, Some(&cwd)))];
    // More of them counted as never prompted.
    let unprompted = (!session.is_unprompted()).then(|| keys::unprompted(session.created, &session.id));
    prefixes.into_iter().flatten().map(move |prefix| prefix + &place).chain(unprompted)
}

/// Some of the rows as they were, if any are left.
fn older_rows<S: Storage>(store: &Store<S>, bounds: Bounds) -> Result<Vec<Entry>> {
    for letter in Shelf::ALL.map(Shelf::letter) {
        for prefix in [keys::older_rows(letter, None), keys::older_rows_by_directory(letter)] {
            let page = store.storage().scan(&prefix, &keys::range_end(&prefix), false, bounds)?;
            if !page.entries.is_empty() {
                return Ok(page.entries);
            }
        }
    }
    Ok(Vec::new())
}

/// The key of the record that a row is of.
fn session_of(row: &str) -> Option<String> {
    let (_, id) = row.rsplit_once('/')?;
    Some(format!("{}{id}", keys::SESSIONS))
}

/// The rows that these, as they were, stand for: those of sessions that are on this shelf, at this place. What has
/// changed since has rows of the present layout as well, and may stand elsewhere by now.
pub(super) fn as_they_are<S: Storage>(
    store: &Store<S>,
    shelf: Shelf,
    rows: Vec<Entry>,
    is_wanted: impl Fn(&Session) -> bool,
) -> Result<Vec<Entry>> {
    let sessions: Vec<String> = rows.iter().map(|row| session_of(&row.key).unwrap_or_default()).collect();
    let records = store.storage().get(&sessions)?;
    let entries = rows.into_iter().zip(records).filter_map(|(row, record)| {
        let session = Session::parse(&record?).ok()?;
        let stands = session.shelf() == shelf && row.key.ends_with(&keys::row_place(session.recency(), &session.id));
        (stands && is_wanted(&session)).then(|| Entry { key: row.key, value: crate::store::Row::text(&session) })
    });
    Ok(entries.collect())
}
