//! What is particular to SQLite: files, permissions, formats, several connections.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;
use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use rusqlite::Connection;

use super::scene::{append, commit, open, put, term, text};
use super::{OpenError, Salvage, Sqlite, schema};
use crate::component::storage::{Durability, Expectation, Host as _, LogCut, LogRow, StorageError, TextCut, Write};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("there").permissions().mode() & 0o777
}

#[test]
fn only_the_owner_can_read_a_store() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("deep/er/sessions.db");
    let mut store = open(&path);
    commit(&mut store, vec![put("k", "v")]);
    assert_eq!(mode(path.parent().expect("a folder")), 0o700);
    assert_eq!(mode(&path), 0o600);
    for side in ["sessions.db-wal", "sessions.db-shm"] {
        assert_eq!(mode(&path.with_file_name(side)), 0o600, "{side}");
    }
}

#[test]
fn a_store_is_made_where_a_link_points_to_if_that_folder_is_there() {
    let folder = tempfile::tempdir().expect("a folder");
    let link = folder.path().join("link.db");
    for target in ["real.db", "missing/real.db"] {
        symlink(target, &link).expect("a link");
        let is_folder_there = target == "real.db";
        match Sqlite::builder().file(&link).build() {
            Ok(mut store) => {
                assert!(is_folder_there, "{target}");
                store.commit(vec![], vec![put("k", "v")], Durability::Durable).expect("no trap").expect("written");
                assert_eq!(
                    open(&folder.path().join(target)).get(vec!["k".into()]).expect("no trap"),
                    Ok(vec![Some("v".into())])
                );
                assert_eq!(mode(&folder.path().join(target)), 0o600);
            }
            Err(error) => {
                assert!(!is_folder_there, "{target}: {error}");
                let complaint = error.to_string();
                assert!(complaint.contains("missing/real.db") && complaint.contains("No such file"), "{complaint}");
            }
        }
        fs::remove_file(&link).expect("a link");
    }
}

#[test]
fn what_was_written_is_there_when_it_is_opened_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.db");
    for durability in [Durability::Relaxed, Durability::Durable] {
        let key = format!("{durability:?}");
        open(&path).commit(vec![], vec![put(&key, "v")], durability).expect("no trap").expect("written");
        assert_eq!(open(&path).get(vec![key]).expect("no trap"), Ok(vec![Some("v".into())]));
    }
}

#[test]
fn a_store_of_an_earlier_version_is_taken_over_with_what_it_holds() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.db");
    open(&path).commit(vec![], vec![put("k", "v")], Durability::Durable).expect("no trap").expect("written");
    for version in 1..schema::CURRENT {
        let connection = Connection::open(&path).expect("a database");
        connection.pragma_update(None, "user_version", version).expect("set");
        drop(connection);
        assert_eq!(open(&path).get(vec!["k".into()]).expect("no trap"), Ok(vec![Some("v".into())]));
        let connection = Connection::open(&path).expect("a database");
        let now: i64 = connection.pragma_query_value(None, "user_version", |row| row.get(0)).expect("read");
        assert_eq!(now, schema::CURRENT);
    }
}

#[test]
fn a_store_of_a_later_version_is_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.db");
    drop(open(&path));
    let connection = Connection::open(&path).expect("a database");
    connection.pragma_update(None, "user_version", schema::CURRENT + 1).expect("set");
    drop(connection);
    let error = Sqlite::builder().file(&path).build().expect_err("refused");
    assert!(matches!(error, OpenError::TooNew { found, .. } if found == schema::CURRENT + 1), "{error}");
    assert!(error.to_string().contains("use a newer acp-sessions"), "{error}");
}

#[test]
fn a_file_that_is_no_store_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.db");
    fs::write(&path, "This is a shopping list, and it is long enough to be looked at.".repeat(20)).expect("written");
    let error = Sqlite::builder().file(&path).build().expect_err("refused");
    assert!(error.to_string().contains("s.db"), "{error}");
    assert!(Sqlite::builder().file(folder.path()).build().is_err());
}

#[test]
fn many_can_create_it_at_once() {
    const OPENERS: usize = 8;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("new/s.db");
    let barrier = Barrier::new(OPENERS);
    thread::scope(|scope| {
        for opener in 0..OPENERS {
            let (barrier, path) = (&barrier, &path);
            scope.spawn(move || {
                barrier.wait();
                let written = open(path).commit(vec![], vec![put(&opener.to_string(), "v")], Durability::Relaxed);
                assert_eq!(written.expect("no trap"), Ok(()));
            });
        }
    });
    let page = open(&path).scan("0".into(), "9".into(), false, 100, 1000).expect("no trap").expect("read");
    assert_eq!(page.entries.len(), OPENERS);
}

#[test]
fn two_writers_lose_nothing() {
    const ROUNDS: u32 = 200;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.db");
    drop(open(&path));
    thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                let mut store = open(&path);
                for _ in 0..ROUNDS {
                    count_up(&mut store);
                }
            });
        }
    });
    let mut store = open(&path);
    assert_eq!(store.get(vec!["n".into()]).expect("no trap"), Ok(vec![Some((2 * ROUNDS).to_string())]));
    assert_eq!(store.log_end("l".into()).expect("no trap"), Ok(2 * ROUNDS));
}

