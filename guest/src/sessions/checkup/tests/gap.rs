//! Damage to the number of an entry, or to what a record says of one: as if two billion entries were missing.

use super::super::{Fault, Mending};
use super::{checked, entry, put, said};
use crate::storage::{Durability, Memory, StorageError, Write};
use crate::store::{Segment, Store};

/// A number with one bit that is wrong.
const ASTRAY: u32 = 1 << 31 | 4;

/// A session with three entries, and others as if two billion had been between.
fn damaged(astray: &[&str]) -> Store<Memory> {
    let last = ASTRAY + u32::try_from(astray.len()).unwrap_or_default() - 1;
    let store = Store::new(Memory::with_log_end("x", last));
    let numbered = (1..).zip(["one", "two", "three"]).chain((ASTRAY..).zip(astray.iter().copied()));
    let restore = |(seq, text)| Write::Restore { log: "x".to_owned(), seq, value: entry(text) };
    store.commit(&[], numbered.map(restore).collect(), Durability::Relaxed).unwrap();
    put(&store, "x", |_| {});
    store
}

fn numbered(texts: &[&str]) -> Vec<(u32, String)> {
    (1..).zip(texts.iter().map(|text| (*text).to_owned())).collect()
}

#[test]
fn entries_with_impossible_numbers_move_up_behind_a_mark() {
    for astray in [&["walrus"][..], &["walrus", "okapi"]] {
        let store = damaged(astray);
        let before = said(&store, "x");
        assert!(checked(&store, Mending::Nothing).contains(&(Fault::EntryAstray, false)));
        assert!(checked(&store, Mending::Derived).contains(&(Fault::EntryAstray, false)));
        assert_eq!(said(&store, "x"), before, "what is not derived is left as it is");
        assert!(checked(&store, Mending::Everything).contains(&(Fault::EntryAstray, true)));
        assert_eq!(said(&store, "x"), numbered(&[&["one", "two", "three", ""], astray].concat()));
        assert_eq!(checked(&store, Mending::Nothing), []);
    }
}

#[test]
fn a_storage_that_puts_nothing_into_logs_goes_on_indexing() {
    let store = Store::new(Memory::without_restore());
    let append = |(seq, text): (u32, &&str)| Write::Append { log: "x".to_owned(), seq, value: entry(text) };
    store.commit(&[], (1..).zip(&["one", "two"]).map(append).collect(), Durability::Relaxed).unwrap();
    let restore = Write::Restore { log: "x".to_owned(), seq: 1, value: entry("other") };
    let text = |tokens: &str| Write::IndexText { owner: "x".to_owned(), part: 1, tokens: tokens.to_owned() };
    let both = vec![restore, text("other")];
    assert_eq!(store.commit(&[], both, Durability::Relaxed), Err(StorageError::Unsupported));
    store.commit(&[], vec![text("one")], Durability::Relaxed).unwrap();
    assert_eq!(store.storage().counts().2, 1);
}

#[test]
fn missing_entries_that_can_be_missing_are_marked_each() {
    let store = Store::new(Memory::with_log_end("x", 300));
    put(&store, "x", |_| {});
    let value = entry("walrus");
    let last = Write::Restore { log: "x".to_owned(), seq: 300, value };
    store.commit(&[], vec![last], Durability::Relaxed).unwrap();
    assert!(checked(&store, Mending::Everything).contains(&(Fault::EntryMissing, true)));
    let said = said(&store, "x");
    assert_eq!((said.len(), said[299].1.as_str()), (300, "walrus"));
    assert_eq!(checked(&store, Mending::Nothing), []);
}

#[test]
fn a_log_that_ends_before_the_last_turn_did_is_seen() {
    for (settled, expected) in [(3, None), (4, Some(Fault::EntryMissing)), (u64::MAX / 2, Some(Fault::EntryAstray))] {
        let store = damaged(&[]);
        let cut = Write::CutLog { log: "x".to_owned(), start: 4 };
        store.commit(&[], vec![cut], Durability::Relaxed).unwrap();
        put(&store, "x", |session| session.settled = settled);
        checked(&store, Mending::Derived);
        let found = |mending| checked(&store, mending).into_iter().find(|(fault, _)| *fault != Fault::TextMissing);
        assert_eq!(found(Mending::Nothing), expected.map(|fault| (fault, false)), "{settled}");
        assert_eq!(found(Mending::Everything), expected.map(|fault| (fault, true)), "{settled}");
        assert_eq!(checked(&store, Mending::Nothing), [], "{settled}");
    }
}

#[test]
fn a_part_that_is_said_to_end_where_no_log_can_is_cut_where_its_log_ends() {
    let store = damaged(&["walrus"]);
    checked(&store, Mending::Everything);
    for (until, is_astray) in [(ASTRAY, true), (200, false)] {
        put(&store, "fork", |session| {
            session.segments = vec![Segment { log: "x".to_owned(), from: 1, until }];
        });
        let expected = if is_astray { Fault::EntryAstray } else { Fault::EntryMissing };
        assert!(checked(&store, Mending::Derived).contains(&(expected, false)), "{until}");
        assert!(checked(&store, Mending::Everything).contains(&(expected, true)), "{until}");
        let session = store.session("fork").unwrap().unwrap();
        assert_eq!(session.segments[0].until, if is_astray { 5 } else { until });
        assert_eq!(said(&store, "x").len(), if is_astray { 5 } else { 200 });
        assert_eq!(checked(&store, Mending::Nothing), [], "{until}");
    }
}
