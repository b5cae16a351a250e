//! The tables, and how older ones become them.
//!
//! `PRAGMA user_version` counts the migrations that were applied. A published one is never changed, only followed.

use rusqlite::{Connection, TransactionBehavior};

/// The format that this program writes.
#[expect(clippy::cast_possible_wrap, reason = "there are a handful")]
pub(super) const CURRENT: i64 = MIGRATIONS.len() as i64;

/// Each takes the store from the format of its index to the next.
const MIGRATIONS: [&str; 4] = [
    include_str!("schema/1.sql"),
    include_str!("schema/2.sql"),
    include_str!("schema/3.sql"),
    include_str!("schema/4.sql"),
];

/// How a file's format relates to [`CURRENT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// Nothing to do.
    Current,
    /// To be migrated; also a file that is still empty.
    Older,
    /// Written by a later program.
    Newer(i64),
}

pub(super) fn version(connection: &Connection) -> rusqlite::Result<Version> {
    let found: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0))?;
    Ok(match found {
        CURRENT => Version::Current,
        found if found > CURRENT => Version::Newer(found),
        _ => Version::Older,
    })
}

/// Something that a store of a format has: a table or an index.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Object {
    pub(super) name: String,
    pub(super) kind: String,
    /// How it was made; none for an index that came with its table.
    pub(super) made_by: Option<String>,
    /// The page that it begins at; 0 for what has none.
    pub(super) root: u32,
}

/// What there is in a database.
pub(super) fn objects(connection: &Connection) -> rusqlite::Result<Vec<Object>> {
    let mut statement = connection.prepare("SELECT name, type, sql, rootpage FROM sqlite_master ORDER BY name")?;
    let object = |row: &rusqlite::Row<'_>| {
        Ok(Object { name: row.get(0)?, kind: row.get(1)?, made_by: row.get(2)?, root: row.get(3)? })
    };
    statement.query_map([], object)?.collect()
}

/// What there is in a store of this format, if it is one that was ever there.
pub(super) fn expected(format: i64) -> rusqlite::Result<Vec<Object>> {
    let connection = Connection::open_in_memory()?;
    let known = usize::try_from(format).ok().and_then(|format| MIGRATIONS.get(..format)).unwrap_or(&MIGRATIONS);
    known.iter().try_for_each(|migration| connection.execute_batch(migration))?;
    objects(&connection)
}

/// The last step, which does nothing to a store in which all of it has been done.
pub(super) fn last_migration() -> &'static str {
    MIGRATIONS[MIGRATIONS.len() - 1]
}

/// Brings the store up to date. Several processes may try at once: one does it, the others find it done.
pub(super) fn migrate(connection: &mut Connection) -> rusqlite::Result<()> {
    // Kept in the file; it cannot be changed within a transaction.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Exclusive)?;
    let applied: i64 = transaction.pragma_query_value(None, "user_version", |row| row.get(0))?;
    let pending = usize::try_from(applied).ok().and_then(|applied| MIGRATIONS.get(applied..)).unwrap_or_default();
    for migration in pending {
        transaction.execute_batch(migration)?;
    }
    if applied == 0 {
        // No earlier version has left anything to be cleaned up after in a store that is made here.
        transaction.execute("UPDATE cleaning SET removed = 0", [])?;
    }
    if !pending.is_empty() {
        transaction.pragma_update(None, "user_version", CURRENT)?;
    }
    transaction.commit()
}
