//! Long series of entries with dense numbers.

use rusqlite::{Connection, OptionalExtension as _, params};

use super::bounded::{Bounds, take_bounded};
use super::error::{Error, Result};
use super::readable::{Table, readable};
use crate::component::storage::{LogCut, LogEntry, LogPage, LogRow};

/// A log's number times this, plus an entry's number, is the entry's row.
const ENTRIES_PER_LOG: i64 = 1 << 32;

/// The last number an entry can have.
const LAST_SEQ: u32 = u32::MAX - 1;

/// The rows that a log's entries have.
#[derive(Debug, Clone, Copy)]
struct Rows {
    log: i64,
}

impl Rows {
    /// The row of an entry.
    fn at(self, seq: u32) -> i64 {
        self.log * ENTRIES_PER_LOG + i64::from(seq)
    }

    fn last(self) -> i64 {
        self.log * ENTRIES_PER_LOG + (ENTRIES_PER_LOG - 1)
    }

    fn seq(row: i64) -> u32 {
        // The remainder is below 2^32.
        u32::try_from(row % ENTRIES_PER_LOG).unwrap_or_default()
    }
}

/// The number of the log that the entry in this row is of.
pub(super) fn log_of(row: i64) -> i64 {
    row.div_euclid(ENTRIES_PER_LOG)
}

fn find(connection: &Connection, log: &str) -> Result<Option<Rows>> {
    let mut statement = connection.prepare_cached("SELECT id FROM logs WHERE name = ?1")?;
    Ok(statement.query_row([log], |row| Ok(Rows { log: row.get(0)? })).optional()?)
}

fn create(connection: &Connection, log: &str) -> Result<Rows> {
    connection.prepare_cached("INSERT INTO logs (name) VALUES (?1)")?.execute([log])?;
    let log = connection.last_insert_rowid();
    if log >= i64::MAX / ENTRIES_PER_LOG {
        return Err(Error::TooLarge);
    }
    Ok(Rows { log })
}

fn end_of(connection: &Connection, rows: Rows) -> Result<u32> {
    let mut statement =
        connection.prepare_cached("SELECT id FROM entries WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1")?;
    let last = statement.query_row([rows.at(0), rows.last()], |row| row.get(0)).optional()?;
    Ok(last.map_or(0, Rows::seq))
}

/// The number of the last entry; 0 where there is none.
pub(super) fn end(connection: &Connection, log: &str) -> Result<u32> {
    find(connection, log)?.map_or(Ok(0), |rows| end_of(connection, rows))
}

pub(super) fn read(connection: &Connection, log: &str, start: u32, bounds: Bounds) -> Result<LogPage> {
    let Some(rows) = find(connection, log)? else { return Ok(LogPage { entries: Vec::new(), more: false }) };
    let mut statement =
        connection.prepare_cached("SELECT id, value FROM entries WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3")?;
    let found = statement.query(params![rows.at(start), rows.last(), bounds.rows()])?;
    let is_next = |before: Option<&LogEntry>, entry: &LogEntry| match before {
        None => entry.seq >= start,
        Some(before) => entry.seq > before.seq,
    };
    let (entries, more) = take_bounded(found, bounds, is_next, |row| {
        let place = row.get(0)?;
        if log_of(place) != rows.log {
            return Ok(None);
        }
        let entry = LogEntry { seq: Rows::seq(place), value: readable(row, 1)? };
        let size = entry.value.len();
        Ok(Some((entry, size)))
    })?;
    Ok(LogPage { entries, more })
}

/// Adds an entry; a conflict unless its number is the next, and too large where there is no next.
pub(super) fn append(connection: &Connection, entry: &LogRow) -> Result<()> {
    let rows = match find(connection, &entry.log)? {
        Some(rows) => rows,
        None => create(connection, &entry.log)?,
    };
    let end = end_of(connection, rows)?;
    if end >= LAST_SEQ {
        return Err(Error::TooLarge);
    }
    if entry.seq != end + 1 {
        return Err(Error::Conflict);
    }
    connection
        .prepare_cached("INSERT INTO entries (id, value) VALUES (?1, ?2)")?
        .execute(params![rows.at(entry.seq), entry.value])?;
    Ok(())
}

/// Replaces the last entry; a conflict unless it is the last.
pub(super) fn amend(connection: &Connection, entry: &LogRow) -> Result<()> {
    let rows = find(connection, &entry.log)?.ok_or(Error::Conflict)?;
    if entry.seq == 0 || entry.seq != end_of(connection, rows)? {
        return Err(Error::Conflict);
    }
    connection
        .prepare_cached("UPDATE entries SET value = ?2 WHERE id = ?1")?
        .execute(params![rows.at(entry.seq), entry.value])?;
    Ok(())
}

/// Puts an entry at a number up to the last, whatever stands there; a conflict beyond.
pub(super) fn restore(connection: &Connection, entry: &LogRow) -> Result<()> {
    let rows = find(connection, &entry.log)?.ok_or(Error::Conflict)?;
    if entry.seq == 0 || entry.seq > end_of(connection, rows)? {
        return Err(Error::Conflict);
    }
    connection
        .prepare_cached("INSERT OR REPLACE INTO entries (id, value) VALUES (?1, ?2)")?
        .execute(params![rows.at(entry.seq), entry.value])?;
    Ok(())
}

/// The names of logs behind this one. One that was emptied keeps its name until it is dropped.
pub(super) fn names(connection: &Connection, after: Option<&str>, limit: u32) -> Result<Vec<String>> {
    Table::Logs.names(connection, after, limit)
}

/// Drops the entries from a number on, and with the first of them the log.
pub(super) fn cut(connection: &Connection, cut: &LogCut) -> Result<()> {
    let Some(rows) = find(connection, &cut.log)? else { return Ok(()) };
    connection
        .prepare_cached("DELETE FROM entries WHERE id BETWEEN ?1 AND ?2")?
        .execute([rows.at(cut.start), rows.last()])?;
    if cut.start <= 1 {
        connection.prepare_cached("DELETE FROM logs WHERE id = ?1")?.execute([rows.log])?;
    }
    Ok(())
}
