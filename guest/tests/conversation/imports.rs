//! What a batch of arrivals costs in calls out of the component: they are the dear part in some runtimes.

use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, envelope, update};

fn arrival(peer: Peer, message: Value) -> Arrival {
    Arrival { peer, content: Content::Line(envelope(message)) }
}

/// A chunk of a message that the agent gives this id.
fn identified(text: &str, id: &str) -> Value {
    let mut chunk = chunk("agent_message_chunk", text);
    chunk["messageId"] = id.into();
    update("s1", chunk)
}

fn plain(text: &str) -> Value {
    update("s1", chunk("agent_message_chunk", text))
}

fn tool_call(id: &str) -> Value {
    update("s1", json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "t", "status": "pending"}))
}

#[test]
fn a_batch_asks_for_the_time_once_and_for_randomness_only_where_a_message_has_no_id() {
    use Peer::{Agent, Client};
    let notice =
        |id: &str| json!({"id": id, "method": "fs/read_text_file", "params": {"sessionId": "s1", "path": "/f"}});
    let many = |message: &dyn Fn(usize) -> Value| (0..100).map(|nth| (Agent, message(nth))).collect::<Vec<_>>();
    for (what, batch, random) in [
        ("requests that pass", vec![(Agent, notice("a")), (Client, json!({"id": "a", "result": {"content": ""}}))], 0),
        ("messages with ids", many(&|nth| identified("text", &format!("m{}", nth / 10))), 0),
        ("one message without an id", many(&|_| plain("text")), 1),
        ("tool calls", many(&|nth| tool_call(&format!("c{nth}"))), 0),
        // What a tool call comes between are two messages.
        (
            "a message, a tool call, a message",
            vec![(Agent, plain("a")), (Agent, tool_call("c")), (Agent, plain("b"))],
            2,
        ),
        ("a list", vec![(Client, json!({"id": "l", "method": "session/list", "params": {}}))], 0),
        ("the turn's end", vec![(Agent, json!({"id": "turn", "result": {"stopReason": "end_turn"}}))], 0),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", "/");
        let prompt = json!({"sessionId": "s1", "prompt": [{"type": "text", "text": "go"}]});
        desk.client(json!({"id": "turn", "method": "session/prompt", "params": prompt}));
        let before = (world.clock_calls.get(), world.random_calls.get());
        desk.engine.receive(batch.into_iter().map(|(peer, message)| arrival(peer, message)));
        desk.engine.pull(u32::MAX);
        let (clock_calls, random_calls) = (world.clock_calls.get() - before.0, world.random_calls.get() - before.1);
        assert!(clock_calls <= 1, "{what}: {clock_calls} calls of the clock");
        assert_eq!(random_calls, random, "{what}: calls for randomness");
    }
}

#[test]
fn what_is_received_later_happens_later() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", "/");
    let updated =
        |desk: &mut Desk<'_>| desk.ask("session/list", json!({}))["result"]["sessions"][0]["updatedAt"].clone();
    let before = updated(&mut desk);
    world.now.set(world.now.get() + 5000);
    desk.turn("s1", "go", &["gone"]);
    assert_ne!(updated(&mut desk), before);
}
