//! Ids of requests: the client's, the layer's, and what only looks like one.

use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World};
use crate::scenes::{CWD, ask_load, ask_prompt, told};

/// As a layer in front of this one would choose them.
const LIKE_OURS: &str = "acp-sessions:1";

#[test]
fn a_clients_id_that_looks_like_the_layers_own_works_and_leaves_no_memo() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}, "close": {}}}));
    desk.new_session("s1", CWD);
    let before = desk.memos.len();
    for (method, params) in [
        ("session/list", json!({})),
        ("session/status", json!({"sessionId": "s1"})),
        ("session/prompt", json!({"sessionId": "s1", "prompt": []})),
        ("session/set_mode", json!({"sessionId": "s1", "modeId": "m"})),
        ("_ext/method", json!({"x": 1})),
        ("session/list", json!({"limit": 0})),
    ] {
        let out = desk.client(json!({"id": LIKE_OURS, "method": method, "params": params}));
        let mut answered = out;
        if let Some(asked) = answered.asked(method).cloned() {
            answered.extend(desk.reply(&asked, json!({"stopReason": "end_turn"})));
        }
        answered.answer(LIKE_OURS);
        assert!(desk.memos.keys().all(|key| !key.contains(LIKE_OURS)), "{method}: {:?}", desk.memos);
        assert_eq!(desk.memos.len(), before, "{method}");
    }
}

#[test]
fn a_clients_id_that_is_one_of_the_layers_own_is_not_mistaken_for_it() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let id = told(&store, &world, &capabilities);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let resume = ask_load(&mut desk, "load", &id).request("session/resume");
    let out = desk.client(json!({"id": resume["id"], "method": "_ext/method", "params": {"x": 1}}));
    assert!(out.agent.is_empty(), "the agent could not tell them apart");
    assert_eq!(out.answer(resume["id"].clone())["error"]["code"], -32600);
    let out = desk.reply(&resume, json!({}));
    assert!(out.answer("load")["error"].is_null());
}

#[test]
fn an_answer_to_a_request_that_was_never_asked_reaches_nobody() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for id in [json!(LIKE_OURS), json!("acp-sessions:999999"), json!(77), json!("new")] {
        assert!(desk.agent(json!({"id": id, "result": {}})).client.is_empty(), "{id}");
    }
}

