//! Damage that leaves everything readable: some letters are others than were written.

use super::super::{Fault, Mending};
use super::{checked, entry, put, said};
use crate::storage::{Bounds, Durability, Memory, Storage, Write};
use crate::store::{Cost, State, Store, Usage, Used, keys};

/// A session with a title, a state and two entries.
fn whole(memory: Memory) -> Store<Memory> {
    let store = Store::new(memory);
    let entries = ["one walrus", "two walruses"].map(entry);
    let append = |(seq, value)| Write::Append { log: "x".to_owned(), seq, value };
    let state = State { mode: Some("plan".to_owned()), ..State::default() };
    let state = Write::Put { key: keys::state("x"), value: state.to_text() };
    let writes = (1..).zip(entries).map(append).chain([state]).collect();
    store.commit(&[], writes, Durability::Relaxed).unwrap();
    put(&store, "x", |session| session.title = crate::store::Title::Agent("about a walrus".to_owned()));
    assert!(checked(&store, Mending::Derived).iter().all(|(fault, is_mended)| {
        // What puts entries into a log by itself does not index them.
        *fault == Fault::TextMissing && *is_mended
    }));
    assert_eq!(checked(&store, Mending::Nothing), []);
    store
}

/// Writes over a record or, of a log, over its last entry.
fn alter(store: &Store<Memory>, place: &str, from: &str, to: &str) {
    let write = if place == "log" {
        let page = store.storage().read_log("x", 2, Bounds { limit: 1, max_bytes: 1 }).unwrap();
        Write::Amend { log: "x".to_owned(), seq: 2, value: page.entries[0].value.replace(from, to) }
    } else {
        let value = store.record(place.to_owned()).unwrap().unwrap().replace(from, to);
        Write::Put { key: place.to_owned(), value }
    };
    store.commit(&[], vec![write], Durability::Relaxed).unwrap();
}

#[test]
fn what_can_be_read_but_is_not_as_it_was_written_is_seen_and_what_follows_from_it_is_left_alone() {
    let (record, state) = (keys::session("x"), keys::state("x"));
    for (place, from, to) in [
        (&*record, "\"prompts\":1", "\"prompts\":7"),
        (&record, "walrus", "walnut"),
        (&record, "\"cwd\":\"/x\"", "\"cwd\":\"/y\""),
        (&state, "plan", "plat"),
        ("log", "walruses", "walnuts?"),
        ("log", "u1000000", "u1000001"),
    ] {
        let store = whole(Memory::new());
        alter(&store, place, from, to);
        let texts = store.storage().counts();
        for mending in [Mending::Nothing, Mending::Derived] {
            assert_eq!(checked(&store, mending), [(Fault::Altered, false)], "{place}: {to}");
            assert_eq!(store.storage().counts(), texts, "{place}: {to}");
        }
        let found = checked(&store, Mending::Everything);
        assert!(found.contains(&(Fault::Altered, true)), "{place}: {found:?}");
        assert_eq!(checked(&store, Mending::Nothing), [], "{place}: {to}");
        let is_kept = match place {
            "log" if to.starts_with('w') => said(&store, "x")[1].1 == "two walnuts?",
            "log" => said(&store, "x")[1].1 == "two walruses",
            key => store.record(key.to_owned()).unwrap().unwrap().contains(to),
        };
        assert!(is_kept, "{place}: it stays as it can be read");
    }
}

#[test]
fn where_nothing_can_be_put_into_a_log_it_is_told_and_the_checkup_ends() {
    for (from, to) in [("walruses", "walnuts?"), ("update", "\"date")] {
        let store = whole(Memory::without_restore());
        alter(&store, "log", from, to);
        let found = checked(&store, Mending::Everything);
        let is_told = |(fault, is_mended): &(Fault, bool)| matches!(fault, Fault::Altered | Fault::Entry) && !is_mended;
        assert_eq!(found.iter().filter(|found| is_told(found)).count(), 1, "{found:?}");
    }
}

