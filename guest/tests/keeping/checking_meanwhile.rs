//! Checking a store while others use it: what changes while it is looked at does not count as wrong, whenever it changes.

use acp_sessions_guest::index::{self, Owner};
use acp_sessions_guest::sessions::archive::set_archived;
use acp_sessions_guest::sessions::checkup::Mending;
use acp_sessions_guest::sessions::delete::delete;
use acp_sessions_guest::sessions::removal;
use acp_sessions_guest::sessions::rename::rename;
use acp_sessions_guest::storage::{Durability, Memory, Write};
use acp_sessions_guest::store::{Amount, Cost, Decision, Session, Store, Usage, Used, keys};

use crate::between::Between;
use crate::shop::{NOW, check_all, entry, fork_of, prompted, put, say, with};

type Happens = fn(&Store<&Memory>);

/// What others do, each in commits of its own.
const HAPPENS: [(&str, Happens); 12] = [
    ("a turn", |store| {
        change(store, "x", |session| session.prompt(NOW + 1));
        say(store, "x", NOW + 1, "walrus");
        change(store, "x", |session| session.end_turn(NOW + 2, NOW + 2));
    }),
    ("an answer that grows", |store| {
        let seq = 3;
        let tokens = index::tokenise("walrus and okapi");
        let grown = Write::Amend { log: "x".to_owned(), seq, value: entry(NOW, "walrus and okapi") };
        let text = Write::IndexText { owner: Owner::Log("x").name(), part: seq, tokens };
        // Another may stand behind it by now.
        let _ = store.commit(&[], vec![text, grown], Durability::Relaxed);
    }),
    ("a name", |store| drop(rename(store, "x", "Zebra"))),
    ("put away", |store| drop(set_archived(store, "x", true))),
    ("a new session", |store| {
        put(store, &prompted("new", NOW + 3));
        say(store, "new", NOW, "walrus");
    }),
    ("a fork", |store| {
        if store.session("x").unwrap().is_some() && store.session("fork of x").unwrap().is_none() {
            fork_of(store, "x", "fork of x");
        }
    }),
    ("a sub-agent's session", |store| {
        put(store, &with(prompted("child", NOW), |session| session.parent = Some("x".to_owned())));
    }),
    ("another folder", |store| change(store, "x", |session| session.cwd.replace_range(.., "/elsewhere"))),
    ("a cost", |store| spend(store, "x", "0.25")),
    ("a delete", |store| drop(delete(store, "x", NOW).unwrap())),
    ("a delete of what others share", |store| drop(delete(store, "parent", NOW).unwrap())),
    ("a removal", |store| {
        removal::step(store).unwrap();
    }),
];

fn change(store: &Store<&Memory>, id: &str, change: impl Fn(&mut Session)) {
    if let Some(session) = store.session(id).unwrap() {
        put(store, &with(session, change));
    }
}

fn spend(store: &Store<&Memory>, id: &str, amount: &str) {
    let Some(before) = store.session(id).unwrap() else { return };
    let mut usage = Usage::default();
    let mut used = Used::default();
    used.cost.add(&Cost { amount: Amount::parse(amount).unwrap(), currency: "USD".to_owned() });
    usage.add(Some("2026-11-23"), "agent", &used);
    let changed = store.change(id).commit(|_, _, writes| {
        writes.push(Write::Put { key: keys::usage(id), value: usage.to_text() });
        Ok(Decision::put(with(before.clone(), |session| session.cost = usage.cost())))
    });
    changed.unwrap();
}

fn fill(storage: &Between<'_>) {
    let store = Store::new(&storage.memory);
    put(&store, &prompted("x", NOW));
    (0..3).for_each(|_| say(&store, "x", NOW, "walrus"));
    spend(&store, "x", "0.5");
    put(&store, &prompted("parent", NOW));
    say(&store, "parent", NOW, "okapi");
    fork_of(&store, "parent", "fork");
    put(&store, &with(prompted("of a sub-agent", NOW), |session| session.parent = Some("parent".to_owned())));
    put(&store, &prompted("gone", NOW));
    say(&store, "gone", NOW, "okapi");
    delete(&store, "gone", NOW).unwrap();
}

/// Checks, with these happening one after the other, each before a read that so many come before; whether all have happened.
fn is_good(mending: Mending, happens: &[(usize, (&str, Happens))]) -> bool {
    let storage = Between::default();
    fill(&storage);
    for (nth, (_, what)) in happens.iter().copied() {
        storage.before_any_read(nth, move |memory| what(&Store::new(memory)));
    }
    let told = || happens.iter().map(|(nth, (what, _))| format!("{what} before read {nth}")).collect::<Vec<_>>();
    let (_, findings) = check_all(&Store::new(&storage), mending, 10, || {});
    assert_eq!(findings, [], "{:?}", told());
    let (_, findings) = check_all(&Store::new(&storage.memory), Mending::Nothing, 10, || {});
    assert_eq!(findings, [], "afterwards: {:?}", told());
    storage.has_happened()
}

#[test]
fn nothing_is_wrong_that_changes_while_it_is_looked_at() {
    for mending in [Mending::Nothing, Mending::Derived] {
        for happens in HAPPENS {
            let reads = (0..10_000).take_while(|nth| is_good(mending, &[(*nth, happens)])).count();
            assert!(reads > 40, "{}: {reads} reads", happens.0);
        }
    }
}

#[test]
fn nor_is_what_changes_again() {
    for mending in [Mending::Nothing, Mending::Derived] {
        for first in HAPPENS {
            for second in HAPPENS {
                for nth in (0..10_000).step_by(3).take_while(|nth| is_good(mending, &[(*nth, first)])) {
                    // The next reads are of the same that has just changed.
                    for more in [0, 1, 4] {
                        is_good(mending, &[(nth, first), (more, second)]);
                    }
                }
            }
        }
    }
}
