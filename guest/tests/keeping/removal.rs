//! Removing what nobody needs any more, little by little.

use acp_sessions_guest::index::Owner;
use acp_sessions_guest::sessions::delete::delete;
use acp_sessions_guest::sessions::removal::{self, RemovalStep};
use acp_sessions_guest::storage::{Durability, Memory, Storage, Write};
use acp_sessions_guest::store::{Store, keys};
use proptest::prelude::*;

use crate::between::Between;
use crate::shop::{NOW, fork_of, found, log, prompted, put, remove_all, say};

/// A session with so many entries, each with some text.
fn long<S: Storage>(store: &Store<S>, id: &str, entries: usize) {
    put(store, &prompted(id, NOW));
    for nth in 0..entries {
        say(store, id, NOW, &format!("walrus {nth}"));
    }
}

#[test]
fn a_delete_is_one_small_commit_however_much_was_said() {
    let storage = Between::default();
    let store = Store::new(&storage);
    long(&store, "x", 5000);
    storage.reset();
    delete(&store, "x", NOW).unwrap();
    assert_eq!(storage.commits.get(), 1);
    assert!(storage.writes.get() < 20, "{} writes", storage.writes.get());
    assert_eq!(storage.memory.counts().1, 5000, "what was said is removed later");
    assert!(store.session("x").unwrap().is_none() && store.is_deleted("x").unwrap());
    assert!(found(&store, "walrus").is_empty(), "and found no more");
}

#[test]
fn no_commit_removes_much_and_whoever_comes_goes_on() {
    for (entries, bytes, most) in [(5000, 10, 128), (300, 4000, 40), (30, 300_000, 1)] {
        let memory = Memory::new();
        let store = Store::new(&memory);
        put(&store, &prompted("x", NOW));
        for nth in 0..entries {
            say(&store, "x", NOW, &format!("{nth} {}", "w".repeat(bytes)));
        }
        delete(&store, "x", NOW).unwrap();
        let mut steps = 0;
        loop {
            let before = memory.counts();
            // Each time another process.
            let goes_on = removal::step(&Store::new(&memory)).unwrap();
            let after = memory.counts();
            assert!(before.1 - after.1 <= most && before.2 - after.2 <= most, "{before:?} {after:?}");
            assert!(after.1 < before.1, "each gets something done");
            steps += 1;
            if !goes_on {
                break;
            }
        }
        assert!(steps >= entries / most);
        assert_eq!((memory.counts().1, memory.counts().2), (0, 0));
        assert_eq!(store.record(keys::removal("x")).unwrap(), None);
    }
}

#[test]
fn of_two_processes_one_is_at_it_and_the_other_learns_so() {
    let storage = Between::default();
    let store = Store::new(&storage);
    long(&store, "x", 1000);
    delete(&store, "x", NOW).unwrap();
    storage.before_commit(|memory| assert_eq!(removal::try_step(&Store::new(memory)).unwrap(), RemovalStep::More));
    assert_eq!(removal::try_step(&store).unwrap(), RemovalStep::Outrun);
    assert_eq!(storage.memory.counts().1, 1000 - 128, "nothing is done twice");
    assert_eq!(removal::try_step(&store).unwrap(), RemovalStep::More);
}

#[test]
fn many_short_ones_share_a_commit() {
    let storage = Between::default();
    let store = Store::new(&storage);
    for nth in 0..100 {
        let id = format!("s{nth}");
        long(&store, &id, 3);
        delete(&store, &id, NOW).unwrap();
    }
    storage.reset();
    remove_all(&store);
    assert!(storage.commits.get() <= 5, "{} commits", storage.commits.get());
    assert_eq!((storage.memory.counts().1, storage.memory.counts().2), (0, 0));
}

#[test]
fn what_a_fork_shares_stays_and_goes_with_the_fork_though_the_rest_is_still_being_removed() {
    for steps in [0, 1, 100] {
        let store = Store::new(Memory::new());
        long(&store, "x", 300);
        fork_of(&store, "x", "fork");
        for nth in 0..300 {
            say(&store, "x", NOW, &format!("penguin {nth}"));
        }
        let shared = log(&store, "x")[..300].to_vec();
        delete(&store, "x", NOW).unwrap();
        for _ in 0..steps {
            removal::step(&store).unwrap();
        }
        assert_eq!(log(&store, "x")[..300], shared);
        assert_eq!(found(&store, "walrus"), ["fork"]);
        assert!(found(&store, "penguin").is_empty());
        delete(&store, "fork", NOW).unwrap();
        remove_all(&store);
        let (_, entries, texts) = store.storage().counts();
        assert_eq!((entries, texts), (0, 0), "after {steps} steps");
    }
}

#[test]
fn what_is_let_go_of_meanwhile_is_not_forgotten_with_what_was_being_removed() {
    let storage = Between::default();
    let store = Store::new(&storage);
    long(&store, "x", 10);
    fork_of(&store, "x", "fork");
    say(&store, "x", NOW, "penguin");
    delete(&store, "x", NOW).unwrap();
    // The last of it goes, and right before that the fork.
    storage.before_commit(|memory| drop(delete(&Store::new(memory), "fork", NOW).unwrap()));
    remove_all(&store);
    assert!(storage.has_happened());
    assert_eq!((storage.memory.counts().1, storage.memory.counts().2), (0, 0));
}

#[test]
fn a_note_that_cannot_be_read_holds_nobody_up() {
    let store = Store::new(Memory::new());
    long(&store, "x", 3);
    delete(&store, "x", NOW).unwrap();
    let damaged = ["q/%", "q/y"].map(|key| Write::Put { key: key.to_owned(), value: "?".to_owned() });
    store.commit(&[], damaged.into(), Durability::Relaxed).unwrap();
    remove_all(&store);
    assert_eq!((store.storage().counts().1, store.storage().counts().2), (0, 0));
}

#[test]
fn a_word_that_very_many_have_said_who_are_being_removed_is_found_where_it_is_still_said() {
    let storage = Between::default();
    let store = Store::new(&storage);
    long(&store, "living", 1);
    for nth in 0..700 {
        let id = format!("s{nth}");
        long(&store, &id, 1);
    }
    long(&store, "last", 1);
    for nth in 0..700 {
        delete(&store, &format!("s{nth}"), NOW).unwrap();
    }
    storage.reset();
    assert_eq!(found(&store, "walrus"), ["last", "living"]);
    assert!(storage.calls.get() < 200, "{} calls", storage.calls.get());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn texts_before_the_note_stay_and_all_behind_it_go(length in 0_u32..400, start in 1_u32..420, steps in 0_usize..5) {
        let store = Store::new(Memory::new());
        for nth in 1..=length {
            say(&store, "x", NOW, &format!("walrus {nth}"));
        }
        let note = Write::Put { key: keys::removal("x"), value: start.to_string() };
        store.commit(&[], vec![note], Durability::Relaxed).unwrap();
        for _ in 0..steps {
            removal::step(&store).unwrap();
        }
        prop_assert!(store.storage().log_end("x").unwrap() >= length.min(start - 1));
        remove_all(&store);
        prop_assert_eq!(store.storage().log_end("x").unwrap(), length.min(start - 1));
        let texts = usize::try_from(length.min(start - 1)).unwrap();
        prop_assert_eq!(store.storage().counts().2, texts);
        let owners = store.storage().text_owners(None, 9).unwrap();
        prop_assert_eq!(owners, if texts > 0 { vec![Owner::Log("x").name()] } else { vec![] });
    }
}
