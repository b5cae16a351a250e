//! Looking after the file.

use rusqlite::ErrorCode;

use super::error::Result;
use super::{Sqlite, schema};

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
            texts: count("SELECT count(*) FROM texts_content WHERE id > 0")?,
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
}