/// Adds one to a counter and an entry to a log, again and again until nobody was faster.
fn count_up(store: &mut Sqlite) {
    loop {
        let found = store.get(vec!["n".into()]).expect("no trap").expect("read").remove(0);
        let count = found.as_deref().map_or(0, |count| count.parse::<u32>().expect("a number"));
        let expected = vec![Expectation { key: "n".into(), value: found }];
        let append = Write::Append(LogRow { log: "l".into(), seq: count + 1, value: "x".into() });
        let writes = vec![put("n", &(count + 1).to_string()), append];
        match store.commit(expected, writes, Durability::Relaxed).expect("no trap") {
            Ok(()) => return,
            Err(error) => assert_eq!(error, StorageError::Conflict),
        }
    }
}

#[test]
fn a_store_that_stays_locked_is_unavailable() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.db");
    let mut store = Sqlite::builder().file(&path).busy_for(Duration::from_millis(10)).build().expect("a store");
    let other = Connection::open(&path).expect("a database");
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    let refused = store.commit(vec![], vec![put("k", "v")], Durability::Relaxed).expect("no trap");
    assert!(matches!(refused, Err(StorageError::Unavailable(_))), "{refused:?}");
    assert_eq!(store.get(vec!["k".into()]).expect("no trap"), Ok(vec![None]), "reading goes on");
    other.execute_batch("ROLLBACK").expect("unlocked");
    assert_eq!(store.commit(vec![], vec![put("k", "v")], Durability::Relaxed).expect("no trap"), Ok(()));
}

#[test]
fn what_is_deleted_is_gone_from_the_disk() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.db");
    let mut store = open(&path);
    // More than a page, so that overflow pages are overwritten too.
    let secret = "xylophone ".repeat(2000);
    let writes = vec![
        put("k", &secret),
        Write::Append(LogRow { log: "l".into(), seq: 1, value: secret.clone() }),
        text("o", 0, &secret),
        text("p", 0, "something else"),
    ];
    commit(&mut store, writes);
    assert!(holds(folder.path(), b"xylophone"));
    let writes = vec![
        Write::Remove("k".into()),
        Write::CutLog(LogCut { log: "l".into(), start: 1 }),
        Write::DropText(TextCut { owner: "o".into(), start: 0 }),
    ];
    commit(&mut store, writes);
    assert!(store.clean_all(Duration::from_mins(1)).expect("cleaned"));
    assert!(!holds(folder.path(), b"xylophone"));
    let term = term("something");
    assert_eq!(store.search_text(term, None, 10).expect("no trap").expect("found").parts.len(), 1);
}

#[test]
fn the_journal_is_cut_again_once_a_reader_that_kept_it_growing_has_gone() {
    const LONG: usize = 100_000;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.db");
    let journal = || fs::metadata(folder.path().join("s.db-wal")).expect("a journal").len();
    let mut store = open(&path);
    let mut write = |value: &str| {
        commit(&mut store, vec![put("k", value)]);
    };
    write("before");
    let reader = Connection::open(&path).expect("a database");
    reader.execute_batch("BEGIN; SELECT * FROM records").expect("a snapshot");
    for nth in 0..200 {
        write(&nth.to_string().repeat(LONG / 3));
    }
    assert!(journal() > 10 << 20, "{}: too little to tell", journal());
    reader.execute_batch("COMMIT").expect("over");
    // The first takes all that stands in it into the file, and the next begins it again.
    for value in ["one", "two"] {
        write(value);
    }
    assert!(journal() <= 8 << 20, "{} bytes", journal());
}

#[test]
fn what_stands_in_the_journal_alone_is_seen_through_a_link() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("real/s.db");
    let mut store = open(&path);
    commit(&mut store, vec![put("k", "v")]);
    let link = folder.path().join("link.db");
    symlink(&path, &link).expect("a link");
    assert!(Sqlite::is_in_use(&link), "it has what SQLite keeps beside it");
    let mut examined = Sqlite::examine(&link).expect("opened");
    assert_eq!(examined.get(vec!["k".into()]).expect("no trap"), Ok(vec![Some("v".into())]));
    let (_salvage, mut new) = Salvage::begin(&folder.path().join("new.db")).expect("a new store");
    let salvaged = new.salvage_from(&link, || true).expect("read").expect("to its end");
    assert_eq!(salvaged.records, 1);
}

#[test]
fn nothing_is_written_any_more_once_a_later_version_has_changed_the_format() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.db");
    let mut store = open(&path);
    let write = |store: &mut Sqlite| store.commit(vec![], vec![put("k", "v")], Durability::Relaxed).expect("no trap");
    assert_eq!(write(&mut store), Ok(()));
    let newer = Connection::open(&path).expect("a database");
    newer.pragma_update(None, "user_version", schema::CURRENT + 1).expect("set");
    let Err(StorageError::Unavailable(why)) = write(&mut store) else { panic!("it was written") };
    assert!(why.contains("use a newer acp-sessions"), "{why}");
    assert!(store.clean_from_now_on().is_err(), "nor is anything cleaned in it");
    newer.pragma_update(None, "user_version", schema::CURRENT).expect("set");
    assert_eq!(write(&mut store), Ok(()));
}

