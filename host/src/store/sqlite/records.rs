//! Small values, ordered by key.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::bounded::{Bounds, take_bounded};
use super::error::{Error, Result};
use super::readable::{readable, text};
use crate::component::storage::{Entry, Expectation, RecordPage};

/// Bytes of values that are given at once: several of the longest. An engine that asks for more would have it held here, however
/// little memory it has itself.
const MOST: usize = 256 << 20;

pub(super) fn get(connection: &Connection, keys: &[String]) -> Result<Vec<Option<String>>> {
    let mut statement = connection.prepare_cached("SELECT value FROM records WHERE key = ?1")?;
    let mut left = MOST;
    let mut get = |key| {
        let value = statement.query_row([key], |row| readable(row, 0)).optional()?;
        left = left.checked_sub(value.as_ref().map_or(0, String::len)).ok_or(Error::TooLarge)?;
        Ok(value)
    };
    keys.iter().map(&mut get).collect()
}

pub(super) fn scan(
    connection: &Connection,
    start: &str,
    end: &str,
    descending: bool,
    bounds: Bounds,
) -> Result<RecordPage> {
    let mut statement = connection.prepare_cached(if descending {
        "SELECT key, value FROM records WHERE key >= ?1 AND key < ?2 ORDER BY key DESC"
    } else {
        "SELECT key, value FROM records WHERE key >= ?1 AND key < ?2 ORDER BY key"
    })?;
    let rows = statement.query(params![start, end])?;
    let is_next = |before: Option<&Entry>, entry: &Entry| match before {
        None => (start..end).contains(&entry.key.as_str()),
        Some(before) if descending => entry.key < before.key,
        Some(before) => entry.key > before.key,
    };
    let (entries, more) = take_bounded(rows, bounds, is_next, |row| {
        // A key that is no text is nobody's: it could not be asked for.
        let Ok(key) = row.get_ref(0)?.as_str() else { return Ok(None) };
        let entry = Entry { key: key.to_owned(), value: readable(row, 1)? };
        let size = entry.key.len() + entry.value.len();
        Ok(Some((entry, size)))
    })?;
    Ok(RecordPage { entries, more })
}

/// A conflict unless all of these hold.
pub(super) fn check(connection: &Connection, expected: &[Expectation]) -> Result<()> {
    let mut statement = connection.prepare_cached("SELECT value FROM records WHERE key = ?1")?;
    for expectation in expected {
        let mut rows = statement.query([&expectation.key])?;
        let value = rows.next()?.map(|row| row.get_ref(0)).transpose()?.map(text);
        if value.as_deref() != expectation.value.as_deref() {
            return Err(Error::Conflict);
        }
    }
    Ok(())
}

pub(super) fn put(connection: &Connection, entry: &Entry) -> Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO records (key, value) VALUES (?1, ?2) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
        )?
        .execute([&entry.key, &entry.value])?;
    Ok(())
}

pub(super) fn remove(connection: &Connection, key: &str) -> Result<()> {
    connection.prepare_cached("DELETE FROM records WHERE key = ?1")?.execute([key])?;
    Ok(())
}
