//! Making the indexes anew.

use acp_sessions_guest::index::{self, Owner};
use acp_sessions_guest::sessions::checkup::{CheckupError, Mending, check};
use acp_sessions_guest::sessions::delete::delete;
use acp_sessions_guest::sessions::rename::rename;
use acp_sessions_guest::storage::{Bounds, Durability, Entry, Storage, Write};
use acp_sessions_guest::store::{Session, Store, keys};

use crate::between::Between;
use crate::shop::{
    NOW, check_all, entry, fork_of, found, left, prompted, put, remove_all, say, spoil, stray, transcript, with,
};

/// How many sessions were done, and what stays wrong.
fn rebuild_all<S: Storage>(store: &Store<S>, limit: u32) -> (u32, Vec<String>) {
    let (done, findings) = check_all(store, Mending::Derived, limit, || {});
    (done, left(&findings).into_iter().map(str::to_owned).collect())
}

const DERIVED: [&str; 4] = ["e/", "i/", "p/", "t/"];

fn records<S: Storage>(store: &Store<S>, prefix: &str) -> Vec<Entry> {
    let bounds = Bounds { limit: 10_000, max_bytes: u32::MAX };
    store.storage().scan(prefix, &keys::range_end(prefix), false, bounds).unwrap().entries
}

/// Sessions of every kind: 600 for more than one batch, forks of one that is gone, a sub-agent's, an empty one.
fn fill<S: Storage>(store: &Store<S>) {
    for nth in 0..600 {
        put(store, &prompted(&format!("s{nth}"), NOW - nth));
    }
    put(store, &Session::new("empty".to_owned(), "/y".to_owned(), NOW));
    put(
        store,
        &with(prompted("child", NOW), |session| {
            session.parent = Some("s1".to_owned());
            session.archived = true;
        }),
    );
    rename(store, "s2", "a walrus").unwrap();
    put(store, &prompted("gone", NOW));
    for nth in 0..300 {
        say(store, "gone", NOW, &format!("walrus {nth}"));
    }
    fork_of(store, "gone", "fork");
    fork_of(store, "gone", "another");
    delete(store, "gone", NOW).unwrap();
    say(store, "s3", NOW, "walrus");
}

#[test]
fn what_is_derived_comes_back_as_it_was() {
    let storage = Between::default();
    let store = Store::new(&storage);
    fill(&store);
    let expected: Vec<Vec<String>> =
        DERIVED.map(|prefix| records(&store, prefix).into_iter().map(|entry| entry.key).collect()).into();
    let walruses = ["another", "fork", "s2", "s3"];
    assert_eq!(found(&store, "walrus"), walruses);
    // Everything that is derived goes, and other things come.
    let mut damage: Vec<Write> = DERIVED
        .iter()
        .flat_map(|prefix| records(&store, prefix))
        .enumerate()
        .filter(|(nth, _)| nth % 3 > 0)
        .map(|(_, entry)| Write::Remove { key: entry.key })
        .collect();
    for owner in [Owner::Log("gone"), Owner::Log("s3"), Owner::Heading("s2")] {
        damage.push(Write::DropText { owner: owner.name(), start: 0 });
    }
    for key in [keys::unprompted(5, "s1"), keys::subagent("s9", "s8"), keys::changed(3, "none"), "i/m/u/x".to_owned()] {
        damage.push(Write::Put { key, value: String::new() });
    }
    let tokens = index::tokenise("walrus");
    damage.push(Write::IndexText { owner: Owner::Log("s4").name(), part: 9, tokens });
    store.commit(&[], damage, Durability::Relaxed).unwrap();
    assert_eq!(rebuild_all(&store, 100), (604, vec![]));
    let now: Vec<Vec<String>> =
        DERIVED.map(|prefix| records(&store, prefix).into_iter().map(|entry| entry.key).collect()).into();
    assert_eq!(now, expected);
    assert_eq!(found(&store, "walrus"), walruses);
    assert_eq!(transcript(&store, "fork").len(), 300);
}

#[test]
fn a_broken_record_is_named_and_holds_nothing_up() {
    let storage = Between::default();
    let store = Store::new(&storage);
    fill(&store);
    let other = store.record(keys::session("s7")).unwrap().unwrap();
    let broken = [("s5", "{".to_owned()), ("s6", other)];
    let writes = broken.iter().map(|(id, text)| Write::Put { key: keys::session(id), value: text.clone() });
    let mut writes: Vec<Write> = writes.collect();
    writes.extend(records(&store, "i/").into_iter().skip(400).map(|entry| Write::Remove { key: entry.key }));
    store.commit(&[], writes, Durability::Relaxed).unwrap();
    let (done, named) = rebuild_all(&store, 7);
    assert_eq!((done, named), (602, vec!["s/s5".to_owned(), "s/s6".to_owned()]));
    assert_eq!(records(&store, "s/").len(), 604);
    // Two rows a session and the beginning of one, and all but the broken ones have theirs.
    let rows = records(&store, "i/");
    let of = |id: &str| rows.iter().filter(|row| row.key.ends_with(&format!("/{id}"))).count();
    assert_eq!((of("s4"), of("s599"), of("child"), of("another")), (3, 3, 3, 3));
}

