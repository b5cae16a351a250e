//! Giving back to the disk what of the store's file is free. SQLite keeps it for what is written next, so that by itself a
//! file never becomes smaller, whatever was deleted.
//!
//! It is SQLite's `VACUUM`: all that is kept is written anew into the journal, and where that goes into the file the file is
//! cut. Until it is committed nothing has changed, whoever is killed or finds the disk full. Others read meanwhile, but
//! none of them can write: it is not done for little, and who does it says for how long it may last.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use rusqlite::ErrorCode;

use super::error::{Error, Result};
use super::maintenance::Health;
use super::{Sqlite, kind, open, place};

/// Less than this stays for what is written next.
const LEAST: i64 = 16 << 20;
/// So does what is a smaller part of the file than one of so many: all the rest would be written anew for it.
const PARTS: i64 = 4;
/// How long it is waited for others that write, and for those that read what would keep the file from being cut.
const WAITS: Duration = Duration::from_secs(2);
/// How long after an attempt it is looked again whether those have gone.
const AGAIN: Duration = Duration::from_millis(50);
/// After so many of SQLite's steps it is asked whether to go on.
const STEPS: i32 = 100;
/// So many bytes of what is kept are read in a second at best: what takes too long even so is not begun.
const AT_BEST: u64 = 512 << 20;

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenBack {
    /// So little is free that it stays.
    Nothing,
    /// The files are so many bytes smaller.
    Bytes(u64),
    /// It is done, but the file is cut only when others have ended what they are reading.
    Later,
    /// Others were reading or writing all the time: nothing was done.
    Busy,
    /// It would have taken longer than it may, or was to end: nothing was done.
    GivenUp,
    /// There is no room for what has to be written for it: nothing was done.
    NoRoom,
    /// The file is damaged, and what is not reached from its tables any more would be lost: nothing was done.
    Damaged,
}

impl Health {
    /// Whether so much of the file is free that it can be given back to the disk.
    pub fn has_much_free(&self) -> bool {
        is_much(self.free_bytes, self.bytes)
    }
}

fn is_much(free: i64, all: i64) -> bool {
    free >= LEAST && free >= all / PARTS
}

impl Sqlite {
    /// Whether another program has the store in this file open, or was killed while it had.
    pub fn is_in_use(file: &Path) -> bool {
        place::has_sides(file)
    }

    /// Gives back what is free of the file, if it is much. Nobody else can write meanwhile: for no longer than about twice
    /// `longest`, which is how long may be taken for reading what is kept. `goes_on` is asked now and then.
    pub fn give_back(
        &mut self,
        longest: Duration,
        goes_on: impl Fn() -> bool + Clone + Send + 'static,
    ) -> Result<GivenBack> {
        let Some(place) = &self.place else { return Ok(GivenBack::Nothing) };
        place.check()?;
        let file = place.path().to_owned();
        let pragma = |name| self.connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
        let page = pragma("page_size")?;
        let (free, all) = (pragma("freelist_count")? * page, pragma("page_count")? * page);
        if !is_much(free, all) {
            return Ok(GivenBack::Nothing);
        }
        if (all - free).unsigned_abs() / AT_BEST > longest.as_secs() {
            return Ok(GivenBack::GivenUp);
        }
        // What is kept is copied by way of a file that has no name, where it is too large for SQLite's memory.
        self.connection.pragma_update(None, "temp_store", "FILE")?;
        let given = self.try_to_give_back(&file, longest, goes_on);
        self.connection.progress_handler(0, None::<fn() -> bool>)?;
        self.connection.pragma_update(None, "temp_store", "MEMORY")?;
        self.connection.busy_timeout(self.patience.most())?;
        match given {
            Err(Error::Sqlite(error)) => match error.sqlite_error_code() {
                Some(ErrorCode::OperationInterrupted) => Ok(GivenBack::GivenUp),
                Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => Ok(GivenBack::Busy),
                _ if open::is_no_room(&error) => Ok(GivenBack::NoRoom),
                _ if kind::is_damage(&error) => Ok(GivenBack::Damaged),
                _ => Err(Error::Sqlite(error)),
            },
            given => given,
        }
    }

