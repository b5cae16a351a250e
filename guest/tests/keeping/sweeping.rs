//! What retention removes, and what it never does.

use acp_sessions_guest::sessions::open_marks;
use acp_sessions_guest::sessions::retention::{Policy, Swept, sweep};
use acp_sessions_guest::storage::{Durability, Memory, Storage, Write};
use acp_sessions_guest::store::{Origin, Segment, Session, Store, keys};

use crate::between::Between;
use crate::shop::{DAY, HOUR, NOW, entry, fork_of, is_there, log, open, prompted, put, remove_all, say, with};

const OLD: i64 = NOW - 100 * DAY;
const POLICY: Policy = Policy { idle_since: Some(NOW - 30 * DAY), unprompted_since: Some(NOW - DAY) };

/// Sweeps to the end, a session at a time.
fn sweep_all<S: Storage>(store: &Store<S>, policy: &Policy) -> u32 {
    let (mut removed, mut next) = (0, None);
    for _ in 0..1000 {
        let swept = sweep(store, policy, NOW, 1, next).unwrap();
        removed += swept.removed;
        next = swept.next;
        if next.is_none() {
            return removed;
        }
    }
    panic!("a sweep that does not end");
}

fn empty(id: &str, at: i64) -> Session {
    Session::new(id.to_owned(), "/x".to_owned(), at)
}

#[test]
fn what_is_old_goes_and_what_is_needed_stays() {
    type Made = fn(&Store<Memory>);
    let cases: [(&str, bool, Made); 17] = [
        ("idle", false, |store| put(store, &prompted("x", OLD))),
        ("in use", true, |store| put(store, &prompted("x", NOW - 29 * DAY))),
        ("archived and idle", false, |store| {
            let archived = with(prompted("x", OLD), |session| session.archived = true);
            put(store, &archived);
        }),
        ("empty", false, |store| put(store, &empty("x", NOW - 2 * DAY))),
        ("empty for less than a day", true, |store| put(store, &empty("x", NOW - DAY / 2))),
        ("its first prompt is in the log only", true, |store| {
            put(store, &empty("x", NOW - 2 * DAY));
            say(store, "x", NOW - 2 * DAY, "hello");
        }),
        ("an old prompt is in the log only", false, |store| {
            put(store, &empty("x", OLD));
            say(store, "x", OLD, "hello");
        }),
        ("a crash cut off its last turn", true, |store| {
            put(store, &prompted("x", OLD));
            say(store, "x", NOW - DAY, "hello");
        }),
        ("it was forked lately", false, |store| {
            put(store, &prompted("x", OLD));
            say(store, "x", OLD, "hello");
            fork_of(store, "x", "fork");
        }),
        ("only its agent has its history", true, |store| {
            let listed = with(empty("x", OLD), |session| session.origin = Origin::Agent);
            put(store, &listed);
        }),
        ("its agent's history was taken over a moment ago", true, |store| {
            let segment = Segment { log: "taken".to_owned(), from: 1, until: 1 };
            let adopted = with(empty("x", OLD), |session| session.segments = vec![segment]);
            put(store, &adopted);
            say(store, "taken", NOW, "what the agent replayed");
        }),
        ("what it held was taken out of the conversation", true, |store| {
            let segment = Segment { log: "aside".to_owned(), from: 1, until: 1 };
            let emptied = with(empty("x", NOW - 2 * DAY), |session| session.aside = vec![segment]);
            put(store, &emptied);
        }),
        ("open", true, |store| {
            put(store, &prompted("x", OLD));
            open(store, "x", "window", NOW);
        }),
        ("open in a process that was killed", false, |store| {
            put(store, &prompted("x", OLD));
            open(store, "x", "window", NOW - DAY);
        }),
        ("a sub-agent's, of a session in use", true, |store| {
            put(store, &prompted("parent", NOW));
            put(store, &with(empty("x", OLD), |session| session.parent = Some("parent".to_owned())));
        }),
        ("a sub-agent's, of a session that is gone", false, |store| {
            put(store, &with(empty("x", OLD), |session| session.parent = Some("parent".to_owned())));
        }),
        ("one of its sub-agents is in use", true, |store| {
            put(store, &prompted("x", OLD));
            put(store, &with(prompted("child", NOW), |session| session.parent = Some("x".to_owned())));
        }),
    ];
    for (what, stays, make) in cases {
        let store = Store::new(Memory::new());
        make(&store);
        let removed = sweep_all(&store, &POLICY);
        assert_eq!(is_there(&store, "x"), stays, "{what}");
        assert_eq!(removed, u32::from(!stays), "{what}");
    }
}

