//! Opening: permissions, the settings of a connection, and waiting for other processes.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::schema::{self, Version};
use super::{Builder, OpenError, Sqlite};
use crate::component::storage::Durability;

/// Statements kept ready. There are some two dozen of them.
const STATEMENTS: usize = 48;

/// Pages of the file kept in memory, in KiB.
const CACHE_KIB: i64 = 4096;

pub(super) fn open(builder: &Builder) -> Result<Sqlite, OpenError> {
    let path = builder.file.clone().unwrap_or_else(|| PathBuf::from(":memory:"));
    let failed = |cause| OpenError::Open { path: path.clone(), cause };
    let mut connection = match &builder.file {
        Some(file) => {
            create(file)?;
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            Connection::open_with_flags(file, flags).map_err(failed)?
        }
        None => Connection::open_in_memory().map_err(failed)?,
    };
    if !has_pages(&connection).map_err(failed)? {
        return Err(OpenError::Incomplete);
    }
    configure(&connection, builder.busy_for).map_err(failed)?;
    match retry_while_busy(builder.busy_for, || schema::version(&connection)).map_err(failed)? {
        Version::Current => {}
        Version::Newer(found) => return Err(OpenError::TooNew { path, found, known: schema::CURRENT }),
        Version::Older => {
            retry_while_busy(builder.busy_for, || schema::migrate(&mut connection)).map_err(failed)?;
        }
    }
    let is_file = builder.file.is_some();
    Ok(Sqlite {
        connection,
        durability: Durability::Relaxed,
        busy_for: builder.busy_for,
        is_file,
        cleaning_failed: None,
    })
}

/// Whether SQLite was built with what cleans pages: `.cargo/config.toml` says so, for builds in the project's own folder.
fn has_pages(connection: &Connection) -> rusqlite::Result<bool> {
    connection.query_row("SELECT sqlite_compileoption_used('ENABLE_DBPAGE_VTAB')", [], |row| row.get(0))
}

/// Makes the file and the folders above it where they are missing, for their owner only.
fn create(file: &Path) -> Result<(), OpenError> {
    let failed = |path: &Path| {
        let path = path.to_owned();
        |cause| OpenError::Create { path, cause }
    };
    if let Some(folder) = file.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        DirBuilder::new().recursive(true).mode(0o700).create(folder).map_err(failed(folder))?;
    }
    match OpenOptions::new().write(true).create_new(true).mode(0o600).open(file) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(failed(file)(error)),
        // SQLite gives its side files the permissions of the main one.
        _ => Ok(()),
    }
}

fn configure(connection: &Connection, busy_for: Duration) -> rusqlite::Result<()> {
    connection.busy_timeout(busy_for)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS);
    connection.pragma_update(None, "synchronous", "NORMAL")?;
    connection.pragma_update(None, "cache_size", -CACHE_KIB)?;
    connection.pragma_update(None, "temp_store", "MEMORY")?;
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
