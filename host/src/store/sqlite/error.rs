//! What can go wrong, and how the engine is told.

use std::io;
use std::path::{Path, PathBuf};

use rusqlite::ErrorCode;

use super::{kind, schema};
use crate::component::storage::StorageError as Told;
use crate::shell_word::quoted;

/// Why a store could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// The file or its folder could not be created.
    #[error("cannot create the session store {}: {cause}", path.display())]
    Create {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// It was written by a later version of this program.
    #[error(
        "the session store {} has format {found}, this program knows formats up to {known}: use a newer acp-sessions, \
         or another file with --store",
        path.display()
    )]
    TooNew {
        /// The file.
        path: PathBuf,
        /// Its format.
        found: i64,
        /// The newest known here.
        known: i64,
    },
    /// It is another program's database, or no database at all. Nothing of it was changed.
    #[error(
        "{} is no session store: it is another program's database, or no database at all; it was not changed, name \
         another file with --store",
        .0.display()
    )]
    Foreign(PathBuf),
    /// Where a new store is to be made of a damaged one there is what another attempt has left, or is writing just now.
    #[error(
        "{there} is there already: a salvage into the same file is under way, or was killed. If none is, remove {there}, \
         {there}-wal and {there}-shm; or name another file",
        there = .0.display()
    )]
    Unfinished(PathBuf),
    /// It is a folder, a pipe or the like.
    #[error("{} is no session store: it is not a file; name another with --store", .0.display())]
    NoFile(PathBuf),
    /// There is nothing in it yet, and nothing can be put into it.
    #[error("the session store {} is empty and cannot be written", .0.display())]
    EmptyReadOnly(PathBuf),
    /// Others have rights on it that cannot be taken from them.
    #[error(
        "others than its owner may use the session store's file {}, and that cannot be changed: {cause}",
        path.display()
    )]
    Rights {
        /// The file or folder.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// This program was built without what removes deleted text from the file.
    #[error(
        "this acp-sessions could not remove deleted text from the session store's file: it was built without SQLite's \
         SQLITE_ENABLE_DBPAGE_VTAB. Build it in the project's own folder, or with \
         LIBSQLITE3_FLAGS=-DSQLITE_ENABLE_DBPAGE_VTAB"
    )]
    Incomplete,
    /// SQLite could not open it.
    #[error("cannot open the session store {}: {cause}{}", path.display(), remedy_of_damage(path, cause))]
    Open {
        /// The file.
        path: PathBuf,
        /// What SQLite said.
        cause: rusqlite::Error,
    },
}

/// Why an operation was not done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An expectation, or the place of a log entry, did not hold.
    #[error("changed by another process at the same time")]
    Conflict,
    /// A number does not fit.
    #[error("too large")]
    TooLarge,
    /// The file is not where it was.
    #[error("the store's file {} was removed or replaced: put it back, or start acp-sessions anew", .0.display())]
    Gone(PathBuf),
    /// A later version of this program has changed its format since it was opened.
    #[error(
        "the store has format {0} by now, this program knows formats up to {known}: use a newer acp-sessions",
        known = schema::CURRENT
    )]
    Newer(i64),
    /// The file could not be read.
    #[error("{0}")]
    Unreadable(io::Error),
    /// Rows came in another order than was asked for, so that reading page after page would never end.
    #[error("the file is damaged: what is in it is out of order")]
    Disorder,
    /// SQLite failed.
    #[error("{0}")]
    Sqlite(rusqlite::Error),
}

/// Its causes say what it says itself, in other words.
impl From<rusqlite::Error> for Error {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}

/// What a store's operation returns.
pub(super) type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// As the engine is told it. Its users read that too, in an editor that knows nothing of stores: it says which file it is of,
    /// where there is one, and what can be done.
    pub(super) fn told(self, file: Option<&Path>) -> Told {
        let with_remedy = |text: String| match file {
            Some(file) => format!("{text}: {}", remedy(file)),
            None => text,
        };
        let error = match self {
            Error::Conflict => return Told::Conflict,
            Error::TooLarge => return Told::TooLarge,
            Error::Disorder => return Told::Corrupt(with_remedy(self.to_string())),
            Error::Gone(_) | Error::Newer(_) | Error::Unreadable(_) => return Told::Unavailable(self.to_string()),
            Error::Sqlite(error) => error,
        };
        match error.sqlite_error_code() {
            Some(ErrorCode::DiskFull) => Told::Full,
            Some(ErrorCode::ReadOnly) => Told::ReadOnly,
            Some(ErrorCode::TooBig | ErrorCode::OutOfMemory) => Told::TooLarge,
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Told::Unavailable("another process kept it locked for too long".to_owned())
            }
            // Without a code it is not from SQLite but about what it returned: a value of another type than was stored.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) | None => {
                Told::Corrupt(with_remedy(error.to_string()))
            }
            Some(_) => Told::Unavailable(with_remedy(error.to_string())),
        }
    }
}

/// Which command says what is wrong with a store.
fn remedy(file: &Path) -> String {
    format!("acp-sessions doctor --store {} says what can be saved", quoted(&file.to_string_lossy()))
}

/// Which command says what is wrong with the store, behind a text, if it is the file that SQLite cannot make anything
/// of.
fn remedy_of_damage(file: &Path, cause: &rusqlite::Error) -> String {
    if kind::is_damage(cause) { format!(": {}", remedy(file)) } else { String::new() }
}