#[test]
fn a_state_whose_key_was_altered_is_seen_and_one_of_a_deleted_session_is_taken_away() {
    let store = whole(Memory::new());
    let state = store.record(keys::state("x")).unwrap().unwrap();
    let put = |id: &str| Write::Put { key: keys::state(id), value: state.clone() };
    store.commit(&[], vec![put("z"), Write::Remove { key: keys::state("x") }], Durability::Relaxed).unwrap();
    for mending in [Mending::Nothing, Mending::Derived] {
        assert_eq!(checked(&store, mending), [(Fault::StateStray, false)]);
    }
    let tombstone = Write::Put { key: keys::tombstone("y"), value: "1".to_owned() };
    store.commit(&[], vec![put("y"), tombstone], Durability::Relaxed).unwrap();
    assert_eq!(checked(&store, Mending::Nothing), [(Fault::Deleted, false), (Fault::StateStray, false)]);
    assert_eq!(checked(&store, Mending::Derived), [(Fault::Deleted, true), (Fault::StateStray, false)]);
    assert_eq!(checked(&store, Mending::Everything), [(Fault::StateStray, true)]);
    assert_eq!(checked(&store, Mending::Nothing), []);
}

/// What `x` has used: something, at this cost.
fn used(store: &Store<Memory>, id: &str, json: &str) {
    let mut used = Used::default();
    used.cost.add(&Cost::read(json).unwrap());
    let mut usage = Usage::default();
    usage.add(Some("2025-10-29"), "a", &used);
    let write = Write::Put { key: keys::usage(id), value: usage.to_text() };
    store.commit(&[], vec![write], Durability::Relaxed).unwrap();
}

#[test]
fn what_a_session_has_cost_is_what_is_kept_of_it_by_day() {
    let store = whole(Memory::new());
    used(&store, "x", r#"{"amount":1.5,"currency":"USD"}"#);
    assert_eq!(checked(&store, Mending::Nothing), [(Fault::Cost, false)]);
    assert_eq!(checked(&store, Mending::Derived), [(Fault::Cost, true)]);
    assert_eq!(store.session("x").unwrap().unwrap().cost, store.usage("x").unwrap().cost());
    assert_eq!(checked(&store, Mending::Nothing), []);
    let usage = keys::usage("x");
    alter(&store, &usage, "1.5", "2.5");
    for mending in [Mending::Nothing, Mending::Derived] {
        assert_eq!(checked(&store, mending), [(Fault::Altered, false)], "nothing follows from it");
    }
    assert_eq!(checked(&store, Mending::Everything), [(Fault::Altered, true), (Fault::Cost, true)]);
    assert_eq!(checked(&store, Mending::Nothing), []);
    alter(&store, &usage, "\"days\":[", "\"days\":");
    assert_eq!(checked(&store, Mending::Derived), [(Fault::Usage, false)]);
    assert_eq!(checked(&store, Mending::Everything), [(Fault::Usage, true)]);
    assert_eq!(checked(&store, Mending::Nothing), [], "the record alone knows");
    assert_eq!(store.session("x").unwrap().unwrap().cost.unwrap().amount.to_string(), "2.5");
}

#[test]
fn what_was_used_by_nobody_is_seen_and_that_of_a_deleted_session_is_taken_away() {
    let store = whole(Memory::new());
    used(&store, "z", r#"{"amount":1,"currency":"USD"}"#);
    assert_eq!(checked(&store, Mending::Derived), [(Fault::UsageStray, false)]);
    used(&store, "y", r#"{"amount":1,"currency":"USD"}"#);
    let tombstone = Write::Put { key: keys::tombstone("y"), value: "1".to_owned() };
    store.commit(&[], vec![tombstone], Durability::Relaxed).unwrap();
    assert_eq!(checked(&store, Mending::Derived), [(Fault::Deleted, true), (Fault::UsageStray, false)]);
    assert_eq!(checked(&store, Mending::Everything), [(Fault::UsageStray, true)]);
    assert_eq!(checked(&store, Mending::Nothing), []);
}
