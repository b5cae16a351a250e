//! The names of texts' owners by their numbers, kept from one search to the next: each stands on a page of its own, mostly,
//! and whoever types searches once for each letter.

use std::collections::HashMap;

use rusqlite::{Connection, OptionalExtension as _};

use super::error::Result;

/// How much is kept, in bytes of names and what it takes to keep one.
const MOST: usize = 1024 * 1024;
const OVERHEAD: usize = 64;

/// Names that were read. An owner keeps its number for good, unless the table is made anew.
#[derive(Debug, Default)]
pub(super) struct OwnerNames {
    /// Changes where a table is made.
    schema: i64,
    known: HashMap<i64, String>,
    size: usize,
}

impl OwnerNames {
    /// What is known holds for the transaction that is under way from now on.
    pub(super) fn begin(&mut self, connection: &Connection) -> Result<()> {
        let schema = connection.prepare_cached("PRAGMA schema_version")?.query_row([], |row| row.get(0))?;
        if schema != self.schema {
            *self = Self { schema, ..Self::default() };
        }
        Ok(())
    }

    /// The name of an owner; none where it has none.
    pub(super) fn of(&mut self, connection: &Connection, owner: i64) -> Result<Option<&str>> {
        if !self.known.contains_key(&owner) {
            let mut statement = connection.prepare_cached("SELECT name FROM owners WHERE id = ?1")?;
            let name: Option<String> = statement.query_row([owner], |row| row.get(0)).optional()?;
            let Some(name) = name else { return Ok(None) };
            let size = name.len() + OVERHEAD;
            if self.size + size > MOST {
                self.known.clear();
                self.size = 0;
            }
            self.size += size;
            self.known.insert(owner, name);
        }
        Ok(self.known.get(&owner).map(String::as_str))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(connection: &Connection, names: &[&str]) {
        let made = "DROP TABLE IF EXISTS owners; CREATE TABLE owners (id INTEGER PRIMARY KEY, name TEXT)";
        connection.execute_batch(made).unwrap();
        for name in names {
            connection.execute("INSERT INTO owners (name) VALUES (?1)", [name]).unwrap();
        }
    }

    fn found(names: &mut OwnerNames, connection: &Connection) -> Vec<Option<String>> {
        names.begin(connection).unwrap();
        (1..=3).map(|owner| names.of(connection, owner).unwrap().map(str::to_owned)).collect()
    }

    #[test]
    fn names_are_kept_until_the_table_is_made_anew() {
        let (connection, mut names) = (Connection::open_in_memory().unwrap(), OwnerNames::default());
        let some = |names: [&str; 2]| [Some(names[0].to_owned()), Some(names[1].to_owned()), None];
        table(&connection, &["a", "b"]);
        assert_eq!(found(&mut names, &connection), some(["a", "b"]));
        assert_eq!(found(&mut names, &connection), some(["a", "b"]));
        table(&connection, &["b", "c"]);
        assert_eq!(found(&mut names, &connection), some(["b", "c"]));
        // One that comes later is not taken for one that is not there.
        connection.execute("INSERT INTO owners (name) VALUES ('d')", []).unwrap();
        assert_eq!(found(&mut names, &connection)[2].as_deref(), Some("d"));
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let (connection, mut names) = (Connection::open_in_memory().unwrap(), OwnerNames::default());
        let long = "n".repeat(MOST / 2);
        table(&connection, &[&long, &long, "short"]);
        for _ in 0..2 {
            assert_eq!(found(&mut names, &connection)[2].as_deref(), Some("short"));
            assert!(names.size <= MOST && names.known.len() < 3);
        }
    }
}
