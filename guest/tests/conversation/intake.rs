//! Long lists of an agent's: taken in bit by bit, by several windows, on a store that fails.

use acp_sessions_guest::engine::{Arrival, Content, Output, Peer};
use acp_sessions_guest::storage::{Memory, Storage, StorageError};
use acp_sessions_guest::store::Store;
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World};
use crate::scenes::{CWD, row};

/// More than are taken in at a time.
const MANY: usize = 150;

fn lists() -> Value {
    json!({"sessionCapabilities": {"list": {}}})
}

fn page(count: usize) -> Value {
    let row = |at| row(&format!("o{at}"), "Old", "2025-01-01T00:00:00Z");
    json!({"sessions": (0..count).map(row).collect::<Vec<_>>()})
}

/// How many sessions the store has, of which none was changed.
fn stored<S: Storage>(store: &S) -> usize {
    usize::try_from(Store::new(store).revision().unwrap()).unwrap()
}

/// The ids that a list of all shows, in order.
fn listed<S: Storage>(desk: &mut Desk<'_, S>) -> Vec<String> {
    let (mut ids, mut cursor) = (Vec::new(), Value::Null);
    loop {
        let page = desk.ask("session/list", json!({ "cursor": cursor }))["result"].clone();
        let rows = page["sessions"].as_array().unwrap();
        ids.extend(rows.iter().map(|row| row["sessionId"].as_str().unwrap().to_owned()));
        cursor = page["nextCursor"].clone();
        if cursor.is_null() {
            ids.sort_unstable();
            return ids;
        }
    }
}

fn all_ids(count: usize) -> Vec<String> {
    let mut ids: Vec<String> = (0..count).map(|at| format!("o{at}")).collect();
    ids.sort_unstable();
    ids
}

/// The rest of what is under way.
fn settle<S: Storage>(desk: &mut Desk<'_, S>) -> Out {
    let mut out = Out::default();
    for _ in 0..20 {
        out.extend(desk.wait(0));
    }
    out
}

#[test]
fn a_store_that_fails_in_the_midst_of_a_list_takes_in_the_rest_later() {
    for error in [StorageError::Full, StorageError::ReadOnly, StorageError::Unavailable("busy".to_owned())] {
        for good in [0, 1] {
            let (store, world) = (Faulty::default(), World::default());
            let mut desk = Desk::open(&store, &world, &[]);
            let asked = desk.greet(Some("a"), &lists()).request("session/list");
            let waiting = desk.client(json!({"id": "list", "method": "session/list", "params": {}}));
            assert!(waiting.is_open("list"));
            store.fail(good, usize::MAX, error.clone());
            let out = desk.reply(&asked, page(MANY));
            assert!(out.answer("list")["error"].is_null(), "it waits no more for what does not come: {error}");
            let taken_in = stored(&store);
            assert_eq!(taken_in > 0, good > 0, "what was taken in stays");
            assert!(taken_in < MANY);
            desk.wait(1000);
            desk.wait(31_000);
            assert_eq!((stored(&store), desk.warnings.len()), (taken_in, 1), "{:?}", desk.warnings);
            assert!(store.mend());
            desk.wait(31_000);
            let out = settle(&mut desk);
            assert_eq!(listed(&mut desk), all_ids(MANY), "{error}");
            assert!(out.asked("session/list").is_none(), "the agent has said it already");
        }
    }
}

#[test]
fn a_list_that_comes_while_the_store_fails_is_not_kept_waiting() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let asked = desk.greet(Some("a"), &lists()).request("session/list");
    store.fail(0, usize::MAX, StorageError::Full);
    desk.reply(&asked, page(3));
    let out = desk.client(json!({"id": "list", "method": "session/list", "params": {}}));
    assert_eq!(out.answer("list")["result"]["sessions"], json!([]));
    store.mend();
    desk.wait(31_000);
    assert_eq!(listed(&mut desk), all_ids(3));
}

/// The agent's answer has arrived, and nothing more has been done yet.
fn arrives<S: Storage>(desk: &mut Desk<'_, S>, peer: Peer, mut message: Value) {
    message["jsonrpc"] = "2.0".into();
    desk.engine.receive([Arrival { peer, content: Content::Line(message.to_string()) }]);
}

/// What a host sends the agent after one pull.
fn told_agent<S: Storage>(desk: &mut Desk<'_, S>) -> Vec<Value> {
    let outputs = desk.engine.pull(u32::MAX).into_iter();
    let lines = outputs.filter_map(|output| match output {
        Output::ToAgent(line) => Some(serde_json::from_str(&line).unwrap()),
        _ => None,
    });
    lines.collect()
}

#[test]
fn two_windows_that_take_in_the_same_list_at_once_make_no_twins() {
    let (store, world) = (Memory::new(), World::default());
    let mut windows = [Desk::open(&store, &world, &[]), Desk::open(&store, &world, &[])];
    for desk in &mut windows {
        let asked = desk.greet(Some("a"), &lists()).request("session/list");
        arrives(desk, Peer::Agent, json!({"id": asked["id"], "result": page(MANY)}));
    }
    assert!(stored(&store) < MANY && windows.iter().all(|desk| desk.engine.has_more()), "each has still to go on");
    while windows.iter().any(|desk| desk.engine.has_more()) {
        for desk in &mut windows {
            told_agent(desk);
        }
    }
    for desk in &mut windows {
        assert_eq!(listed(desk), all_ids(MANY));
    }
    assert_eq!(stored(&store), MANY, "and nothing was changed twice");
}

#[test]
fn a_page_of_large_rows_is_taken_in_bit_by_bit_and_holds_nobody_up() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let asked = desk.greet(Some("a"), &lists()).request("session/list");
    desk.new_session("s1", CWD);
    let (mut large, before) = (page(40), stored(&store));
    for row in large["sessions"].as_array_mut().unwrap() {
        row["_meta"] = json!({"x": "x ".repeat(50_000)});
    }
    arrives(&mut desk, Peer::Agent, json!({"id": asked["id"], "result": large}));
    let prompt = json!({"sessionId": "s1", "prompt": [{"type": "text", "text": "Go"}]});
    for message in [
        json!({"id": "turn", "method": "session/prompt", "params": prompt}),
        json!({"method": "session/cancel", "params": {"sessionId": "s1"}}),
    ] {
        arrives(&mut desk, Peer::Client, message.clone());
        let told = told_agent(&mut desk);
        assert!(told.iter().any(|told| told["method"] == message["method"]), "{told:?}");
        let taken_in = stored(&store) - before;
        assert!((1..=10).contains(&taken_in), "{taken_in} of 100,000 bytes each");
    }
    assert!(desk.engine.has_more());
    desk.pull();
    let mut all = all_ids(40);
    all.push("s1".to_owned());
    assert_eq!(listed(&mut desk), all);
}

#[test]
fn a_long_page_is_taken_in_without_any_time_having_to_pass() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let asked = desk.greet(Some("a"), &lists()).request("session/list");
    let out = desk
        .client(json!({"id": "list", "method": "session/list", "params": {"_meta": {"acp-sessions": {"limit": 500}}}}));
    assert!(out.is_open("list"));
    let out = desk.reply(&asked, page(MANY));
    assert_eq!(out.answer("list")["result"]["sessions"].as_array().unwrap().len(), MANY);
}