fn holds(folder: &Path, bytes: &[u8]) -> bool {
    fs::read_dir(folder).expect("a folder").any(|entry| {
        let content = fs::read(entry.expect("an entry").path()).expect("read");
        memchr::memmem::find(&content, bytes).is_some()
    })
}

#[test]
fn a_log_without_a_number_left_takes_no_more() {
    const LAST: u32 = u32::MAX - 1;
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.db");
    let mut store = open(&path);
    let row = |seq| LogRow { log: "l".into(), seq, value: "x".into() };
    let other = Write::Append(LogRow { log: "m".into(), seq: 1, value: "stays".into() });
    commit(&mut store, vec![Write::Append(row(1)), other]);
    let connection = Connection::open(&path).expect("a database");
    connection.execute("UPDATE entries SET id = id + ?1 WHERE value = 'x'", [LAST - 2]).expect("moved");
    for (write, outcome) in [
        (Write::Append(row(LAST)), Ok(())),
        (Write::Append(row(u32::MAX)), Err(StorageError::TooLarge)),
        (Write::Append(row(0)), Err(StorageError::TooLarge)),
        (Write::Amend(row(LAST)), Ok(())),
        (Write::CutLog(LogCut { log: "l".into(), start: u32::MAX }), Ok(())),
    ] {
        let said = format!("{write:?}");
        assert_eq!(store.commit(vec![], vec![write], Durability::Relaxed).expect("no trap"), outcome, "{said}");
    }
    assert_eq!(store.log_end("l".into()).expect("no trap"), Ok(LAST));
    let page = store.read_log("l".into(), LAST, 10, 1000).expect("no trap").expect("read");
    assert_eq!((page.entries.len(), page.more), (1, false));
    assert_eq!(store.log_end("m".into()).expect("no trap"), Ok(1));
}

#[test]
fn a_check_counts_and_finds_nothing_wrong() {
    let mut store = Sqlite::builder().in_memory().build().expect("a store");
    let writes = vec![put("k", "v"), append("l", 1, "x"), text("o", 3, "one two")];
    commit(&mut store, writes);
    let health = store.check().expect("checked");
    assert_eq!((health.records, health.logs, health.entries, health.texts), (1, 1, 1, 1));
    assert_eq!((health.format, health.faults), (schema::CURRENT, vec![]));
}

#[test]
fn what_others_write_while_it_is_checked_is_no_damage() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.db");
    let (mut store, mut other) = (open(&path), open(&path));
    for part in 1..400 {
        let value = format!("some word{part}");
        commit(&mut other, vec![put(&value, "v"), append("l", part, &value), text("o", part, &value)]);
        if part % 10 == 0 {
            // What it knows of the index from now on is soon no longer so.
            assert_eq!(store.search_text(term("some"), None, 1).expect("no trap").expect("found").parts.len(), 1);
        }
        if part % 7 == 0 {
            let health = store.check().expect("checked");
            let all = i64::from(part);
            assert_eq!((health.records, health.entries, health.texts, health.faults), (all, all, all, vec![]));
        }
    }
}

/// Reads page after page, each behind the last row of the one before; what ended it.
fn ended(mut page: impl FnMut(Option<String>) -> Result<Vec<String>, StorageError>) -> Result<(), StorageError> {
    let mut last = None;
    for _ in 0..1000 {
        last = page(last)?.pop();
        if last.is_none() {
            return Ok(());
        }
    }
    panic!("it goes on for ever");
}

#[test]
fn rows_that_are_out_of_order_in_the_file_do_not_lead_round_in_circles() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.db");
    let mut store = open(&path);
    for nth in 10..60 {
        let name = format!("name{nth}");
        let writes = vec![put(&name, "v"), append(&name, 1, "x"), text(&name, 0, "word")];
        commit(&mut store, writes);
    }
    drop(store);
    let mut bytes = fs::read(&path).expect("the file");
    for place in memchr::memmem::find_iter(&bytes.clone(), b"name59") {
        bytes[place..place + 6].copy_from_slice(b"name00");
    }
    fs::write(&path, bytes).expect("written");
    let mut store = open(&path);
    let records = ended(|last| {
        let start = last.map(|last| format!("{last}\0")).unwrap_or_default();
        let page = store.scan(start, "o".into(), false, 100, u32::MAX).expect("no trap")?;
        Ok(page.entries.into_iter().map(|entry| entry.key).collect())
    });
    let logs = ended(|last| store.log_names(last, 100).expect("no trap"));
    let owners = ended(|last| store.text_owners(last, 100).expect("no trap"));
    for ended in [records, logs, owners] {
        assert!(matches!(ended, Err(StorageError::Corrupt(_))), "{ended:?}");
    }
}
