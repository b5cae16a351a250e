//! Opening: the settings of a connection, what is only read, and waiting for other processes.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, MAIN_DB, OpenFlags, ffi};

use super::again::again;
use super::awaiting_room::AwaitingRoom;
use super::kind::{self, Kind};
use super::patience::Patience;
use super::place::{self, Place};
use super::schema::{self, Version};
use super::search_memory::{CACHE_KIB, SearchMemory};
use super::{Builder, OpenError, Sqlite};
use crate::component::storage::Durability;

/// Statements kept ready. There are some two dozen of them.
const STATEMENTS: usize = 48;

/// How long the journal's file stays, in bytes, when it is begun again, however long it has grown while somebody kept it from
/// that. SQLite moves it into the file, and begins it again, whenever a commit finds 4 MiB in it: twice as much is room for
/// that and for a large commit, without the file being cut and made longer again each time.
const JOURNAL_KEPT: i64 = 8 << 20;

/// How SQLite says that there is no room for the journal's index, or for what it writes.
const NO_ROOM: [i32; 4] =
    [ffi::SQLITE_IOERR_SHMOPEN, ffi::SQLITE_IOERR_SHMSIZE, ffi::SQLITE_IOERR_SHMMAP, ffi::SQLITE_IOERR_WRITE];

/// One store is opened at a time: connections of a process share what they know of a journal, and one that looks whose a
/// file is must not do so without a right to write for another.
static OPENING: Mutex<()> = Mutex::new(());

type Result<T> = std::result::Result<T, OpenError>;

pub(super) fn open(builder: &Builder) -> Result<Sqlite> {
    let _alone = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    match &builder.file {
        Some(file) => open_file(builder, file),
        None => in_memory(builder),
    }
}

fn in_memory(builder: &Builder) -> Result<Sqlite> {
    let opened = || {
        let mut connection = Connection::open_in_memory()?;
        configure(&connection, builder.busy_for)?;
        schema::migrate(&mut connection)?;
        Ok(connection)
    };
    let connection = opened().map_err(|cause| OpenError::Open { path: PathBuf::from(":memory:"), cause })?;
    Ok(sqlite(builder, connection, None))
}

fn sqlite(builder: &Builder, connection: Connection, place: Option<Place>) -> Sqlite {
    Sqlite {
        connection,
        place,
        durability: Durability::Relaxed,
        patience: Patience::new(builder.busy_for, Instant::now()),
        gives_way: builder.gives_way,
        cleaning_failed: None,
        found_clean: None,
        search_memory: SearchMemory::default(),
        awaiting_room: None,
    }
}

/// A store that is only looked at.
pub(super) fn to_look_at(connection: Connection) -> rusqlite::Result<Sqlite> {
    let builder = Builder::default();
    again(|| configure(&connection, builder.busy_for))?;
    Ok(sqlite(&builder, connection, None))
}

fn open_file(builder: &Builder, file: &Path) -> Result<Sqlite> {
    place::create(file)?;
    if !file.is_file() {
        return Err(OpenError::NoFile(file.to_owned()));
    }
    let looked = retry_while_busy(builder.busy_for, || kind::of_file(file)).map_err(failed(file))?;
    if looked == Kind::Foreign {
        return Err(OpenError::Foreign(file.to_owned()));
    }
    let mut awaiting_room = None;
    let connection = match open_to_write(builder, file) {
        Err(OpenError::Open { cause, .. }) if is_not_to_write(&cause) => {
            let opened = open_to_read(builder, file)?;
            if is_no_room(&cause) {
                tracing::warn!(
                    "the store {} can only be read for now: the disk is full, or takes nothing ({cause})",
                    file.display()
                );
                awaiting_room = Some(AwaitingRoom::new(builder, file.to_owned()));
            }
            opened
        }
        opened => opened?,
    };
    let place = Place::of(file).map_err(|cause| OpenError::Create { path: file.to_owned(), cause })?;
    Ok(Sqlite { awaiting_room, ..sqlite(builder, connection, Some(place)) })
}

/// Opens to write what could only be read for want of room, if there is some by now; nobody is waited for.
pub(super) fn again_to_write(builder: &Builder, file: &Path) -> Option<Connection> {
    let _alone = OPENING.lock().unwrap_or_else(PoisonError::into_inner);
    let hasty = Builder { busy_for: Duration::ZERO, ..builder.clone() };
    let connection = open_to_write(&hasty, file).ok()?;
    let is_to_write = !connection.is_readonly(MAIN_DB).ok()?;
    connection.busy_timeout(builder.busy_for).ok()?;
    is_to_write.then_some(connection)
}

/// What SQLite could not do, said of this file.
fn failed(file: &Path) -> impl Fn(rusqlite::Error) -> OpenError {
    |cause| OpenError::Open { path: file.to_owned(), cause }
}

