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
    if !pending.is_empty() {
        transaction.pragma_update(None, "user_version", CURRENT)?;
    }
    transaction.commit()
}
