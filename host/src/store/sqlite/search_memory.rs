//! The memory that searching takes: pages of the file beyond those that all else needs, since what a search reads lies all over
//! it, and the names of texts' owners. It is given back when nobody has searched for a while.

use std::time::{Duration, Instant};

use rusqlite::Connection;

use super::owner_names::OwnerNames;

/// Pages of the file kept in memory, in KiB, and how many while searches come.
pub(super) const CACHE_KIB: i64 = 3072;
const SEARCHING_CACHE_KIB: i64 = 16_384;

/// How long it is kept after a search.
const KEPT: Duration = Duration::from_mins(1);

/// What searches have in memory.
#[derive(Debug, Default)]
pub(super) struct SearchMemory {
    /// The names that were read.
    pub(super) names: OwnerNames,
    /// When somebody searched last; none where nothing is held for that.
    searched: Option<Instant>,
}

impl SearchMemory {
    /// A search begins.
    pub(super) fn take(&mut self, connection: &Connection, now: Instant) -> rusqlite::Result<()> {
        if self.searched.replace(now).is_none() {
            connection.pragma_update(None, "cache_size", -SEARCHING_CACHE_KIB)?;
        }
        Ok(())
    }

    /// Gives it back if the last search was long ago. The time is asked for only where there has been one.
    pub(super) fn give_back(&mut self, connection: &Connection, now: impl FnOnce() -> Instant) -> rusqlite::Result<()> {
        if self.searched.is_none_or(|searched| now().saturating_duration_since(searched) < KEPT) {
            return Ok(());
        }
        *self = Self::default();
        // Pages past this are freed at once.
        connection.pragma_update(None, "cache_size", -CACHE_KIB)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache_size(connection: &Connection) -> i64 {
        connection.query_row("PRAGMA cache_size", [], |row| row.get(0)).unwrap()
    }

    #[test]
    fn a_search_has_more_memory_until_nobody_searches_any_more() {
        let (connection, mut memory, begun) =
            (Connection::open_in_memory().unwrap(), SearchMemory::default(), Instant::now());
        connection.pragma_update(None, "cache_size", -CACHE_KIB).unwrap();
        memory.give_back(&connection, || begun).unwrap();
        assert_eq!(cache_size(&connection), -CACHE_KIB);
        for searched in [begun, begun + KEPT / 2] {
            memory.take(&connection, searched).unwrap();
        }
        memory.give_back(&connection, || begun + KEPT).unwrap();
        assert_eq!(cache_size(&connection), -SEARCHING_CACHE_KIB);
        memory.give_back(&connection, || begun + 2 * KEPT).unwrap();
        assert_eq!((cache_size(&connection), memory.searched), (-CACHE_KIB, None));
    }
}
