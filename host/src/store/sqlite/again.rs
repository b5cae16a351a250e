//! Reading again what cannot be read for a moment. Whoever may only look at a store reads the index of its journal as others leave it: where
//! SQLite comes upon its head while that is being written, it finds an index that would have to be made anew, for which it has no right.

use std::thread;
use std::time::Duration;

use rusqlite::ffi;

use super::error::Error;

/// How often it is read again. A head is written within a microsecond, by whoever is not kept from going on in the midst of it.
const TIMES: usize = 100;
const PAUSE: Duration = Duration::from_millis(1);

/// What may be over in a moment.
pub(super) trait Passing {
    /// Whether it is that.
    fn is_passing(&self) -> bool;
}

impl Passing for rusqlite::Error {
    fn is_passing(&self) -> bool {
        self.sqlite_error().is_some_and(|error| error.extended_code == ffi::SQLITE_READONLY_RECOVERY)
    }
}

impl Passing for Error {
    fn is_passing(&self) -> bool {
        matches!(self, Self::Sqlite(error) if error.is_passing())
    }
}

/// Reads, and again where that fails for a moment.
pub(super) fn again<T, E: Passing>(mut read: impl FnMut() -> Result<T, E>) -> Result<T, E> {
    for _ in 0..TIMES {
        match read() {
            Err(error) if error.is_passing() => thread::sleep(PAUSE),
            read => return read,
        }
    }
    read()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(code: i32) -> rusqlite::Error {
        rusqlite::Error::SqliteFailure(ffi::Error::new(code), None)
    }

    #[test]
    fn what_fails_for_a_moment_is_read_again_and_nothing_else_is() {
        for (code, bad, reads) in [
            (ffi::SQLITE_READONLY_RECOVERY, 3, 4),
            (ffi::SQLITE_READONLY_RECOVERY, usize::MAX, TIMES + 1),
            (ffi::SQLITE_READONLY, usize::MAX, 1),
            (ffi::SQLITE_CORRUPT, usize::MAX, 1),
        ] {
            let mut done = 0;
            let read = again(|| {
                done += 1;
                if done > bad { Ok(()) } else { Err(Error::from(failed(code))) }
            });
            assert_eq!((read.is_ok(), done), (bad < TIMES, reads), "{code}");
        }
    }
}
