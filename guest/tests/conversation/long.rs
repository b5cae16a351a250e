//! Long conversations: what opening one reads before the client is shown anything, counted at the storage.

use acp_sessions_guest::engine::{Arrival, Content, Output, Peer};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, World, envelope, update};
use crate::scenes::{CWD, ask_fork, ask_prompt, leave, load, oblige};

/// How many updates the conversation has, none of which can be joined with another.
const UPDATES: usize = 3000;
/// Far fewer than it has, and about what goes into a piece or two.
const FEW: usize = 600;

/// A long conversation, in which nobody is any more.
fn told(store: &Faulty, world: &World, capabilities: &Value) -> String {
    let mut desk = Desk::ready(store, world, capabilities);
    let id = desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "prompt", &id, "Go");
    for call in 0..UPDATES {
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": format!("call {call}"), "title": "Run"});
        desk.agent(update("s1", call));
    }
    desk.agent(json!({"id": "prompt", "result": {"stopReason": "end_turn"}}));
    leave(desk);
    id
}

#[test]
fn the_first_of_a_history_comes_before_much_of_it_is_read() {
    let (store, world) = (Faulty::default(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    store.entries_read.set(0);
    let params = json!({"sessionId": id, "cwd": CWD, "mcpServers": []});
    let line = envelope(json!({"id": "load", "method": "session/load", "params": params}));
    desk.engine.receive([Arrival { peer: Peer::Client, content: Content::Line(line) }]);
    let shown = |output: &Output| matches!(output, Output::ToClient(_));
    while !desk.engine.pull(1024).iter().any(shown) {
        assert!(desk.engine.has_more());
    }
    assert!(store.entries_read.get() < FEW, "{}", store.entries_read.get());
}

#[test]
fn opening_reads_a_history_once_and_forking_does_not_read_it() {
    let (store, world) = (Faulty::default(), World::default());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let id = told(&store, &world, &capabilities);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    store.entries_read.set(0);
    load(&mut desk, &id, &[]).answer("load");
    let read = store.entries_read.get();
    assert!((UPDATES..UPDATES + FEW).contains(&read), "{read}");
    store.entries_read.set(0);
    let asked = ask_fork(&mut desk, &id);
    oblige(&mut desk, asked, &[], "f1").answer("fork");
    let read = store.entries_read.get();
    assert!(read < FEW, "{read}");
}
