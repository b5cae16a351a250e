//! Whether a session is open.

use acp_sessions_guest::sessions::open_marks::{
    AgentsWords, BEAT_EVERY, BELIEVED_FOR, Beat, States, Written, beat, is_open, is_open_elsewhere, leave, renew,
    state, states, unmark, written,
};
use acp_sessions_guest::sessions::retention::{Policy, sweep};
use acp_sessions_guest::storage::{Durability, Memory, Write};
use acp_sessions_guest::store::{ActivityState, Store, keys};

use crate::shop::{HOUR, NOW, open};

const NOTHING: Policy = Policy { idle_since: None, unprompted_since: None };

#[test]
fn a_mark_is_believed_for_as_long_as_its_connection_beats() {
    let store = Store::new(Memory::new());
    open(&store, "a", "one", NOW);
    for (now, expected) in [
        (NOW, true),
        (NOW + BEAT_EVERY, true),
        (NOW + BELIEVED_FOR - 1, true),
        (NOW + BELIEVED_FOR, false),
        // The clock was set back: the heartbeat of a killed process would be believed for days.
        (NOW - 24 * HOUR, false),
    ] {
        assert_eq!(is_open(&store, "a", now).unwrap(), expected, "{now}");
    }
    assert!(!is_open(&store, "b", NOW).unwrap());
    beat(&store, "one", NOW + 2 * BELIEVED_FOR).unwrap();
    assert!(is_open(&store, "a", NOW + BELIEVED_FOR).unwrap());
}

#[test]
fn a_mark_says_what_is_being_done_as_long_as_its_connection_has_just_beaten() {
    let store = Store::new(Memory::new());
    let put = |id: &str, connection: &str, value: &str| {
        beat(&store, connection, NOW + BELIEVED_FOR).unwrap();
        let mark = Write::Put { key: keys::open_mark(id, connection), value: value.to_owned() };
        store.commit(&[], vec![mark], Durability::Relaxed).unwrap();
    };
    for (id, connection, value) in [
        ("a", "one", "i"),
        ("a", "two", "7 1 r"),
        ("b", "one", "0 0 i"),
        // Of an earlier version, which did not say.
        ("c", "one", ""),
        ("d", "one", "3 1"),
    ] {
        put(id, connection, value);
    }
    let expected: States =
        [("a", ActivityState::Running), ("b", ActivityState::Idle)].map(|(id, state)| (id.to_owned(), state)).into();
    for (now, expected) in [(NOW, &expected), (NOW + 9_999, &expected), (NOW + 10_000, &States::new())] {
        assert_eq!(states(&store, now, &AgentsWords::new()).unwrap(), *expected, "{now}");
        for id in ["a", "b", "c", "d", "e"] {
            assert_eq!(state(&store, id, now).unwrap(), expected.get(id).copied(), "{id} {now}");
        }
    }
    assert_eq!(written(&store, "a", "two").unwrap(), Written { times: 7, arrivals: 1 });
    assert_eq!(written(&store, "d", "one").unwrap(), Written { times: 3, arrivals: 1 });
    assert_eq!(written(&store, "a", "one").unwrap(), Written::default());
}

#[test]
fn a_connection_that_leaves_has_nothing_open_and_one_that_closes_a_session_has_the_others() {
    let store = Store::new(Memory::new());
    for (id, connection) in [("a", "one"), ("b", "one"), ("b", "two")] {
        open(&store, id, connection, NOW);
    }
    assert!(!is_open_elsewhere(&store, "a", "one", NOW).unwrap());
    assert!(is_open_elsewhere(&store, "b", "one", NOW).unwrap());
    store.commit(&[], vec![unmark("b", "two")], Durability::Relaxed).unwrap();
    assert!(is_open(&store, "b", NOW).unwrap());
    assert!(!is_open_elsewhere(&store, "b", "one", NOW).unwrap());
    leave(&store, "one").unwrap();
    assert!(!is_open(&store, "a", NOW).unwrap() && !is_open(&store, "b", NOW).unwrap());
}

#[test]
fn what_killed_processes_leave_is_cleaned_and_what_is_alive_stays() {
    let store = Store::new(Memory::new());
    for nth in 0..200 {
        open(&store, &format!("session {nth}"), &format!("dead {}", nth % 50), NOW - 3 * HOUR);
    }
    open(&store, "asleep", "asleep", NOW - HOUR / 2);
    open(&store, "alive", "alive", NOW);
    open(&store, "ahead", "ahead", NOW + 5 * HOUR);
    let records = || {
        let keys = ["asleep", "alive", "ahead"].map(|name| keys::open_mark(name, name));
        let there = store.record(keys[0].clone()).unwrap().is_some();
        (there, store.record(keys[1].clone()).unwrap().is_some(), store.record(keys[2].clone()).unwrap().is_some())
    };
    let mut calls = 0;
    let mut next = None;
    loop {
        let swept = sweep(&store, &NOTHING, NOW, 4, next).unwrap();
        calls += 1;
        next = swept.next;
        if next.is_none() {
            break;
        }
    }
    assert!(calls > 2, "a few at a time");
    assert_eq!(records(), (true, true, false));
    // Two marks, two heartbeats, and the number of connections.
    assert_eq!(store.storage().counts().0, 5);
    assert!(is_open(&store, "alive", NOW).unwrap());
}

#[test]
fn a_connection_that_was_forgotten_learns_that_its_marks_are_gone() {
    let store = Store::new(Memory::new());
    assert_eq!(beat(&store, "one", NOW).unwrap(), Beat::First);
    open(&store, "a", "one", NOW);
    assert_eq!(beat(&store, "one", NOW + BELIEVED_FOR).unwrap(), Beat::Renewed);
    let later = NOW + 3 * HOUR;
    assert_eq!(sweep(&store, &NOTHING, later, 4, None).unwrap().next, None);
    assert_eq!(beat(&store, "one", later + BELIEVED_FOR).unwrap(), Beat::First);
    // Who knows what it has said need not read it, and is told all the same when that was forgotten.
    assert_eq!(renew(&store, "one", later + BELIEVED_FOR, later + 2 * BELIEVED_FOR).unwrap(), Beat::Renewed);
    assert_eq!(renew(&store, "one", NOW, later + 3 * BELIEVED_FOR).unwrap(), Beat::Renewed);
    assert_eq!(renew(&store, "never heard of", NOW, later + BELIEVED_FOR).unwrap(), Beat::First);
    assert!(!is_open(&store, "a", later).unwrap());
}
