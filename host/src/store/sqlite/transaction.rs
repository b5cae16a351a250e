//! Transactions whose statements are prepared once: a turn has half a dozen of them, and reading `BEGIN` and `COMMIT` each
//! time took as long as what stood between them.

use std::ops::Deref;

use rusqlite::Connection;

use super::error::{Error, Result};
use super::schema;

/// When a transaction takes the store's lock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lock {
    /// None: it only reads, and sees one state of the store from its first read on.
    Reading,
    /// The writer's, at once: one that is taken half-way cannot be waited for.
    Writing,
}

/// A transaction that is open; undone unless it is committed.
#[derive(Debug)]
pub(super) struct Transaction<'a> {
    connection: &'a Connection,
    is_open: bool,
}

impl<'a> Transaction<'a> {
    /// Begins one. The exclusive borrow keeps a second from beginning within it. Where a later version of this program has
    /// changed the store's format since it was opened, nothing is written.
    pub(super) fn begin(connection: &'a mut Connection, lock: Lock) -> Result<Self> {
        let connection: &'a Connection = connection;
        execute(
            connection,
            match lock {
                Lock::Reading => "BEGIN DEFERRED",
                Lock::Writing => "BEGIN IMMEDIATE",
            },
        )?;
        let transaction = Self { connection, is_open: true };
        if lock == Lock::Writing {
            let found = connection.prepare_cached("PRAGMA user_version")?.query_row([], |row| row.get(0))?;
            if found > schema::CURRENT {
                return Err(Error::Newer(found));
            }
        }
        Ok(transaction)
    }

    /// Keeps what was done in it.
    pub(super) fn commit(mut self) -> rusqlite::Result<()> {
        execute(self.connection, "COMMIT")?;
        self.is_open = false;
        Ok(())
    }
}

impl Deref for Transaction<'_> {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        self.connection
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        // SQLite may have undone it by itself, as for a full disk.
        if self.is_open && !self.connection.is_autocommit() {
            // Whatever keeps it from being undone keeps the next one from beginning, which says so.
            let _ = execute(self.connection, "ROLLBACK");
        }
    }
}

fn execute(connection: &Connection, statement: &str) -> rusqlite::Result<()> {
    connection.prepare_cached(statement)?.execute([]).map(|_| ())
}
