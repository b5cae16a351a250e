//! Looking after the file.

use std::time::Duration;

use super::error::Result;
use super::{Sqlite, schema};

/// What a check of the store found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Health {
    /// The format of the tables.
    pub format: i64,
    /// What is wrong, a line each; none in a healthy store.
    pub faults: Vec<String>,
    /// How many records there are.
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
        let count = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, i64>(0));
        let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let mut statement = connection.prepare("PRAGMA quick_check(100)")?;
        let lines: Vec<String> = statement.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
        let page = pragma("page_size")?;
        Ok(Health {
            format: schema::CURRENT,
            faults: lines.into_iter().filter(|line| line != "ok").collect(),
            records: count("SELECT count(*) FROM records")?,
            logs: count("SELECT count(*) FROM logs")?,
            entries: count("SELECT count(*) FROM entries")?,
            texts: count("SELECT count(*) FROM texts_content")?,
            bytes: pragma("page_count")? * page,
            free_bytes: pragma("freelist_count")? * page,
        })
    }

    /// Moves the journal into the file and empties it, so that what was deleted is nowhere any more. Left for later
    /// where another process is reading.
    pub(super) fn empty_journal(&self) -> Result<()> {
        let connection = &self.connection;
        connection.busy_timeout(Duration::ZERO)?;
        let emptied = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(()));
        connection.busy_timeout(self.busy_for)?;
        match emptied {
            Err(error) if error.sqlite_error_code() == Some(rusqlite::ErrorCode::DatabaseBusy) => Ok(()),
            result => Ok(result?),
        }
    }
}
