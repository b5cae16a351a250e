//! Writing the search index anew without what was deleted, in steps between which others can write.

use std::time::Instant;

use super::Sqlite;
use super::cleaning::merge_pages;
use super::error::Result;
use super::transaction::{Lock, Transaction};

/// How many pages of the index are written in one step. Others wait that long: some 10 ms.
const PAGES: i64 = 64;

/// A merge of the index that is under way.
#[derive(Debug, Default)]
pub struct Compaction {
    is_begun: bool,
}

impl Compaction {
    /// Takes a step. Returns whether there is more to do. It can be given up after any of them.
    pub fn step(&mut self, store: &mut Sqlite) -> Result<bool> {
        // The first step says that everything is to be merged into one; those after it carry that on.
        let pages = if std::mem::replace(&mut self.is_begun, true) { PAGES } else { -PAGES };
        let before = store.connection.total_changes();
        let transaction = Transaction::begin(&mut store.connection, Lock::Writing)?;
        let locked = Instant::now();
        merge_pages(&transaction, pages)?;
        transaction.commit()?;
        store.give_way(locked);
        // FTS5 counts one change for the statement itself.
        let has_worked = store.connection.total_changes() - before >= 2;
        if !has_worked {
            // Most of it while others write: what is left is done at once.
            store.checkpoint("PASSIVE")?;
            store.checkpoint("TRUNCATE")?;
        }
        Ok(has_worked)
    }
}
