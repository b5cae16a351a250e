//! Making the indexes anew while others use the store: nothing that is gone comes back, nothing that is there is missing,
//! and nobody waits for long.

use std::cell::Cell;

use acp_sessions_guest::index::{self, Owner};
use acp_sessions_guest::sessions::archive::set_archived;
use acp_sessions_guest::sessions::checkup::{Mending, check};
use acp_sessions_guest::sessions::delete::delete;
use acp_sessions_guest::storage::{Bounds, Durability, Memory, Storage, Write};
use acp_sessions_guest::store::{Holders, Segment, Store, keys};

use crate::between::Between;
use crate::shop::{NOW, check_all, fork_of, found, is_there, left, prompted, put, remove_all, say, spoil, stray, with};

/// Entries of a log that is indexed in more than one piece.
const MANY: usize = 600;

/// What stays wrong; what is done after each call.
fn rebuild_all<S: Storage>(store: &Store<S>, after_each: impl FnMut()) -> Vec<String> {
    let (_, findings) = check_all(store, Mending::Derived, 10, after_each);
    left(&findings).into_iter().map(str::to_owned).collect()
}

fn text(owner: Owner<'_>, part: u32, words: &str) -> Write {
    Write::IndexText { owner: owner.name(), part, tokens: index::tokenise(words) }
}

fn commit<S: Storage>(store: &Store<S>, writes: Vec<Write>) {
    store.commit(&[], writes, Durability::Relaxed).unwrap();
}

/// A session whose history was taken over from its agent: it stands in a log of another name.
fn adopted<S: Storage>(store: &Store<S>, id: &str, log: &str, entries: usize) {
    let until = u32::try_from(entries).unwrap();
    for nth in 0..entries {
        say(store, log, NOW, &format!("walrus {nth}"));
    }
    let holders = Holders { holders: [(id.to_owned(), until)].into(), orphaned: true };
    commit(store, vec![Write::Put { key: keys::log_holders(log), value: holders.to_text() }]);
    put(
        store,
        &with(prompted(id, NOW), |session| {
            session.segments = vec![Segment { log: log.to_owned(), from: 1, until }];
        }),
    );
}

fn owners<S: Storage>(store: &Store<S>) -> Vec<String> {
    store.storage().text_owners(None, 1000).unwrap()
}