    fn try_to_give_back(
        &mut self,
        file: &Path,
        longest: Duration,
        goes_on: impl Fn() -> bool + Clone + Send + 'static,
    ) -> Result<GivenBack> {
        if !is_whole(file, goes_on.clone())? {
            return Ok(GivenBack::Damaged);
        }
        if !self.empty_journal_within(WAITS)? {
            return Ok(GivenBack::Busy);
        }
        let before = length(file)?;
        self.connection.busy_timeout(WAITS)?;
        let begun = Instant::now();
        self.connection.progress_handler(STEPS, Some(move || begun.elapsed() > longest || !goes_on()))?;
        let written = self.connection.execute_batch("VACUUM");
        self.connection.progress_handler(0, None::<fn() -> bool>)?;
        // Also where it has failed: what it has written by then would take room until somebody writes.
        let is_emptied = self.empty_journal_within(WAITS);
        written?;
        let is_emptied = is_emptied?;
        let smaller = before.saturating_sub(length(file)?);
        Ok(if smaller == 0 && !is_emptied { GivenBack::Later } else { GivenBack::Bytes(smaller) })
    }

    /// Empties the journal; not where others read what is in it for so long.
    fn empty_journal_within(&self, limit: Duration) -> Result<bool> {
        let begun = Instant::now();
        loop {
            if self.empty_journal()? {
                return Ok(true);
            }
            if begun.elapsed() >= limit {
                return Ok(false);
            }
            thread::sleep(AGAIN);
        }
    }
}

/// Whether SQLite finds nothing wrong with the file. That is asked by a connection that has read nothing of it before: FTS5
/// would compare what it knows of its index from then with what others have written since.
fn is_whole(file: &Path, goes_on: impl Fn() -> bool + Send + 'static) -> Result<bool> {
    let mut connection = kind::open_read_only(file, "mode=ro")?;
    connection.progress_handler(STEPS, Some(move || !goes_on()))?;
    Ok(connection.query_row("PRAGMA quick_check(1)", [], |row| row.get::<_, String>(0))? == "ok")
}

