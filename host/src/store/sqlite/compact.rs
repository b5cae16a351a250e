//! Writing the search index anew without what was deleted, in steps between which others can write.

use std::time::Instant;

use rusqlite::TransactionBehavior;

use super::Sqlite;
use super::error::Result;

/// How many pages of the index are written in one step. Others wait that long: some 10 ms.
const PAGES: i32 = 64;

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
        let transaction = store.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let locked = Instant::now();
        transaction.prepare_cached("INSERT INTO texts (texts, rank) VALUES ('merge', ?1)")?.execute([pages])?;
        transaction.commit()?;
        store.give_way(locked);
        // FTS5 counts one change for the statement itself.
        let has_worked = store.connection.total_changes() - before >= 2;
        if !has_worked {
            store.settle_journal()?;
        }
        Ok(has_worked)
    }
}

impl Sqlite {
    /// Moves the journal into the file while others write, and then empties it, which is done at once.
    fn settle_journal(&self) -> Result<()> {
        for how in ["PASSIVE", "TRUNCATE"] {
            self.connection.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], |_| Ok(()))?;
        }
        Ok(())
    }
}