#[test]
fn a_cursor_that_no_rebuild_gave_is_refused() {
    let storage = Between::default();
    let store = Store::new(&storage);
    for cursor in ["", "w:s/x", "{}", "r1-5"] {
        assert!(matches!(check(&store, Mending::Derived, Some(cursor), 1, NOW), Err(CheckupError::Cursor)), "{cursor}");
    }
}

#[test]
fn what_changes_meanwhile_is_not_lost() {
    type Meanwhile = fn(&Store<&acp_sessions_guest::storage::Memory>);
    let cases: [(&str, Meanwhile, &[&str]); 4] = [
        ("a title", |store| drop(rename(store, "x", "walrus").unwrap()), &["x"]),
        ("an entry", |store| say(store, "x", NOW, "walrus"), &["x"]),
        ("the last entry grows", |store| grow(store), &["x"]),
        ("a delete", |store| drop(delete(store, "x", NOW).unwrap()), &[]),
    ];
    for (what, meanwhile, expected) in cases {
        // Before each of the commits that a rebuild makes.
        for nth in 0.. {
            let storage = Between::default();
            let store = Store::new(&storage);
            put(&store, &prompted("x", NOW));
            say(&store, "x", NOW, "hello");
            rename(&store, "x", "a title").unwrap();
            spoil(&store);
            stray(&store);
            storage.before_nth_commit(nth, |memory| meanwhile(&Store::new(memory)));
            rebuild_all(&store, 10);
            if !storage.has_happened() {
                assert!(nth > 3, "{what}: {nth} commits");
                break;
            }
            assert_eq!(found(&store, "walrus"), expected, "{what}, before commit {nth}");
            if expected.is_empty() {
                remove_all(&store);
                assert_eq!(storage.memory.counts().2, 0, "no text is left, {what}, before commit {nth}");
                assert!(DERIVED.iter().all(|prefix| records(&store, prefix).is_empty()));
            } else {
                assert_eq!(found(&store, "hello"), ["x"], "{what}, before commit {nth}");
            }
        }
    }
}

/// As a recorder writes an open run again and indexes it.
fn grow<S: Storage>(store: &Store<S>) {
    let tokens = index::tokenise("hello walrus");
    let writes = vec![
        Write::IndexText { owner: Owner::Log("x").name(), part: 1, tokens },
        Write::Amend { log: "x".to_owned(), seq: 1, value: entry(NOW, "hello walrus") },
    ];
    store.commit(&[], writes, Durability::Relaxed).unwrap();
}

#[test]
fn an_index_entry_that_comes_to_stand_for_something_meanwhile_is_not_taken_out() {
    let storage = Between::default();
    let store = Store::new(&storage);
    put(&store, &prompted("x", NOW));
    let row = keys::rows('m', None, None) + &keys::row_place(NOW + 5, "x");
    let stray = Write::Put { key: row.clone(), value: String::new() };
    store.commit(&[], vec![stray], Durability::Relaxed).unwrap();
    storage.before_commit(|memory| {
        let store = Store::new(memory);
        let touched = with(store.session("x").unwrap().unwrap(), |session| session.touch(NOW + 5));
        put(&store, &touched);
    });
    rebuild_all(&store, 10);
    assert!(storage.has_happened());
    assert!(store.record(row).unwrap().is_some());
}

#[test]
fn no_commit_is_so_large_that_others_have_to_wait_for_it() {
    let storage = Between::default();
    let store = Store::new(&storage);
    put(&store, &prompted("long", NOW));
    for nth in 0..2000 {
        say(&store, "long", NOW, &format!("{nth} {}", "walrus ".repeat(100)));
    }
    storage.largest.set(0);
    let (mut calls, mut entries, mut cursor) = (0, 0, None);
    loop {
        let rebuilt = check(&store, Mending::Derived, cursor.as_deref(), 100, NOW).unwrap();
        calls += 1;
        entries += rebuilt.entries;
        cursor = rebuilt.next;
        if cursor.is_none() {
            break;
        }
    }
    let largest = storage.largest.get();
    assert!(largest <= 40 * 1024, "a commit of {largest} bytes");
    assert!(calls > 2, "a rebuild of {calls} calls cannot be given up");
    assert_eq!(entries, 2000, "each entry is counted once");
}
