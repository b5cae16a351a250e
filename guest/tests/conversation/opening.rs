//! What comes first when a session is opened.

use acp_sessions_guest::engine::{Arrival, Content, Output, Peer};
use acp_sessions_guest::sessions::open_marks::is_open;
use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::Store;
use serde_json::json;

use crate::desk::{Desk, World, update};
use crate::scenes::{ask_load, leave, oblige};

#[test]
fn the_history_begins_before_anything_is_written_and_the_session_is_marked_open_by_its_end() {
    let (memory, world) = (Memory::new(), World::default());
    let store = Store::new(&memory);
    let mut earlier = Desk::ready(&memory, &world, &json!({}));
    let id = earlier.new_session("a", "/x");
    for turn in 0..100 {
        earlier.turn(&id, &format!("prompt {turn}"), &["an answer"]);
    }
    // Long enough for its mark to be believed no more.
    world.now.set(1_000_000);
    let mut desk = Desk::ready(&memory, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    let load = json!({"jsonrpc": "2.0", "id": 1, "method": "session/load",
        "params": {"sessionId": id, "cwd": "/x", "mcpServers": []}});
    desk.engine.receive([Arrival { peer: Peer::Client, content: Content::Line(load.to_string()) }]);
    let first = desk.engine.pull(u32::MAX);
    let is_update = |output: &Output| matches!(output, Output::ToClient(line) if line.contains("session/update"));
    assert!(first.iter().any(is_update), "{first:?}");
    let now = world.time();
    assert!(!is_open(&store, &id, now).unwrap());
    let out = desk.pull();
    assert!(!out.client.is_empty(), "the first piece is a small one");
    let resumed = first.iter().find_map(|output| match output {
        Output::ToAgent(line) => serde_json::from_str::<serde_json::Value>(line).ok(),
        _ => None,
    });
    let out = desk.agent(json!({"id": resumed.unwrap()["id"], "result": {}}));
    assert!(out.client.iter().any(|message| message["id"] == 1), "{:?}", out.client);
    assert!(is_open(&store, &id, now).unwrap());
}

#[test]
fn a_mode_that_is_reported_while_a_session_opens_is_not_the_one_to_be_put_back() {
    let modes = json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]});
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true});
    let mut desk = Desk::ready(&store, &world, &capabilities);
    desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": "/x", "mcpServers": []}}));
    desk.agent(json!({"id": "new", "result": {"sessionId": "s1", "modes": modes}}));
    desk.turn("s1", "Hi", &["Ho"]);
    desk.client(json!({"id": "mode", "method": "session/set_mode", "params": {"sessionId": "s1", "modeId": "code"}}));
    desk.agent(json!({"id": "mode", "result": {}}));
    desk.engine.peer_closed(Peer::Client);

    let mut desk = Desk::ready(&store, &world, &capabilities);
    let asked = ask_load(&mut desk, "load", "s1").request("session/load");
    let reported = json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"});
    desk.agent(update("s1", reported));
    let out = desk.reply(&asked, json!({ "modes": modes }));
    assert_eq!(out.request("session/set_mode")["params"]["modeId"], "code");
    let out = oblige(&mut desk, out, &[], "never");
    assert_eq!(out.answer("load")["result"]["modes"]["currentModeId"], "code");
}

#[test]
fn a_session_that_the_client_leaves_while_it_opens_leaves_nothing_in_the_store() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
    let before = store.counts();
    ask_load(&mut desk, "load", "o1").request("session/load");
    desk.agent(update("o1", json!({"sessionUpdate": "current_mode_update", "currentModeId": "ask"})));
    desk.wait(300);
    leave(desk);
    assert_eq!(store.counts().1, before.1);
    let state = acp_sessions_guest::store::keys::state("o1");
    assert_eq!(Store::new(&store).record(state).unwrap(), None);
}

#[test]
fn a_session_in_which_nothing_was_said_leaves_nothing_to_pull_however_often_it_is_loaded() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", "/x");
    for _ in 0..2 {
        ask_load(&mut desk, "load", &id).answer("load");
        assert!(!desk.engine.has_more());
    }
}