#[test]
fn what_was_made_or_touched_a_moment_ago_stays_whatever_the_policy() {
    let policy = Policy { idle_since: Some(NOW), unprompted_since: Some(NOW) };
    let store = Store::new(Memory::new());
    put(&store, &prompted("new", NOW - HOUR / 2));
    put(&store, &empty("empty", NOW - HOUR / 2));
    let mut touched = prompted("touched", OLD);
    touched.touch(NOW - HOUR / 2);
    put(&store, &touched);
    put(&store, &prompted("settled", NOW - 2 * HOUR));
    assert_eq!(sweep_all(&store, &policy), 1);
    assert!(!is_there(&store, "settled"));
}

#[test]
fn a_session_takes_its_sub_agents_along_and_only_if_none_is_open() {
    let store = Store::new(Memory::new());
    put(&store, &prompted("x", OLD));
    for (id, parent) in [("child", "x"), ("grandchild", "child")] {
        let listed = with(empty(id, OLD), |session| {
            session.parent = Some(parent.to_owned());
            session.origin = Origin::Agent;
        });
        put(&store, &listed);
    }
    open(&store, "grandchild", "window", NOW);
    assert_eq!(sweep_all(&store, &POLICY), 0);
    open_marks::leave(&store, "window").unwrap();
    assert_eq!(sweep_all(&store, &POLICY), 1);
    assert!(["x", "child", "grandchild"].iter().all(|id| !is_there(&store, id)));
    assert!(store.is_deleted("grandchild").unwrap());
}

#[test]
fn what_stays_at_the_head_does_not_keep_the_rest_from_going() {
    let store = Store::new(Memory::new());
    for nth in 0..300 {
        let (at, id) = (OLD + i64::from(nth), format!("open {nth}"));
        put(&store, &if nth % 2 == 0 { empty(&id, at) } else { prompted(&id, at) });
        open(&store, &id, "window", NOW);
    }
    store
        .commit(&[], vec![Write::Put { key: keys::session("open 7"), value: "{".to_owned() }], Durability::Relaxed)
        .unwrap();
    for nth in 0..10 {
        put(&store, &empty(&format!("empty {nth}"), NOW - 3 * DAY));
        put(&store, &prompted(&format!("idle {nth}"), NOW - 40 * DAY));
    }
    let (mut rounds, mut next) = (Vec::new(), None);
    loop {
        let Swept { removed, next: on } = sweep(&store, &POLICY, NOW, 4, next).unwrap();
        assert!(removed <= 4);
        rounds.push(removed);
        next = on;
        if next.is_none() {
            break;
        }
    }
    assert_eq!(rounds.iter().sum::<u32>(), 20);
    assert!(rounds.len() < 40, "{rounds:?}");
    assert!(is_there(&store, "open 0") && is_there(&store, "open 299"));
}

#[test]
fn a_sweep_of_nothing_at_a_time_ends() {
    let store = Store::new(Memory::new());
    put(&store, &prompted("x", OLD));
    assert_eq!(sweep(&store, &POLICY, NOW, 0, None).unwrap(), Swept { removed: 0, next: None });
}

#[test]
fn what_happens_while_it_is_decided_is_not_overlooked() {
    type Meanwhile = fn(&Store<&Memory>);
    let cases: [(&str, Meanwhile); 6] = [
        ("a new connection opens it", |store| open(store, "x", "new window", NOW)),
        ("a connection that was there opens it", |store| open(store, "x", "window", NOW)),
        ("one that was silent beats again", |store| {
            open_marks::beat(store, "asleep", NOW + open_marks::BELIEVED_FOR).unwrap();
        }),
        ("its first prompt comes into the log", |store| say(store, "x", NOW, "hello")),
        ("a sub-agent's session is made", |store| {
            put(store, &with(prompted("child", NOW), |session| session.parent = Some("x".to_owned())));
        }),
        ("it is touched", |store| {
            let mut session = store.session("x").unwrap().unwrap();
            session.touch(NOW);
            put(store, &session);
        }),
    ];
    for (what, meanwhile) in cases {
        let storage = Between::default();
        let store = Store::new(&storage);
        put(&store, &empty("x", OLD));
        open(&store, "other", "window", NOW);
        open(&store, "x", "asleep", NOW - HOUR / 2);
        storage.before_commit(|memory| meanwhile(&Store::new(memory)));
        let swept = sweep(&store, &POLICY, NOW, 4, None).unwrap();
        assert!(storage.has_happened(), "{what}: nothing was about to be removed");
        assert_eq!(swept.removed, 0, "{what}");
        assert!(is_there(&store, "x"), "{what}");
    }
}

#[test]
fn what_is_removed_leaves_no_trace_of_the_entry_that_guards_it() {
    let store = Store::new(Memory::new());
    put(&store, &prompted("x", OLD));
    say(&store, "x", OLD, "hello");
    fork_of(&store, "x", "fork");
    assert_eq!(sweep_all(&store, &POLICY), 1);
    remove_all(&store);
    assert_eq!(log(&store, "x"), [entry(OLD, "hello")]);
}
