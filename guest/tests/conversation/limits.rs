//! Bad input: a clear error, and the connection works on.

use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, update};
use crate::scenes::{load, said};

#[test]
fn bad_lines_are_answered_and_the_connection_works_on() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for (line, code) in [("{", -32700), ("[]", -32600), ("7", -32600), ("{\"jsonrpc\":\"2.0\"}", -32600)] {
        let out = desk.line(Peer::Client, line);
        assert_eq!(
            (&out.client[0]["id"], out.client[0]["error"]["code"].as_i64()),
            (&Value::Null, Some(code)),
            "{line}"
        );
        assert!(desk.listed().is_empty());
    }
    let long = Content::TooLong("{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"session/prompt\",\"params\":{".to_owned());
    desk.engine.receive([Arrival { peer: Peer::Client, content: long }]);
    let error = &desk.pull().client[0]["error"];
    assert_eq!(error["code"], -32600);
    // Its user hears what to do about it.
    for words in ["longer than 16 MiB", "attach less than 12 MB"] {
        assert!(error["message"].as_str().unwrap().contains(words), "{error}");
    }
}

#[test]
fn bad_params_name_the_field() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", "/");
    for (method, params, field) in [
        ("session/new", json!({"mcpServers": []}), "cwd"),
        ("session/new", json!({"cwd": 5, "mcpServers": []}), "cwd"),
        ("session/new", json!({"cwd": "x/y", "mcpServers": []}), "cwd"),
        ("session/new", json!({"cwd": "/x"}), "mcpServers"),
        ("session/new", json!({"cwd": "/x", "mcpServers": {}}), "mcpServers"),
        ("session/new", json!({"cwd": "/x", "mcpServers": [], "additionalDirectories": [""]}), "additionalDirectories"),
        ("session/load", json!({"cwd": "/", "mcpServers": []}), "sessionId"),
        ("session/prompt", json!({"sessionId": "s1"}), "prompt"),
        ("session/prompt", json!({"sessionId": "s1", "prompt": "hi"}), "prompt"),
        ("session/prompt", json!({"sessionId": "s1", "prompt": ["hi"]}), "prompt"),
        ("session/prompt", json!({"sessionId": "s1", "prompt": vec![json!({}); 10_001]}), "prompt"),
        ("session/load", json!({"sessionId": "x".repeat(200_000), "cwd": "/", "mcpServers": []}), "sessionId"),
        ("session/set_mode", json!({"sessionId": "s1"}), "modeId"),
        ("session/set_config_option", json!({"sessionId": "s1", "configId": "x"}), "value"),
        ("session/set_title", json!({"sessionId": "s1", "title": "  "}), "title"),
        ("session/delete", json!({}), "sessionId"),
        ("session/close", json!([]), "params"),
    ] {
        let error = desk.ask(method, params.clone())["error"].clone();
        assert_eq!(error["code"], -32602, "{method} {params}");
        assert!(error["message"].as_str().unwrap().contains(&format!("`{field}`")), "{error}");
    }
    assert_eq!(desk.listed(), ["s1"]);
}

#[test]
fn unknown_sessions_are_named_and_unknown_deletes_are_silent() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for (method, params) in [
        ("session/load", json!({"sessionId": "nope", "cwd": "/", "mcpServers": []})),
        ("session/resume", json!({"sessionId": "nope", "cwd": "/"})),
        ("session/fork", json!({"sessionId": "nope", "cwd": "/"})),
        ("session/prompt", json!({"sessionId": "nope", "prompt": []})),
        ("session/set_mode", json!({"sessionId": "nope", "modeId": "x"})),
        ("session/status", json!({"sessionId": "nope"})),
        ("session/archive", json!({"sessionId": "nope"})),
        ("session/close", json!({"sessionId": "nope"})),
    ] {
        let error = desk.ask(method, params)["error"].clone();
        assert_eq!((error["code"].as_i64(), &error["data"]["sessionId"]), (Some(-32002), &json!("nope")), "{method}");
    }
    assert_eq!(desk.ask("session/delete", json!({"sessionId": "nope"}))["result"], json!({}));
}

