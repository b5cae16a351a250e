//! The layer as a proxy in a chain that a conductor keeps: one pipe, with the agent behind it in envelopes.

// Messages are written where they are said; passing them by reference would only add noise.
#![allow(clippy::needless_pass_by_value)]

use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk};
use crate::scenes::{CWD, said};

/// What was put into envelopes, with the ids of the envelopes.
fn to_agent(out: &Out) -> Vec<Value> {
    assert!(out.agent.is_empty(), "there is no other pipe: {:?}", out.agent);
    let envelopes = out.client.iter().filter(|message| message["method"] == "proxy/successor");
    envelopes.map(|envelope| json!({"id": envelope["id"], "method": envelope["params"]["method"], "params": envelope["params"]["params"]})).collect()
}

fn request(out: &Out, method: &str) -> Value {
    let asked = to_agent(out);
    asked.iter().find(|asked| asked["method"] == method).unwrap_or_else(|| panic!("no {method}: {asked:?}")).clone()
}

fn notes(desk: &mut Desk<'_>, method: &str, params: Value) -> Out {
    desk.client(json!({"method": "proxy/successor", "params": {"method": method, "params": params}}))
}

fn answers(desk: &mut Desk<'_>, asked: &Value, result: Value) -> Out {
    desk.client(json!({"id": asked["id"], "result": result}))
}

fn begun<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    let mut desk = Desk::open(store, world, &[]);
    let out = desk.client(json!({"id": "i", "method": "proxy/initialize", "params": {"protocolVersion": 2, "x": 1}}));
    let asked = request(&out, "initialize");
    assert_eq!(asked["params"], json!({"protocolVersion": 1, "x": 1}), "the highest that the layer speaks");
    let capabilities = json!({"sessionCapabilities": {"resume": {}, "close": {}}});
    let out = answers(&mut desk, &asked, json!({"protocolVersion": 1, "agentCapabilities": capabilities}));
    let result = &out.answer("i")["result"];
    assert_eq!((&result["protocolVersion"], &result["agentCapabilities"]["loadSession"]), (&json!(1), &json!(true)));
    desk
}

fn prompt(desk: &mut Desk<'_>, id: &str) -> Value {
    let params = json!({"sessionId": "s1", "prompt": [{"type": "text", "text": "Hi"}]});
    let out = desk.client(json!({"id": id, "method": "session/prompt", "params": params}));
    request(&out, "session/prompt")
}

/// A session `s1` of one turn.
fn talked<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    let mut desk = begun(store, world);
    let out = desk.client(json!({"id": 7, "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
    let out = answers(&mut desk, &request(&out, "session/new"), json!({"sessionId": "s1"}));
    assert_eq!(out.answer(7)["result"]["sessionId"], "s1");
    let asked = prompt(&mut desk, "p");
    let params = json!({"sessionId": "s1", "update": chunk("agent_message_chunk", "Ho")});
    assert_eq!(said(&notes(&mut desk, "session/update", params).client), ["Ho"]);
    let out = answers(&mut desk, &asked, json!({"stopReason": "end_turn"}));
    assert_eq!(out.answer("p")["result"]["stopReason"], "end_turn");
    desk
}

#[test]
fn a_conversation_through_a_conductor_is_kept_and_comes_back() {
    let (store, world) = (Memory::new(), World::default());
    talked(&store, &world).engine.peer_closed(Peer::Client);
    let mut desk = begun(&store, &world);
    let params = json!({"sessionId": "s1", "cwd": CWD, "mcpServers": []});
    let mut out = desk.client(json!({"id": "load", "method": "session/load", "params": params}));
    let asked = request(&out, "session/resume");
    out.extend(answers(&mut desk, &asked, json!({})));
    assert_eq!(said(&out.client), ["> Hi", "Ho"]);
    assert!(out.answer("load")["error"].is_null());
    assert_eq!(desk.listed(), ["s1"]);
}

#[test]
fn what_the_agent_asks_reaches_the_client_and_is_answered() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = talked(&store, &world);
    let params = json!({"sessionId": "s1", "path": "/x"});
    let envelope = json!({"method": "fs/read_text_file", "params": params});
    let out = desk.client(json!({"id": "u1", "method": "proxy/successor", "params": envelope}));
    assert_eq!(out.client, [json!({"jsonrpc": "2.0", "id": "u1", "method": "fs/read_text_file", "params": params})]);
    let out = desk.client(json!({"id": "u1", "result": {"content": "x"}}));
    assert_eq!(out.client, [json!({"jsonrpc": "2.0", "id": "u1", "result": {"content": "x"}})]);
    // It takes a request of its own back: that names the one that went to the client.
    desk.client(json!({"id": "u2", "method": "proxy/successor", "params": envelope}));
    let cancel = json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": "u2"}});
    assert_eq!(desk.client(cancel.clone()).client, [cancel]);
}

#[test]
fn a_request_that_is_taken_back_is_named_as_it_was_sent() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = talked(&store, &world);
    let asked = prompt(&mut desk, "c1");
    let out = desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "c1"}}));
    assert_eq!(out.client.len(), 1);
    assert_eq!(
        (&out.client[0]["method"], &out.client[0]["params"]["requestId"]),
        (&json!("$/cancel_request"), &asked["id"])
    );
    let out = desk.client(json!({"id": asked["id"], "error": {"code": -32800, "message": "cancelled"}}));
    assert_eq!(out.answer("c1")["error"]["code"], -32800);
}

#[test]
fn another_instance_goes_on_in_the_chain() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = talked(&store, &world);
    let asked = prompt(&mut desk, "p");
    let text = |value: Value| Arrival { peer: Peer::Client, content: Content::Line(value.to_string()) };
    let update = json!({"sessionId": "s1", "update": chunk("agent_message_chunk", "Lost")});
    let lost = text(
        json!({"jsonrpc": "2.0", "method": "proxy/successor", "params": {"method": "session/update", "params": update}}),
    );
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, vec![lost]);
    assert_eq!(said(&desk.pull().client), ["Lost"]);
    let out = answers(&mut desk, &asked, json!({"stopReason": "end_turn"}));
    assert_eq!(out.answer("p")["result"]["stopReason"], "end_turn");
}

#[test]
fn a_layer_with_an_agent_of_its_own_says_that_it_is_no_proxy_in_a_chain() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::open(&store, &world, &[("chain", "off")]);
    let out = desk.client(json!({"id": 1, "method": "proxy/initialize", "params": {"protocolVersion": 1}}));
    assert!(out.agent.is_empty());
    let error = &out.answer(1)["error"];
    assert_eq!(error["code"], -32600);
    assert!(error["message"].as_str().unwrap().contains("no proxy in a chain"), "{error}");
    // It can be used as what it is.
    desk.initialize(&json!({}));
    assert_eq!(desk.new_session("s1", CWD), "s1");
}

#[test]
fn nothing_is_taken_for_an_envelope_outside_a_chain() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for method in ["proxy/successor", "proxy/initialize"] {
        let out = desk.client(json!({"id": 1, "method": method, "params": {"method": "session/list"}}));
        let asked = out.request(method);
        assert_eq!(desk.refuse(&asked, -32601).answer(1)["error"]["code"], -32601);
    }
}