fn open_to_write(builder: &Builder, file: &Path) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(file, flags).map_err(failed(file))?;
    if connection.is_readonly(MAIN_DB).map_err(failed(file))? {
        return open_to_read(builder, file);
    }
    if !has_pages(&connection).map_err(failed(file))? {
        return Err(OpenError::Incomplete);
    }
    place::narrow_files(file)?;
    if builder.owns_folder {
        place::narrow_folder(file)?;
    }
    configure(&connection, builder.busy_for).map_err(failed(file))?;
    let version = retry_while_busy(builder.busy_for, || schema::version(&connection)).map_err(failed(file))?;
    if let Version::Newer(found) = version {
        return Err(too_new(file, found));
    }
    if !kind::is_marked(&connection).map_err(failed(file))? {
        let kind = retry_while_busy(builder.busy_for, || kind::mark(&mut connection)).map_err(failed(file))?;
        if kind == Kind::Foreign {
            return Err(OpenError::Foreign(file.to_owned()));
        }
    }
    if version == Version::Older {
        retry_while_busy(builder.busy_for, || schema::migrate(&mut connection)).map_err(failed(file))?;
    }
    Ok(connection)
}

/// Whether SQLite was built with what cleans pages: `.cargo/config.toml` says so, for builds in the project's own folder.
fn has_pages(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT sqlite_compileoption_used('ENABLE_DBPAGE_VTAB')", [], |row| row.get(0))
}

pub(super) fn too_new(file: &Path, found: i64) -> OpenError {
    OpenError::TooNew { path: file.to_owned(), found, known: schema::CURRENT }
}

/// Whether the system does not let the file, or one beside it, be written.
fn is_not_to_write(error: &rusqlite::Error) -> bool {
    let is_refused = matches!(error.sqlite_error_code(), Some(ErrorCode::ReadOnly | ErrorCode::CannotOpen));
    is_refused || is_no_room(error)
}

/// Whether there is no room for what would have to be written.
pub(super) fn is_no_room(error: &rusqlite::Error) -> bool {
    let is_of_room = |error: &ffi::Error| NO_ROOM.contains(&error.extended_code);
    error.sqlite_error_code() == Some(ErrorCode::DiskFull) || error.sqlite_error().is_some_and(is_of_room)
}

/// Opens a store that can only be read: the tables have been the same in all versions.
fn open_to_read(builder: &Builder, file: &Path) -> Result<Connection> {
    // Without a journal there is nobody who writes, and nothing that would have to be made beside the file.
    let how = if place::has_journal(file) { "mode=ro" } else { "immutable=1" };
    let connection = kind::open_read_only(file, how).map_err(failed(file))?;
    configure(&connection, builder.busy_for).map_err(failed(file))?;
    match retry_while_busy(builder.busy_for, || schema::version(&connection)).map_err(failed(file))? {
        Version::Newer(found) => Err(too_new(file, found)),
        Version::Older if Kind::of(&connection).map_err(failed(file))? == Kind::Empty => {
            Err(OpenError::EmptyReadOnly(file.to_owned()))
        }
        Version::Current | Version::Older => Ok(connection),
    }
}

fn configure(connection: &Connection, busy_for: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(busy_for)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    // Otherwise plans depend on what is bound, a limit above all, and each use of a statement prepares it anew.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true)?;
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
    connection.pragma_update(None, "journal_size_limit", JOURNAL_KEPT)?;
    // A file that another process cuts short would be a fatal signal here.
    connection.pragma_update(None, "mmap_size", 0)?;
    // What is deleted is overwritten.
    connection.pragma_update(None, "secure_delete", "ON")
}

/// SQLite does not wait by itself where waiting could be a deadlock; as nothing is held here, it cannot be one.
fn retry_while_busy<T>(limit: Duration, mut attempt: impl FnMut() -> rusqlite::Result<T>) -> rusqlite::Result<T> {
    let begun = Instant::now();
    loop {
        match attempt() {
            Err(error)
                if matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
                    && begun.elapsed() < limit =>
            {
                thread::sleep(Duration::from_millis(2));
            }
            result => return result,
        }
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::StatementStatus;

    use super::*;

    #[test]
    fn a_store_is_read_where_nothing_can_be_written() {
        let failed = |code| rusqlite::Error::SqliteFailure(ffi::Error::new(code), None);
        for (code, is_room) in [
            (ffi::SQLITE_FULL, true),
            (ffi::SQLITE_IOERR_SHMSIZE, true),
            (ffi::SQLITE_IOERR_SHMOPEN, true),
            (ffi::SQLITE_IOERR_WRITE, true),
            (ffi::SQLITE_CANTOPEN, false),
            (ffi::SQLITE_READONLY_DBMOVED, false),
        ] {
            assert!(is_not_to_write(&failed(code)), "{code}");
            assert_eq!(is_no_room(&failed(code)), is_room, "{code}");
        }
        for code in [ffi::SQLITE_IOERR_READ, ffi::SQLITE_CORRUPT, ffi::SQLITE_NOTADB, ffi::SQLITE_BUSY] {
            assert!(!is_not_to_write(&failed(code)), "{code}");
        }
    }

    #[test]
    fn a_statement_is_prepared_once_whatever_it_is_asked_for() {
        let store = in_memory(&Builder::default()).unwrap();
        let pages = [
            "SELECT key, value FROM records WHERE key >= ?1 AND key < ?2 ORDER BY key LIMIT ?3",
            "SELECT id, value FROM entries WHERE id BETWEEN ?1 AND ?2 ORDER BY id LIMIT ?3",
        ];
        for page in pages {
            let mut statement = store.connection.prepare(page).unwrap();
            for bound in [(1, 2, 3), (2, 9, 3), (1, 4, 10)] {
                statement.exists(bound).unwrap();
            }
            assert_eq!(statement.get_status(StatementStatus::RePrepare), 0, "{page}");
        }
    }
}