#[test]
fn an_id_inside_a_nested_object_is_not_taken_for_the_lines() {
    let too_long = |peer, head: &str| [Arrival { peer, content: Content::TooLong(head.to_owned()) }];
    for (head, id) in [
        (r#"{"jsonrpc":"2.0","method":"x","params":{"id":5,"data":"#, Value::Null),
        (r#"{"jsonrpc":"2.0","params":{"a":[{"id":5}],"data":"#, Value::Null),
        (r#"{"jsonrpc":"2.0","method":"say \"id\":5,","params":{"#, Value::Null),
        (r#"{"params":{"id":5},"id":6,"method":"x","jsonrpc":"2.0","x":"#, json!(6)),
        (r#"{"jsonrpc":"2.0","id":"seven","method":"x","params":{"id":5,"#, json!("seven")),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.engine.receive(too_long(Peer::Client, head));
        let out = desk.pull();
        assert_eq!(out.client.len(), 1, "{head}");
        assert_eq!((&out.client[0]["id"], &out.client[0]["error"]["code"]), (&id, &json!(-32600)), "{head}");
    }
    // The agent's: an update that is too long does not end the turn whose id it holds somewhere inside.
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "prompt", "s1", "Go");
    let head = r#"{"jsonrpc":"2.0","method":"session/update","params":{"id":"prompt","sessionId":"s1","update":{"#;
    desk.engine.receive(too_long(Peer::Agent, head));
    assert!(desk.pull().is_open("prompt"));
    let out = desk.agent(json!({"id": "prompt", "result": {"stopReason": "end_turn"}}));
    assert_eq!(out.answer("prompt")["result"]["stopReason"], "end_turn");
}

/// The beginning and the end of a line, as a host tells them that has not kept what is between.
fn shortened(peer: Peer, content: fn(String) -> Content, beginning: &str, end: &str) -> [Arrival; 1] {
    [Arrival { peer, content: content(format!("{beginning}\n{end}")) }]
}

#[test]
fn whoever_waits_is_answered_though_the_id_stands_at_the_end_of_a_line_that_cannot_be_taken() {
    let asks = r#"{"jsonrpc":"2.0","method":"_x/y","params":{"data":"xx"#;
    let answers = r#"{"jsonrpc":"2.0","result":{"data":"xx"#;
    for content in [Content::TooLong, Content::NotBearable, Content::NotText] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.engine.receive(shortened(Peer::Client, content, asks, r#"xx","id":5},"id":7}"#));
        assert!(desk.pull().answer(7)["error"].is_object(), "the client's request");

        desk.client(json!({"id": 7, "method": "_x/y", "params": {}}));
        desk.engine.receive(shortened(Peer::Agent, content, answers, r#"xx"} , "id" : 7 , "jsonrpc":"2.0" } "#));
        let out = desk.pull();
        let error = &out.answer(7)["error"];
        assert!(error["message"].as_str().unwrap().contains("the agent's answer"), "{error}");

        desk.engine.receive(shortened(Peer::Agent, content, asks, r#"xx"},"id":"of the agent"}"#));
        let told = desk.pull().agent;
        assert_eq!((told.len(), &told[0]["id"]), (1, &json!("of the agent")));
        assert!(told[0]["error"].is_object(), "the agent's request: {told:?}");

        desk.agent(json!({"id": "asked", "method": "_x/y", "params": {}}));
        desk.engine.receive(shortened(Peer::Client, content, answers, r#"xx"},"id":"asked"}"#));
        let told = desk.pull().agent;
        assert_eq!((told.len(), &told[0]["id"]), (1, &json!("asked")));
        assert!(told[0]["error"].is_object(), "the client's answer: {told:?}");
    }
}

#[test]
fn an_id_at_the_end_of_a_line_that_may_be_another_objects_is_not_taken_for_the_lines() {
    for (beginning, end) in [
        (r#"{"jsonrpc":"2.0","result":{"data":"xx"#, r#"xx","id":"prompt"}}"#),
        (r#"{"jsonrpc":"2.0","result":{"data":"xx"#, r#"xx,\"id\":\"prompt\"}"}"#),
        (r#"{"jsonrpc":"2.0","result":{"data":[{"x":"xx"#, r#"xx","id":"prompt"}]}}"#),
        (r#"[{"jsonrpc":"2.0","result":{"data":"xx"#, r#"xx","id":"prompt"}]"#),
        (r#"{"jsonrpc":"2.0","id":"other","result":{"data":"xx"#, r#"xx"},"id":"prompt"}"#),
        (r#"{"jsonrpc":"2.0","result":{}}{"data":"xx"#, r#"xx","id":"prompt"}"#),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", CWD);
        ask_prompt(&mut desk, "prompt", "s1", "Go");
        desk.engine.receive(shortened(Peer::Agent, Content::TooLong, beginning, end));
        assert!(desk.pull().is_open("prompt"), "{end}");
        let out = desk.agent(json!({"id": "prompt", "result": {"stopReason": "end_turn"}}));
        assert_eq!(out.answer("prompt")["result"]["stopReason"], "end_turn", "{end}");
    }
}

#[test]
fn an_id_in_use_is_refused_and_the_request_that_uses_it_goes_on() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let new = ask_load(&mut desk, "same", &id).request("session/new");
    let out = desk.client(json!({"id": "same", "method": "session/list", "params": {}}));
    assert_eq!(out.answer("same")["error"]["code"], -32600);
    let out = desk.reply(&new, json!({"sessionId": "s2"}));
    assert!(out.answer("same")["error"].is_null());
}

#[test]
fn nothing_is_done_with_a_session_that_has_no_id() {
    let (store, world) = (Memory::new(), World::default());
    let can =
        json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "fork": {}, "close": {}, "delete": {}}});
    let mut desk = Desk::ready(&store, &world, &can);
    for method in [
        "session/load",
        "session/resume",
        "session/fork",
        "session/close",
        "session/delete",
        "session/archive",
        "session/status",
        "session/prompt",
        "session/set_mode",
    ] {
        let params = json!({"sessionId": "", "cwd": CWD, "mcpServers": [], "prompt": [], "modeId": "m"});
        let out = desk.client(json!({"id": method, "method": method, "params": params}));
        let error = &out.answer(method)["error"];
        assert_eq!(
            (&error["code"], &error["data"]["field"]),
            (&json!(-32602), &json!("sessionId")),
            "{method}: {error}"
        );
        assert!(out.agent.is_empty(), "{method}: {:?}", out.agent);
    }
    assert!(desk.listed().is_empty());
}