/// How long a file and its journal are.
fn length(file: &Path) -> Result<u64> {
    let of = |path: PathBuf| match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        found => found.map(|found| found.len()),
    };
    let lengths = of(file.to_owned()).and_then(|main| Ok(main + of(place::beside(file, "-wal"))?));
    lengths.map_err(Error::Unreadable)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU32, Ordering};

    use rusqlite::Connection;
    use tempfile::TempDir;

    use super::*;
    use crate::component::storage::{Host as _, LogCut, Write};
    use crate::store::sqlite::scene::{append, commit, open, put, term, text};

    const LONG: Duration = Duration::from_mins(1);

    /// A store of some MiB most of which is free, and its file.
    fn emptied() -> (TempDir, PathBuf, Sqlite) {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("s.db");
        let mut store = open(&path);
        let said = |log: &str, seq| append(log, seq, &"word ".repeat(200_000));
        for seq in 1..=20 {
            commit(&mut store, vec![said("goes", seq)]);
        }
        commit(&mut store, vec![said("stays", 1), text("stays", 1, "some word"), put("k", "v")]);
        let many = (0..2000).map(|nth| put(&format!("many{nth}"), "v"));
        commit(&mut store, many.collect());
        for start in (1..=20).rev() {
            commit(&mut store, vec![Write::CutLog(LogCut { log: "goes".into(), start })]);
        }
        (folder, path, store)
    }

    fn size(path: &Path) -> u64 {
        length(path).expect("read")
    }

    /// What is kept is there, for these.
    fn check(store: &mut Sqlite) {
        assert_eq!(store.log_end("stays".into()).expect("no trap"), Ok(1));
        assert_eq!(store.get(vec!["k".into()]).expect("no trap"), Ok(vec![Some("v".into())]));
        assert_eq!(store.search_text(term("word"), None, 10).expect("no trap").expect("found").owners, "stays");
        let health = store.check().expect("checked");
        assert_eq!(health.faults, vec![]);
    }

    #[test]
    fn what_is_free_is_given_back_beside_others_that_go_on() {
        let (_folder, path, mut store) = emptied();
        let mut other = open(&path);
        check(&mut other);
        assert!(store.check().expect("checked").has_much_free());
        let before = fs::metadata(&path).expect("the file").len();
        let GivenBack::Bytes(given) = store.give_back(LONG, || true).expect("no failure") else { panic!("not given") };
        assert_eq!(size(&path), before - given);
        assert!(size(&path) < 3 << 20, "{} of {before}", size(&path));
        check(&mut other);
        check(&mut store);
        commit(&mut other, vec![put("k2", "v")]);
        assert_eq!(store.get(vec!["k2".into()]).expect("no trap"), Ok(vec![Some("v".into())]));
        assert_eq!(store.give_back(LONG, || true).expect("no failure"), GivenBack::Nothing);
    }

    #[test]
    fn what_is_free_is_left_where_others_use_the_store_all_the_time_or_it_would_take_too_long() {
        let (_folder, path, mut store) = emptied();
        let reader = Connection::open(&path).expect("a database");
        let before = size(&path);
        reader.execute_batch("BEGIN; SELECT * FROM records").expect("a snapshot");
        commit(&mut store, vec![put("k", "v")]);
        assert_eq!(store.give_back(LONG, || true).expect("no failure"), GivenBack::Busy);
        reader.execute_batch("COMMIT; BEGIN IMMEDIATE").expect("locked");
        assert_eq!(store.give_back(LONG, || true).expect("no failure"), GivenBack::Busy);
        reader.execute_batch("ROLLBACK").expect("unlocked");
        assert_eq!(store.give_back(Duration::ZERO, || true).expect("no failure"), GivenBack::GivenUp);
        assert!(size(&path) + (1 << 20) > before / 2, "nothing was done");
        check(&mut store);
        assert!(matches!(store.give_back(LONG, || true).expect("no failure"), GivenBack::Bytes(_)));
        check(&mut store);
    }

    #[test]
    fn given_up_at_whatever_step_it_leaves_all_as_it_was() {
        let (_folder, path, mut store) = emptied();
        let before = size(&path);
        let mut given_up = 0;
        for steps in (0..16).map(|power| 1 << power) {
            let asked = Arc::new(AtomicU32::new(0));
            let goes_on = move || asked.fetch_add(1, Ordering::Relaxed) < steps;
            match store.give_back(LONG, goes_on).expect("no failure") {
                GivenBack::GivenUp => given_up += 1,
                given => {
                    assert!(matches!(given, GivenBack::Bytes(_)), "{given:?}");
                    break;
                }
            }
            assert!(size(&path) <= before, "{steps}");
            check(&mut store);
        }
        assert!(given_up > 3, "{given_up}: too little to tell");
        assert!(size(&path) < 3 << 20, "{} of {before}", size(&path));
        check(&mut store);
    }

    #[test]
    fn what_others_write_to_the_index_meanwhile_is_no_damage() {
        let (_folder, path, mut store) = emptied();
        check(&mut store);
        let mut other = open(&path);
        for part in 2..400 {
            commit(&mut other, vec![text("stays", part, &format!("some word{part}"))]);
        }
        let given = store.give_back(LONG, || true).expect("no failure");
        assert!(matches!(given, GivenBack::Bytes(_)), "{given:?}");
        check(&mut store);
    }

    #[test]
    fn a_damaged_file_keeps_what_could_still_be_salvaged_from_it() {
        let (_folder, path, store) = emptied();
        drop(store);
        let connection = Connection::open(&path).expect("a database");
        connection
            .execute_batch("PRAGMA writable_schema = ON; DELETE FROM sqlite_master WHERE tbl_name = 'logs'")
            .expect("its pages are nobody's now");
        drop(connection);
        let before = size(&path);
        let mut store = open(&path);
        assert_eq!(store.give_back(LONG, || true).expect("no failure"), GivenBack::Damaged);
        assert_eq!(size(&path), before);
    }

    #[test]
    fn little_stays_for_what_is_written_next() {
        for (free, all, is) in [
            (LEAST, LEAST, true),
            (LEAST - 1, LEAST, false),
            (LEAST, LEAST * PARTS, true),
            (LEAST, LEAST * PARTS + 4096, false),
        ] {
            assert_eq!(is_much(free, all), is, "{free} of {all}");
        }
    }
}
