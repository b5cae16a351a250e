//! Pages are bounded in bytes, whatever sessions hold.

use acp_sessions_guest::sessions::list::{self, Agents, Options};
use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::{Decision, Session, Store, Title};
use serde_json::{Value, json};

const OPTIONS: Options =
    Options { page_size: 100, agents: Agents::All, agent: None, draft: false, extended: true, now: 0 };
const MEBIBYTE: usize = 1024 * 1024;

fn store(sessions: impl Iterator<Item = Session>) -> Store<Memory> {
    let store = Store::new(Memory::new());
    for session in sessions {
        let id = session.id.clone();
        store.change(&id).commit(|_, _, _| Ok(Decision::put(session.clone()))).expect("a new session");
    }
    store
}

fn session(nth: usize) -> Session {
    let mut session = Session::new(format!("s{nth}"), "/x".to_owned(), 1_000);
    session.title = Title::Set("Word".to_owned());
    session
}

fn with_meta(nth: usize, size: usize) -> Session {
    let mut session = session(nth);
    let value = serde_json::value::to_raw_value(&"v".repeat(size)).expect("JSON");
    session.meta.insert("large".to_owned(), value);
    session.meta.insert("small".to_owned(), serde_json::value::to_raw_value(&nth).expect("JSON"));
    session
}

/// The pages of the whole list: how long the text of each is, and its rows.
fn pages(store: &Store<Memory>, params: &Value) -> Vec<(usize, Vec<Value>)> {
    let mut params = params.clone();
    let mut pages = Vec::new();
    loop {
        let text = list::list(store, &OPTIONS, Some(&params.to_string())).expect("a page");
        let mut page: Value = serde_json::from_str(&text).expect("JSON");
        let rows = page["sessions"].as_array().expect("rows").clone();
        let cursor = page["nextCursor"].take();
        assert!(cursor.is_null() || !rows.is_empty(), "an empty page with a cursor");
        pages.push((text.len(), rows));
        if cursor.is_null() {
            return pages;
        }
        params["cursor"] = cursor;
    }
}

fn ids(pages: &[(usize, Vec<Value>)]) -> Vec<&str> {
    pages.iter().flat_map(|(_, rows)| rows).map(|row| row["sessionId"].as_str().expect("an id")).collect()
}

#[test]
fn large_metadata_stays_out_of_the_rows_and_small_metadata_in() {
    let store = store((0..40).map(|nth| with_meta(nth, 100_000)));
    let pages = pages(&store, &json!({}));
    assert_eq!((pages.len(), ids(&pages).len()), (1, 40));
    assert!(pages[0].0 < 40 * 1024, "{} bytes", pages[0].0);
    for row in &pages[0].1 {
        assert_eq!(row["_meta"]["acp-sessions"]["omitted"], json!(["large"]));
        assert_eq!(format!("s{}", row["_meta"]["small"]), row["sessionId"].as_str().expect("an id"));
    }
    let kept = store.session("s7").expect("a store").expect("a session");
    assert_eq!(kept.meta["large"].get().len(), 100_002, "the record keeps what rows leave out");
}

#[test]
fn a_page_ends_before_it_is_too_large_and_nothing_is_left_out() {
    let store = store((0..100).map(|nth| with_meta(nth, 60_000)));
    for params in [json!({}), json!({"cwd": "/x", "limit": 1000}), json!({"search": "word", "limit": 1000})] {
        let pages = pages(&store, &params);
        let mut found = ids(&pages);
        let count = found.len();
        found.sort_unstable();
        found.dedup();
        assert_eq!((count, found.len()), (100, 100), "{params}");
        let (_, but_the_last) = pages.split_last().expect("a page");
        for (bytes, rows) in but_the_last {
            assert!(*bytes <= MEBIBYTE && bytes + 70_000 > MEBIBYTE, "{bytes} bytes in {} rows, {params}", rows.len());
        }
    }
}

#[test]
fn what_changed_while_the_list_was_read_is_bounded_too() {
    let store = store((0..60).map(|nth| with_meta(nth, 60_000)));
    let first = list::list(&store, &OPTIONS, Some(r#"{"limit":1}"#)).expect("a page");
    let first: Value = serde_json::from_str(&first).expect("JSON");
    for nth in 0..60 {
        let changed = store
            .change(&format!("s{nth}"))
            .commit(|before, _, _| Ok(before.cloned().map_or(Decision::Remove, Decision::put)));
        changed.expect("a change");
    }
    let pages = pages(&store, &json!({"cursor": first["nextCursor"], "limit": 1000}));
    assert_eq!(ids(&pages).len(), 60);
    assert!(pages.iter().all(|(bytes, _)| *bytes <= MEBIBYTE));
}

#[test]
fn a_row_larger_than_a_page_is_a_page() {
    let large = |nth: usize| {
        let mut session = session(nth);
        if nth.is_multiple_of(2) {
            session.directories = vec![format!("/{}", "d".repeat(2 * MEBIBYTE))];
        }
        session
    };
    let store = store((0..5).map(large));
    let pages = pages(&store, &json!({}));
    assert_eq!(ids(&pages), ["s4", "s3", "s2", "s1", "s0"]);
    let rows: Vec<usize> = pages.iter().map(|(_, rows)| rows.len()).collect();
    assert_eq!(rows, [1, 1, 1, 1, 1]);
}
