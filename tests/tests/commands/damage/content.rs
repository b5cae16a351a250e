//! All that is in a store: what is kept, and what follows from it.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OpenFlags};

type Rows = Vec<Vec<Value>>;

/// The rows of all tables that say anything.
#[derive(Debug, PartialEq)]
pub(crate) struct Content {
    kept: Vec<Rows>,
    /// The number of the last change, which may be put ahead.
    revision: Rows,
    texts: Rows,
}

/// Records that come and go, or that anything may stand in.
const PASSING: &str = "substr(key, 1, 2) NOT IN ('o/', 'c/', 'q/') AND key NOT IN ('c', 'k', 'r')";

impl Content {
    pub(crate) fn of(store: &Path) -> rusqlite::Result<Self> {
        let connection = Connection::open_with_flags(store, OpenFlags::SQLITE_OPEN_READ_ONLY)?;
        let rows = |sql: &str| -> rusqlite::Result<Rows> {
            let mut statement = connection.prepare(sql)?;
            let columns = statement.column_count();
            let row = |row: &rusqlite::Row<'_>| (0..columns).map(|column| row.get(column)).collect();
            statement.query_map([], row)?.collect()
        };
        let kept = [
            &format!("SELECT key, value FROM records WHERE {PASSING} ORDER BY key"),
            "SELECT id, name FROM logs ORDER BY id",
            "SELECT id, value FROM entries ORDER BY id",
        ];
        let texts = "SELECT name, id & 268435455, c0 FROM texts_content JOIN
            (SELECT id AS owner, name FROM owners) ON owner = id >> 28 ORDER BY 1, 2";
        let revision = rows("SELECT value FROM records WHERE key = 'r'")?;
        Ok(Self { revision, kept: kept.into_iter().map(rows).collect::<rusqlite::Result<_>>()?, texts: rows(texts)? })
    }

    pub(crate) fn kept(&self) -> &[Rows] {
        &self.kept
    }

    pub(crate) fn texts(&self) -> &Rows {
        &self.texts
    }

    /// How many sessions there are.
    pub(crate) fn sessions(&self) -> u64 {
        let is_session = |row: &&Vec<Value>| matches!(&row[0], Value::Text(key) if key.starts_with("s/"));
        self.kept[0].iter().filter(is_session).count() as u64
    }
}
