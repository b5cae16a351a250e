//! Looking after the file.

use std::time::Duration;

use rusqlite::ErrorCode;

use super::error::{Error, Result};
use super::{Sqlite, schema};

/// An index of up to so many pages of 4 KiB is merged as a whole.
const SMALL_INDEX: i64 = 256;

/// Of a larger one this many pages are written anew with every delete.
const MERGED_AT_ONCE: u32 = 32;

/// What a check of the store found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The format of the tables.
    pub format: i64,
    /// What is wrong, a line each; none in a healthy store.
    pub faults: Vec<String>,
    /// How many records there are. This and the other numbers are 0 where a fault keeps them from being counted.
    pub records: i64,
    /// How many logs there are.
    pub logs: i64,
    /// How many entries the logs have.
    pub entries: i64,
    /// How many texts can be searched.
    pub texts: i64,
    /// Bytes of the file, its journal not counted.
    pub bytes: i64,
    /// Bytes of the file that are free to be used again.
    pub free_bytes: i64,
}

impl Sqlite {
    /// Reads the whole file once and says how it is.
    pub fn check(&self) -> Result<Health> {
        let connection = &self.connection;
        let faults = self.faults()?;
        let is_damaged = !faults.is_empty();
        let count = |sql: &str| match connection.query_row(sql, [], |row| row.get::<_, i64>(0)) {
            Err(_) if is_damaged => Ok(0),
            counted => counted,
        };
        let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let page = pragma("page_size")?;
        Ok(Health {
            format: schema::CURRENT,
            faults,
            records: count("SELECT count(*) FROM records")?,
            logs: count("SELECT count(*) FROM logs")?,
            entries: count("SELECT count(*) FROM entries")?,
            texts: count("SELECT count(*) FROM texts_content")?,
            bytes: pragma("page_count")? * page,
            free_bytes: pragma("freelist_count")? * page,
        })
    }

    /// What SQLite finds wrong with the file. It may be so wrong that it cannot even say what.
    fn faults(&self) -> Result<Vec<String>> {
        let lines = || -> rusqlite::Result<Vec<String>> {
            let mut statement = self.connection.prepare("PRAGMA quick_check(100)")?;
            statement.query_map([], |row| row.get(0))?.collect()
        };
        match lines() {
            Ok(lines) => Ok(lines.into_iter().filter(|line| line != "ok").collect()),
            Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt) => Ok(vec![error.to_string()]),
            Err(error) => Err(error.into()),
        }
    }

    /// After a delete: sees to it that what was deleted is nowhere in the file. Rows are overwritten as they go, but
    /// two places still hold them. One is the search index, in which words stay until its parts are merged: a small
    /// one is at once, of a large one a little with every delete. The other is the journal.
    pub(super) fn purge(&self) -> Result<()> {
        let connection = &self.connection;
        // Another process that is at work is not waited for: the next purge does it.
        connection.busy_timeout(Duration::ZERO)?;
        let purged = self.merge_index().and_then(|()| self.empty_journal());
        connection.busy_timeout(self.patience.most())?;
        match purged {
            Err(Error::Sqlite(error)) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => Ok(()),
            purged => purged,
        }
    }

    fn merge_index(&self) -> Result<()> {
        let connection = &self.connection;
        let pages: i64 = connection
            .prepare_cached("SELECT count(*) FROM (SELECT 1 FROM texts_data LIMIT ?1)")?
            .query_row([SMALL_INDEX + 1], |row| row.get(0))?;
        let merge = if pages <= SMALL_INDEX {
            "INSERT INTO texts (texts) VALUES ('optimize')".to_owned()
        } else {
            // A negative number: whatever can be merged, not only what should be.
            format!("INSERT INTO texts (texts, rank) VALUES ('merge', -{MERGED_AT_ONCE})")
        };
        Ok(connection.prepare_cached(&merge)?.execute([]).map(|_| ())?)
    }

    /// Moves the journal into the file and empties it. Left for later where another process is reading.
    fn empty_journal(&self) -> Result<()> {
        Ok(self.connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()))?)
    }
}
