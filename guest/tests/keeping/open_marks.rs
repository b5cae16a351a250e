//! Whether a session is open.

use acp_sessions_guest::sessions::changes::Follower;
use acp_sessions_guest::sessions::list;
use acp_sessions_guest::sessions::open_marks::{
    BEAT_EVERY, BELIEVED_FOR, Beat, Written, beat, is_open, is_open_elsewhere, leave, mark, mark_written, renew,
    unmark, written,
};
use acp_sessions_guest::sessions::retention::{Policy, sweep};
use acp_sessions_guest::sessions::states::{AgentsWord, AgentsWords, Marked, States, StatesSince, state};
use acp_sessions_guest::storage::{Durability, Memory, Write};
use acp_sessions_guest::store::{ActivityState, Store, keys};

use serde_json::Value;

use crate::shop::{HOUR, NOW, open, prompted, put};

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
        assert_eq!(StatesSince::read(&store, now, &AgentsWords::new(), "").unwrap().all(), *expected, "{now}");
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

#[test]
fn an_agents_word_counts_until_something_is_done_in_its_session() {
    let store = Store::new(Memory::new());
    for connection in ["one", "two"] {
        open(&store, "s", connection, NOW);
    }
    let write = |times: u64, state| {
        let written = Written { times, arrivals: 1 };
        store.commit(&[], vec![mark_written("s", "one", written, state)], Durability::Relaxed).unwrap();
    };
    write(3, ActivityState::Idle);
    let marked = Marked::read_for(&store, NOW, 1).unwrap().of(&store, "s").unwrap();
    let word = AgentsWord { state: ActivityState::Running, marked, prompts: Some(0) };
    let words: AgentsWords = [("s".to_owned(), word)].into();
    let said = || {
        let states = StatesSince::read(&store, NOW, &words, "").unwrap();
        states.at(&store, "s", 0).unwrap()
    };
    assert_eq!(said(), Some(ActivityState::Running));
    // That windows open it, and close it, is nothing that is done in it.
    open(&store, "s", "three", NOW);
    store.commit(&[], vec![unmark("s", "two")], Durability::Relaxed).unwrap();
    assert_eq!(said(), Some(ActivityState::Running));
    let unmarks = ["one", "three"].map(|connection| unmark("s", connection));
    store.commit(&[], unmarks.into(), Durability::Relaxed).unwrap();
    assert_eq!(said(), Some(ActivityState::Running), "nobody has it open");
    write(4, ActivityState::RequiresAction);
    assert_eq!(said(), Some(ActivityState::RequiresAction));
    write(5, ActivityState::Idle);
    assert_eq!(said(), Some(ActivityState::Idle));
}

/// A window has many sessions open that come before all others in the order of marks.
fn crowd(store: &Store<Memory>, connection: &str, now: i64) {
    beat(store, connection, now + BELIEVED_FOR).unwrap();
    let sessions = (0..3_000).map(|nth| format!("a{nth:05}"));
    let marks = sessions.map(|id| mark(&id, connection, ActivityState::Idle)).collect();
    store.commit(&[], marks, Durability::Relaxed).unwrap();
}

fn set(store: &Store<Memory>, id: &str, connection: &str, state: ActivityState) {
    store.commit(&[], vec![mark(id, connection, state)], Durability::Relaxed).unwrap();
}

/// What a page of the list says is being done in sessions.
fn listed(store: &Store<Memory>, now: i64) -> Vec<String> {
    let options =
        list::Options { page_size: 10, agents: list::Agents::All, agent: None, draft: false, extended: true, now };
    let page: Value = serde_json::from_str(&list::list(store, &options, None).unwrap()).unwrap();
    let rows = page["sessions"].as_array().unwrap().iter();
    rows.map(|row| format!("{} {}", row["sessionId"].as_str().unwrap(), row["state"])).collect()
}

#[test]
fn rows_say_what_is_being_done_however_many_sessions_are_open() {
    let store = Store::new(Memory::new());
    for id in ["x", "y", "z"] {
        put(&store, &prompted(id, NOW - HOUR));
        open(&store, id, "one", NOW);
    }
    set(&store, "z", "one", ActivityState::Running);
    open(&store, "y", "two", NOW);
    set(&store, "y", "two", ActivityState::RequiresAction);
    let expected = |states: [&str; 3]| -> Vec<String> {
        ["z", "y", "x"].into_iter().zip(states).map(|(id, state)| format!("{id} {state}")).collect()
    };
    let all = expected(["\"running\"", "\"requires_action\"", "\"idle\""]);
    assert_eq!(listed(&store, NOW), all);
    // Those of killed windows count for nothing, and hide nothing.
    for (nth, connection) in ["three", "four", "dead"].into_iter().enumerate() {
        crowd(&store, connection, if connection == "dead" { NOW - HOUR / 2 } else { NOW });
        assert_eq!(listed(&store, NOW), all, "{} marks", (nth + 1) * 3_000);
    }
    // Those that are not there any more say nothing within seconds.
    beat(&store, "two", NOW + 2 * BELIEVED_FOR).unwrap();
    assert_eq!(listed(&store, NOW + 10_000), expected(["null", "\"requires_action\"", "null"]));
}

#[test]
fn who_follows_is_told_what_is_being_done_however_many_sessions_are_open() {
    let store = Store::new(Memory::new());
    for id in ["a", "z"] {
        put(&store, &prompted(id, NOW - HOUR));
        open(&store, id, "one", NOW);
    }
    for connection in ["three", "four", "dead"] {
        crowd(&store, connection, if connection == "dead" { NOW - HOUR / 2 } else { NOW });
    }
    let mut follower = Follower::begin(&store, NOW, &AgentsWords::new()).unwrap();
    let mut looks = |now: i64, most: usize| {
        let mut given = Vec::new();
        for _ in 0..most {
            // It can be put down between two looks.
            follower = Follower::read_from(&follower.to_text()).unwrap();
            let step = follower.step(&store, now, &AgentsWords::new(), 10).unwrap();
            assert!(step.is_over && !step.is_to_be_read_anew);
            given.extend(step.changed.iter().map(|changed| (changed.session.id.clone(), changed.state)));
        }
        given
    };
    assert_eq!(looks(NOW, 6), [], "what is open already is no news");
    for (id, state) in [("z", ActivityState::Running), ("a", ActivityState::RequiresAction)] {
        set(&store, id, "one", state);
        assert_eq!(looks(NOW, 3), [(id.to_owned(), Some(state))]);
    }
    for connection in ["three", "four"] {
        beat(&store, connection, NOW + 2 * BELIEVED_FOR).unwrap();
    }
    let mut gone = looks(NOW + 10_000, 3);
    gone.sort_by(|a, b| a.0.cmp(&b.0));
    assert_eq!(gone, [("a".to_owned(), None), ("z".to_owned(), None)]);
    assert_eq!(looks(NOW + 10_000, 3), []);
}
