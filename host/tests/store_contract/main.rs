//! The storage contract (`tests/storage`), held against every store there is: SQLite, and the one in memory that the engine's own
//! tests run on. And stores that break it, which must be found.

mod other;
mod turned;

use std::path::PathBuf;

use acp_sessions::store::Sqlite;
use acp_sessions_adapter::{Hosted, Lent};
use acp_sessions_corpus::contract::{broken, broken_in_states, costly};
use acp_sessions_guest::storage::Memory;

use self::other::{Other, Way};
use self::turned::{Flaw, Turned};

/// Of what `broken` and `costly` find.
fn none(found: &[String]) {
    assert!(found.is_empty(), "{} cases fail, the first: {}", found.len(), found[0]);
}

fn sqlite() -> Sqlite {
    Sqlite::builder().in_memory().build().expect("a store")
}

#[test]
fn the_store_in_memory_keeps_it() {
    none(&broken(&[], Memory::new).expect("the cases"));
}

#[test]
fn a_store_that_was_passed_from_side_to_side_keeps_it() {
    none(&broken(&[], || Lent::new(Hosted(Memory::new()))).expect("the cases"));
}

#[test]
fn sqlite_keeps_it_in_memory() {
    none(&broken(&[], || Lent::new(sqlite())).expect("the cases"));
}

#[test]
fn sqlite_keeps_it_in_a_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut files = (0..).map(|nth: u32| -> PathBuf { folder.path().join(format!("{nth}.db")) });
    let mut open = || Sqlite::builder().file(files.next().expect("a name")).build().expect("a store");
    none(&broken(&[], || Lent::new(open())).expect("the cases"));
}

#[test]
fn a_store_that_does_less_keeps_it_where_it_says_so() {
    let open = || Other::new(Way::Less);
    none(&broken(&["text-search", "restore", "large-values"], open).expect("the cases"));
    assert!(broken(&[], open).expect("the cases").len() > 10);
}

#[test]
fn a_store_that_breaks_it_is_found() {
    for (way, case) in [(Way::Silent, "records/scan.json"), (Way::InPart, "commits/all-or-none.json")] {
        let found = broken(&[], || Other::new(way)).expect("the cases");
        assert!(found.iter().any(|text| text.starts_with(case)), "{way:?}: {found:?}");
    }
}

#[test]
fn a_store_that_breaks_it_in_a_state_is_found() {
    let played = |flaw| broken_in_states(&[], || Turned::new(flaw), Turned::turn).expect("the cases");
    none(&played(Flaw::None));
    for (flaw, names) in [
        (Flaw::InPart, &["full", "full-texts", "read-only", "read-only-texts", "busy"][..]),
        (Flaw::Writing, &["full", "full-texts", "read-only", "read-only-texts", "busy"]),
        (Flaw::Missing, &["damaged", "damaged-texts"]),
        (Flaw::Mute, &["busy", "damaged", "damaged-texts"]),
    ] {
        let found = played(flaw);
        let is_found = |name: &&str| found.iter().any(|text| text.starts_with(&format!("states/{name}.json:")));
        assert!(names.iter().all(is_found) && found.len() == names.len(), "{flaw:?}: {found:?}");
    }
}

#[test]
fn a_look_up_in_memory_reads_the_texts_of_its_scopes_alone() {
    none(&costly(&["page-work"], Memory::new, Memory::texts_read).expect("the cases"));
}

#[test]
fn a_store_that_goes_through_its_index_for_each_scope_is_found() {
    let open = || Other::new(Way::PerScope);
    let found = costly(&["page-work"], open, |store| store.memory.texts_read()).expect("the cases");
    assert_eq!(found.len(), 4, "{found:?}");
}