#[test]
fn nothing_is_refused_behind_initialize_and_everything_before_it() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    assert_eq!(desk.ask("session/list", json!({}))["error"]["code"], -32600);
    let out = desk.client(json!({"id": 1, "method": "initialize", "params": {"protocolVersion": 7, "info": {}}}));
    assert_eq!(out.agent[0]["params"]["protocolVersion"], 1);
    for id in 2..5 {
        assert!(desk.client(json!({"id": id, "method": "session/list"})).client.is_empty());
    }
    let out = desk.agent(json!({"id": 1, "result": {"protocolVersion": 1}}));
    let ids: Vec<_> = out.client.iter().map(|message| message["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [1, 2, 3, 4]);
    assert_eq!(out.client[0]["result"]["protocolVersion"], 1);
}

#[test]
fn when_the_agent_dies_every_open_request_is_answered_and_the_session_stays() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", "/");
    desk.client(json!({"id": 1, "method": "session/prompt", "params": {"sessionId": id, "prompt": [{"type": "text", "text": "Go"}]}}));
    desk.client(json!({"id": 2, "method": "_x/y"}));
    desk.engine.peer_closed(Peer::Agent);
    let out = desk.pull();
    let errors: Vec<_> = out
        .client
        .iter()
        .filter(|message| message["error"]["message"].as_str().is_some_and(|text| text.contains("agent has ended")))
        .collect();
    assert_eq!(errors.len(), 2);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert_eq!(desk.listed(), ["s1"]);
}

#[test]
fn what_comes_behind_initialize_is_answered_in_order() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    desk.client(json!({"id": 1, "method": "initialize", "params": {"protocolVersion": 1}}));
    desk.client(json!({"id": 2, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}));
    desk.client(json!({"id": 3, "method": "session/list"}));
    let out = desk.agent(json!({"id": 1, "result": {"protocolVersion": 1}}));
    assert_eq!((out.client.len(), out.agent[0]["method"].as_str()), (1, Some("session/new")));
    assert!(desk.client(json!({"id": 4, "method": "session/list"})).client.is_empty());
    let out = desk.agent(json!({"id": 2, "result": {"sessionId": "s1"}}));
    let ids: Vec<_> = out.client.iter().map(|message| message["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, [2, 3, 4]);
    assert_eq!(out.client[1]["result"]["sessions"][0]["sessionId"], "s1");
}

#[test]
fn a_very_long_message_comes_back_whole_and_is_found_by_how_it_begins() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", "/");
    let long = format!("beginning {}", "word ".repeat(1 << 20));
    let (first, last) = ("before ", " after");
    desk.turn("s1", "Go", &[first, &long, last]);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert!(said(&load(&mut desk, "s1", &[]).client).concat() == format!("> Go{first}{long}{last}"));
    let found = desk.ask("session/list", json!({"_meta": {"acp-sessions": {"search": "beginning"}}}));
    assert_eq!(found["result"]["sessions"].as_array().map(Vec::len), Some(1));
}

#[test]
fn an_agents_metadata_is_kept_as_far_as_it_is_bounded() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", "/");
    let mut meta_after = |meta: Value| {
        desk.agent(update("s1", json!({"sessionUpdate": "session_info_update", "_meta": meta})));
        let rows = desk.ask("session/list", json!({}))["result"]["sessions"].take();
        rows[0]["_meta"].clone()
    };
    assert_eq!(meta_after(json!({"a": 1, "b": 2}))["a"], 1);
    let meta = meta_after(json!({"a": "x".repeat(1100 * 1024), "c": 3}));
    assert_eq!((&meta["a"], &meta["b"], &meta["c"]), (&Value::Null, &json!(2), &json!(3)));
}

#[test]
fn a_new_session_with_an_id_that_is_too_long_is_an_error() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.client(json!({"id": 1, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}));
    let out = desk.agent(json!({"id": 1, "result": {"sessionId": "x".repeat(200_000)}}));
    assert_eq!(out.client[0]["error"]["code"], -32603);
    assert!(desk.listed().is_empty());
}
