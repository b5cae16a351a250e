//! Whose a database is. It is found out without changing a byte of what may be somebody else's.

use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use rusqlite::{Connection, ErrorCode, OpenFlags, TransactionBehavior};

use super::again::again;
use super::place;
use crate::store::format::{MAGIC, number32};
use crate::store::raw::Pages;

/// What `PRAGMA application_id` says of a store: `acps`.
const OURS: i64 = 0x6163_7073;

/// Where a file's header has it, and `PRAGMA user_version`.
const APPLICATION_AT: usize = 68;
const VERSION_AT: usize = 60;

/// The tables of a store.
const TABLES: [&str; 6] = ["records", "logs", "entries", "owners", "texts", "vocabulary"];

/// Whose a database is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// A store that is marked as one.
    Store,
    /// A store of a version that did not mark them.
    Unmarked,
    /// Nobody's: there is nothing in it.
    Empty,
    /// Another program's.
    Foreign,
}

impl Kind {
    pub(super) fn of(connection: &Connection) -> rusqlite::Result<Self> {
        let application = header(connection, "application_id")?;
        let version = header(connection, "user_version")?;
        let objects = if application == 0 { objects(connection)? } else { Vec::new() };
        Ok(Self::judged(application, version, &objects))
    }

    /// By the header's two numbers and the names of all that is in it.
    fn judged(application: i64, version: i64, objects: &[String]) -> Self {
        match application {
            OURS => Self::Store,
            0 if version == 0 && objects.is_empty() => Self::Empty,
            0 if version > 0 && TABLES.iter().all(|table| objects.iter().any(|found| found == table)) => Self::Unmarked,
            _ => Self::Foreign,
        }
    }

    /// Of a file whose journal SQLite cannot use without making an index of it: a computer that crashes leaves one. The file
    /// alone may be half of what it was and half of what it is to be. `None` where that cannot be read.
    fn by_pages(file: &Path) -> Option<Self> {
        let pages = Pages::open(file, &place::beside(file, "-wal")).ok()?;
        let first = pages.page(1).filter(|first| first.starts_with(MAGIC))?;
        let objects = pages.objects();
        let names: Vec<String> = objects.listed.into_iter().map(|object| object.name).collect();
        let (version, application) = (number32(&first, VERSION_AT)?, number32(&first, APPLICATION_AT)?);
        objects.is_whole.then(|| Self::judged(application.into(), version.into(), &names))
    }
}

/// The names of all that is in it.
fn objects(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    let mut statement = connection.prepare("SELECT name FROM sqlite_master")?;
    statement.query_map([], |row| row.get(0))?.collect()
}

fn header(connection: &Connection, name: &str) -> rusqlite::Result<i64> {
    connection.pragma_query_value(None, name, |row| row.get(0))
}

/// Whether a database is marked as a store.
pub(super) fn is_marked(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(header(connection, "application_id")? == OURS)
}

/// Whose the database in this file is. Nothing is written, neither into it nor beside it.
pub(super) fn of_file(file: &Path) -> rusqlite::Result<Kind> {
    let look = |how: &str| open_read_only(file, how).and_then(|connection| Kind::of(&connection));
    let looked = if place::has_journal(file) {
        // With the journal's index as it is there. The file alone is the last that is tried.
        let read = again(|| look("mode=ro&readonly_shm=1"));
        read.or_else(|_| Kind::by_pages(file).map_or_else(|| look("immutable=1"), Ok))
    } else {
        look("immutable=1")
    };
    match looked {
        // SQLite takes a single byte for nothing.
        Ok(Kind::Empty) if fs::metadata(file).is_ok_and(|found| found.len() == 1) => Ok(Kind::Foreign),
        Err(error) if is_no_database(&error) => Ok(Kind::Foreign),
        looked => looked,
    }
}

/// Whether SQLite does not take a file for a database.
pub(super) fn is_no_database(error: &rusqlite::Error) -> bool {
    error.sqlite_error_code() == Some(ErrorCode::NotADatabase)
}

/// Whether it is what is in the file that SQLite cannot make anything of.
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    // A damaged list of the tables, or a table that is missing, is no more than an error to SQLite.
    let is_of_tables = error.sqlite_error_code() == Some(ErrorCode::Unknown);
    is_of_tables || is_no_database(error) || error.sqlite_error_code() == Some(ErrorCode::DatabaseCorrupt)
}

/// Marks a store as one. Whose it is is looked at again: another program may have been faster.
pub(super) fn mark(connection: &mut Connection) -> rusqlite::Result<Kind> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let kind = Kind::of(&transaction)?;
    if matches!(kind, Kind::Unmarked | Kind::Empty) {
        transaction.pragma_update(None, "application_id", OURS)?;
    }
    transaction.commit()?;
    Ok(kind)
}

/// Opens a database for reading, in the way that this part of a URI says.
pub(super) fn open_read_only(file: &Path, how: &str) -> rusqlite::Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let file = std::path::absolute(file).map_err(|_| rusqlite::Error::InvalidPath(file.to_owned()))?;
    let mut uri = "file://".to_owned();
    for byte in file.as_os_str().as_bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'/' | b'-' | b'_' | b'.') {
            uri.push(char::from(*byte));
        } else {
            let _ = write!(uri, "%{byte:02X}");
        }
    }
    Connection::open_with_flags(format!("{uri}?{how}"), flags)
}