#[test]
fn what_is_deleted_meanwhile_leaves_no_text_whatever_log_it_stood_in() {
    type Make = fn(&Store<&Between<'_>>);
    let cases: [(&str, Make); 3] = [
        ("its own log", |store| {
            put(store, &prompted("x", NOW));
            (0..MANY).for_each(|nth| say(store, "x", NOW, &format!("walrus {nth}")));
        }),
        ("its agent's history", |store| adopted(store, "x", "told", MANY)),
        ("its parent's log", |store| {
            put(store, &prompted("parent", NOW));
            (0..MANY).for_each(|nth| say(store, "parent", NOW, &format!("walrus {nth}")));
            fork_of(store, "parent", "x");
            delete(store, "parent", NOW).unwrap();
        }),
    ];
    for ((what, make), is_removed) in cases.into_iter().flat_map(|case| [(case, false), (case, true)]) {
        let mut commits = 0;
        for nth in 0.. {
            let storage = Between::default();
            let store = Store::new(&storage);
            make(&store);
            spoil(&store);
            storage.before_nth_commit(nth, |memory| {
                let store = Store::new(memory);
                assert_eq!(delete(&store, "x", NOW).unwrap().len(), 1);
                // Or what it said is still being removed when the rebuild comes to it.
                if is_removed {
                    remove_all(&store);
                }
            });
            rebuild_all(&store, || {});
            if !storage.has_happened() {
                break;
            }
            commits += 1;
            remove_all(&store);
            assert_eq!(storage.memory.counts().2, 0, "{what}, before commit {nth}: {:?}", owners(&store));
            assert!(found(&store, "walrus").is_empty(), "{what}, before commit {nth}");
        }
        assert!(commits > 4, "{what}: {commits} commits");
    }
}

#[test]
fn what_is_archived_meanwhile_stays_so_and_stays_to_be_seen() {
    for nth in 0.. {
        let storage = Between::default();
        let store = Store::new(&storage);
        put(&store, &prompted("x", NOW));
        say(&store, "x", NOW, "walrus");
        spoil(&store);
        stray(&store);
        storage.before_nth_commit(nth, |memory| assert!(set_archived(&Store::new(memory), "x", true).unwrap()));
        rebuild_all(&store, || {});
        if !storage.has_happened() {
            assert!(nth > 3, "{nth} commits");
            break;
        }
        assert!(store.session("x").unwrap().unwrap().archived, "before commit {nth}");
        assert_eq!(found(&store, "walrus"), ["x"], "before commit {nth}");
    }
}

#[test]
fn what_is_there_is_found_all_the_while() {
    let checks = Cell::new(0);
    let storage = Between::default();
    let store = Store::new(&storage);
    put(&store, &prompted("x", NOW));
    (0..MANY).for_each(|nth| say(&store, "x", NOW, &format!("number n{nth}n")));
    adopted(&store, "y", "told", MANY);
    let checked = &checks;
    for nth in 0.. {
        spoil(&store);
        storage.before_nth_commit(nth, move |memory| {
            let store = Store::new(memory);
            for word in ["n0n", "n255n", "n599n"] {
                assert_eq!(found(&store, word), ["x"], "{word} before commit {nth}");
            }
            assert_eq!(found(&store, "walrus"), ["y"], "before commit {nth}");
            checked.set(checked.get() + 1);
        });
        rebuild_all(&store, || {});
        if !storage.has_happened() {
            break;
        }
    }
    assert!(checks.get() > 6, "{} commits", checks.get());
}

#[test]
fn the_texts_of_nobody_go_and_those_of_somebody_stay() {
    let storage = Between::default();
    let store = Store::new(&storage);
    put(&store, &prompted("x", NOW));
    say(&store, "x", NOW, "walrus");
    adopted(&store, "y", "told", 3);
    put(&store, &prompted("broken", NOW));
    say(&store, "broken", NOW, "walrus");
    put(&store, &prompted("gone", NOW));
    delete(&store, "gone", NOW).unwrap();
    let making = keys::staging("somebody's", "making");
    commit(
        &store,
        vec![
            Write::Put { key: keys::session("broken"), value: "{".to_owned() },
            Write::Put { key: making, value: NOW.to_string() },
            text(Owner::Log("making"), 1, "walrus"),
            text(Owner::Log("gone"), 1, "walrus"),
            text(Owner::Heading("gone"), 0, "walrus"),
            text(Owner::Log("never"), 7, "walrus"),
            text(Owner::Log("x"), 0, "walrus"),
            text(Owner::Log("x"), 2, "walrus"),
            Write::IndexText { owner: "strange".to_owned(), part: 1, tokens: "walrus".to_owned() },
        ],
    );
    (0..400).for_each(|nth| commit(&store, vec![text(Owner::Log(&format!("stray{nth}")), 1, "walrus")]));
    let rebuilt = rebuild_all(&store, || {});
    assert_eq!(rebuilt, [keys::session("broken")]);
    let owners: Vec<_> = owners(&store).into_iter().filter(|owner| !owner.starts_with("h/")).collect();
    assert_eq!(owners, ["l/broken", "l/making", "l/told", "l/x"]);
    assert!(!store.storage().text_owners(None, 1000).unwrap().contains(&Owner::Heading("gone").name()));
    // One entry of the one, three of the other, one each of what stays untouched.
    let walruses = store
        .storage()
        .search_text(
            &acp_sessions_guest::storage::TextTerm { tokens: vec!["walrus".to_owned()], prefix: false },
            None,
            1000,
        )
        .unwrap();
    assert_eq!(walruses.len(), 1 + 3 + 1 + 1, "{walruses:?}");
}

#[test]
fn texts_that_come_to_be_somebodys_meanwhile_stay() {
    for nth in 0.. {
        let storage = Between::default();
        let store = Store::new(&storage);
        commit(&store, vec![text(Owner::Log("x"), 1, "walrus"), text(Owner::Heading("x"), 0, "title")]);
        storage.before_nth_commit(nth, |memory| {
            let store = Store::new(memory);
            put(&store, &prompted("x", NOW));
            say(&store, "x", NOW, "walrus");
        });
        rebuild_all(&store, || {});
        if !storage.has_happened() {
            assert!(nth > 0);
            break;
        }
        assert_eq!(found(&store, "walrus"), ["x"], "before commit {nth}");
    }
}

#[test]
fn a_record_of_who_shares_a_log_that_is_broken_holds_nothing_up() {
    let storage = Between::default();
    let store = Store::new(&storage);
    adopted(&store, "a", "told", 3);
    put(&store, &prompted("b", NOW));
    say(&store, "b", NOW, "okapi");
    commit(
        &store,
        vec![
            Write::Put { key: keys::log_holders("told"), value: "{".to_owned() },
            Write::DropText { owner: Owner::Log("b").name(), start: 0 },
        ],
    );
    let rebuilt = rebuild_all(&store, || {});
    assert_eq!(rebuilt, [keys::log_holders("told"), keys::session("a")]);
    assert_eq!(found(&store, "okapi"), ["b"]);
    assert!(is_there(&store, "a") && owners(&store).contains(&Owner::Log("told").name()));
}

#[test]
fn no_step_is_large_however_long_a_log_is() {
    const ENTRIES: usize = 1500;
    let storage = Between::default();
    let store = Store::new(&storage);
    put(&store, &prompted("x", NOW));
    let words = "walrus and okapi ".repeat(600);
    (0..ENTRIES).for_each(|_| say(&store, "x", NOW, &words));
    commit(&store, vec![Write::DropText { owner: Owner::Log("x").name(), start: 0 }]);
    let (mut steps, mut most) = (0, 0);
    storage.reset();
    storage.largest.set(0);
    rebuild_all(&store, || {
        steps += 1;
        most = most.max(storage.bytes.get());
        storage.reset();
    });
    let whole = words.len() * ENTRIES;
    assert!(steps > 4 && most < 10 << 20, "{steps} steps of at most {most} bytes, of {whole}");
    assert!(storage.largest.get() < 400 << 10, "a commit of {} bytes", storage.largest.get());
    let last = Bounds { limit: 1, max_bytes: 1 };
    assert_eq!(store.storage().read_log("x", u32::try_from(ENTRIES).unwrap(), last).unwrap().entries.len(), 1);
    assert_eq!(storage.memory.counts().2, ENTRIES);
}

#[test]
fn a_rebuild_that_is_given_up_amid_its_steps_leaves_what_was_there() {
    let make = || {
        let memory = Memory::new();
        let store = Store::new(&memory);
        put(&store, &prompted("x", NOW));
        (0..MANY).for_each(|nth| say(&store, "x", NOW, &format!("number n{nth}n")));
        memory
    };
    for calls in 1..8 {
        let memory = make();
        let before = memory.counts();
        let store = Store::new(&memory);
        let mut cursor = None;
        for _ in 0..calls {
            cursor = check(&store, Mending::Derived, cursor.as_deref(), 1, NOW).unwrap().next;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(memory.counts().2, before.2, "after {calls} calls");
        assert_eq!((found(&store, "n0n"), found(&store, "n599n")), (vec!["x".to_owned()], vec!["x".to_owned()]));
    }
}
