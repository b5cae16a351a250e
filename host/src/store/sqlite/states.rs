//! The storage contract in the states that a store in a file can come to (`tests/storage/states`): each is brought about where a
//! store of the program's would meet it, in SQLite and in its file.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::path::PathBuf;
use std::time::Duration;

use acp_sessions_corpus::contract::{State, broken_in_states};
use rusqlite::Connection;

use super::Sqlite;
use super::adapter::Lent;

/// No more than what is left on its pages goes into it.
fn fill(store: &mut Sqlite) {
    let pages: i64 = store.connection.pragma_query_value(None, "page_count", |row| row.get(0)).expect("counted");
    store.connection.query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(())).expect("bounded");
}

fn forbid(store: &mut Sqlite) {
    store.connection.pragma_update(None, "query_only", true).expect("forbidden");
}

/// Somebody who writes, and does not come to an end.
fn writer(store: &mut Sqlite) -> Connection {
    let other = Connection::open(store.connection.path().expect("it is in a file")).expect("opened");
    other.execute_batch("BEGIN IMMEDIATE").expect("nobody else writes");
    other
}

/// Overwrites all pages but the first, which says what the file is: that is read when a store is opened.
fn damage(store: &mut Sqlite) {
    let connection = &store.connection;
    let number = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0)).expect("read");
    // What was written is in the file and not in its journal from now on.
    connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).expect("moved");
    let (pages, size) = (number("page_count"), number("page_size"));
    // To close it drops this process's locks, which nobody else is there to miss.
    let file = File::options().write(true).open(connection.path().expect("it is in a file")).expect("opened");
    let rest = vec![0xff; usize::try_from((pages - 1) * size).expect("a small file")];
    file.write_all_at(&rest, size.try_into().expect("a size")).expect("overwritten");
    // Nor is it in memory.
    connection.execute_batch("PRAGMA shrink_memory").expect("forgotten");
}

/// What is broken by a store in a file that is brought into the states in this way.
fn broken(turn: impl Fn(&mut Sqlite, State, &mut Vec<Connection>)) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = (0..).map(|nth: u32| -> PathBuf { folder.path().join(format!("{nth}.db")) });
    let open = || {
        let file = files.next().expect("a name");
        Lent::new(Sqlite::builder().file(file).busy_for(Duration::from_millis(1)).build().expect("a store"))
    };
    let mut others = Vec::new();
    broken_in_states(&[], open, |store, state| store.with(|store| turn(store, state, &mut others))).expect("the cases")
}

fn turn(store: &mut Sqlite, state: State, others: &mut Vec<Connection>) {
    match state {
        State::Full => fill(store),
        State::ReadOnly => forbid(store),
        State::Busy => others.push(writer(store)),
        State::Damaged => damage(store),
    }
}

#[test]
fn a_store_in_a_file_keeps_the_contract_in_each_state() {
    let found = broken(turn);
    assert!(found.is_empty(), "{} cases fail, the first: {}", found.len(), found[0]);
}

#[test]
fn a_store_that_is_not_brought_into_a_state_is_found() {
    for left_out in State::ALL {
        let found = broken(|store, state, others| {
            if state != left_out {
                turn(store, state, others);
            }
        });
        let of_it = format!("states/{}", left_out.name());
        assert!(!found.is_empty() && found.iter().all(|text| text.starts_with(&of_it)), "{left_out:?}: {found:?}");
    }
}
