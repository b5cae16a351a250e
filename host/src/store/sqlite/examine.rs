//! Opening a store to look at it as it is: nothing is written, neither into it nor beside it, whatever state it is in.

use std::path::Path;

use rusqlite::Connection;

use super::again::again;
use super::error::OpenError;
use super::kind::{self, Kind};
use super::place;
use super::schema::{self, Version};
use super::{Sqlite, open};

impl Sqlite {
    /// Opens what is in this file for reading, as damaged as it may be.
    pub fn examine(file: &Path) -> Result<Self, OpenError> {
        if !file.is_file() {
            return Err(OpenError::NoFile(file.to_owned()));
        }
        let failed = |cause| OpenError::Open { path: file.to_owned(), cause };
        let connection = open_as_it_is(file).map_err(failed)?;
        match again(|| Kind::of(&connection)) {
            Ok(Kind::Foreign) => return Err(OpenError::Foreign(file.to_owned())),
            // SQLite takes a single byte for nothing.
            Ok(Kind::Empty) if file.metadata().is_ok_and(|found| found.len() == 1) => {
                return Err(OpenError::Foreign(file.to_owned()));
            }
            Err(error) if kind::is_no_database(&error) => return Err(OpenError::Foreign(file.to_owned())),
            // What is wrong is told by the check.
            Ok(_) | Err(_) => {}
        }
        if let Ok(Version::Newer(found)) = again(|| schema::version(&connection)) {
            return Err(open::too_new(file, found));
        }
        open::to_look_at(connection).map_err(failed)
    }
}

fn open_as_it_is(file: &Path) -> rusqlite::Result<Connection> {
    // Without a journal nobody else has it open, and none has to be made.
    if !place::has_sides(file) {
        return kind::open_read_only(file, "immutable=1");
    }
    let opened = again(|| kind::open_read_only(file, "mode=ro&readonly_shm=1").and_then(with_first_read));
    let opened = opened.or_else(|_| kind::open_read_only(file, "mode=ro").and_then(with_first_read));
    opened.or_else(|_| kind::open_read_only(file, "immutable=1"))
}

/// Keeps the file and its journal in the state that they are in for as long as what is returned lives, if they can be read at
/// all. Otherwise nobody else uses them either.
pub(super) fn hold(file: &Path) -> Option<Connection> {
    let connection = open_as_it_is(file).ok()?;
    connection.execute_batch("BEGIN").ok()?;
    with_first_read(connection).ok()
}

/// The first read finds out whether there is a journal that can be used. What is wrong with the file itself is another matter.
fn with_first_read(connection: Connection) -> rusqlite::Result<Connection> {
    match connection.pragma_query_value(None, "schema_version", |row| row.get::<_, i64>(0)) {
        Err(error) if kind::is_damage(&error) => Ok(connection),
        read => read.map(|_| connection),
    }
}
