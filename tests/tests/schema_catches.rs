//! The judge of the other tests is itself tried: it must catch what is wrong and let pass what is right.

use acp_sessions_tests::schema::{Checker, Role};
use serde_json::{Value, json};

fn violations(request: &Value, response: &Value) -> Vec<String> {
    let mut checker = Checker::new(Role::Agent);
    checker.heard(request);
    checker.violations(response)
}

fn list_with(params: &Value, row: &Value) -> Vec<String> {
    violations(
        &json!({"jsonrpc": "2.0", "id": 1, "method": "session/list", "params": params}),
        &json!({"jsonrpc": "2.0", "id": 1, "result": {"sessions": [row]}}),
    )
}

fn update(update: &Value) -> Vec<String> {
    let params = json!({"sessionId": "s", "update": update});
    Checker::new(Role::Agent).violations(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}))
}

#[test]
fn lets_pass_what_is_right() {
    let row = json!({"sessionId": "s", "cwd": "/x", "title": null, "_meta": {"acp-sessions": {"createdAt": "2026"}}});
    assert_eq!(list_with(&json!({}), &row), [""; 0]);
    let chunk = json!({"sessionUpdate": "agent_message_chunk", "messageId": "m", "_meta": {"any": {"thing": 1}},
        "content": {"type": "resource", "resource": {"uri": "file:///x", "text": "t", "mimeType": "text/plain"}}});
    assert_eq!(update(&chunk), [""; 0]);
    let call = json!({"sessionUpdate": "tool_call_update", "toolCallId": "1", "rawInput": {"any": "thing"},
        "content": [{"type": "diff", "path": "/x", "oldText": null, "newText": "n"}]});
    assert_eq!(update(&call), [""; 0]);
    let error = json!({"jsonrpc": "2.0", "id": null, "error": {"code": -32700, "message": "Parse error"}});
    assert_eq!(Checker::new(Role::Agent).violations(&error), [""; 0]);
}

#[test]
fn catches_what_is_wrong() {
    let wrong_results = [
        ("initialize", json!({"protocolVersion": "1"})),
        ("initialize", json!({"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"list": true}}})),
        ("initialize", json!({"protocolVersion": 1, "agentCapabilities": {"listSessions": true}})),
        ("session/new", json!({})),
        ("session/new", json!({"sessionId": "s", "createdAt": "2026-01-01T00:00:00Z"})),
        ("session/load", Value::Null),
        ("session/list", json!({"sessions": "none"})),
        ("session/list", json!({"sessions": [], "total": 0})),
        ("session/prompt", json!({"stopReason": "done"})),
    ];
    for (method, result) in wrong_results {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}});
        let found = violations(&request, &json!({"jsonrpc": "2.0", "id": 1, "result": result}));
        assert!(!found.is_empty(), "{method} {result} passed");
    }
    let wrong_updates = [
        json!({"sessionUpdate": "state_update", "state": "running"}),
        json!({"sessionUpdate": "agent_message_chunk", "content": "text"}),
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "t", "language": "en"}}),
        json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "t"}, "toolCallId": "1"}),
        json!({"sessionUpdate": "session_info_update", "createdAt": "2026-01-01T00:00:00Z"}),
        json!({"sessionUpdate": "tool_call", "toolCallId": "1"}),
    ];
    for wrong in wrong_updates {
        assert!(!update(&wrong).is_empty(), "{wrong} passed");
    }
}

#[test]
fn catches_a_broken_envelope() {
    let wrong = [
        json!({"id": 1, "result": {}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "end_turn"}, "error": {"code": 1, "message": ""}}),
        json!({"jsonrpc": "2.0", "id": 1, "result": {"stopReason": "end_turn"}, "extra": 1}),
        json!({"jsonrpc": "2.0", "id": 2, "result": {"stopReason": "end_turn"}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": "x", "message": "m"}}),
        json!({"jsonrpc": "2.0", "id": 1, "error": {"code": 1, "message": "m", "reason": "r"}}),
        json!({"jsonrpc": "2.0", "method": "session/invented", "params": {}}),
    ];
    let request = json!({"jsonrpc": "2.0", "id": 1, "method": "session/prompt", "params": {}});
    for message in wrong {
        assert!(!violations(&request, &message).is_empty(), "{message} passed");
    }
}

#[test]
fn requests_of_the_agent_are_judged_too() {
    let ask = |params: Value| {
        let message = json!({"jsonrpc": "2.0", "id": 1, "method": "session/request_permission", "params": params});
        Checker::new(Role::Agent).violations(&message)
    };
    let right = json!({"sessionId": "s", "toolCall": {"toolCallId": "1"}, "options": []});
    assert_eq!(ask(right), [""; 0]);
    assert!(!ask(json!({"sessionId": "s", "options": []})).is_empty());
    assert!(!ask(json!({"sessionId": "s", "toolCall": {"toolCallId": "1"}, "options": [], "why": "x"})).is_empty());
}

#[test]
fn the_members_of_list_extensions_are_for_those_who_asked_for_them_and_are_what_they_should_be() {
    let row =
        |cost: Value| json!({"sessionId": "s", "cwd": "/x", "lastPromptAt": "2026-01-01T00:00:00Z", "cost": cost});
    let right = row(json!({"amount": 0.5, "currency": "USD"}));
    assert!(!list_with(&json!({"cwd": "/x"}), &right).is_empty());
    for params in [json!({"archived": "all"}), json!({"_meta": {"acp-sessions": {"limit": 5}}})] {
        assert_eq!(list_with(&params, &right), [""; 0], "{params}");
        assert!(!list_with(&params, &row(json!(5))).is_empty(), "{params}");
    }
}

#[test]
fn created_at_at_the_root_is_for_those_who_used_the_draft() {
    let row = json!({"sessionId": "s", "cwd": "/x", "createdAt": "2026-01-01T00:00:00Z"});
    assert!(!list_with(&json!({"cwd": "/x"}), &row).is_empty());
    assert_eq!(list_with(&json!({"limit": 5}), &row), [""; 0]);
}

/// What is said to a client with these capabilities, the last of which is judged, once it has subscribed as `list`.
fn told(capabilities: &Value, method: &str, params: &Value) -> Vec<String> {
    let mut checker = Checker::new(Role::Agent);
    let hello = json!({"protocolVersion": 1, "clientCapabilities": {"session": capabilities}});
    for (id, method, params, result) in [
        (1, "initialize", hello, json!({"protocolVersion": 1})),
        (2, "session/list/subscribe", json!({}), json!({"subscriptionId": "list", "sessions": []})),
        (3, "session/list/subscribe", json!({"limit": 5}), json!({"subscriptionId": "draft", "sessions": []})),
        (4, "session/list/subscribe", json!({}), json!({"subscriptionId": "ended", "sessions": []})),
        (5, "session/list/unsubscribe", json!({"subscriptionId": "ended"}), json!({})),
    ] {
        checker.heard(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        assert_eq!(checker.violations(&json!({"jsonrpc": "2.0", "id": id, "result": result})), [""; 0], "{method}");
    }
    checker.violations(&json!({"jsonrpc": "2.0", "method": method, "params": params}))
}

#[test]
fn what_followers_of_lists_are_told_is_what_they_asked_for_and_what_it_should_be() {
    let (hinted, other) = (json!({"listChanged": {}}), json!({}));
    let row = json!({"sessionId": "s", "cwd": "/x", "state": "running", "lastTurnEndedAt": "2026-01-01T00:00:00Z"});
    let born = json!({"sessionId": "s", "cwd": "/x", "createdAt": "2026-01-01T00:00:00Z"});
    let of =
        |id: &str, rows: Value, removed: Value| json!({"subscriptionId": id, "sessions": rows, "removed": removed});
    let changes = |rows: Value, removed: Value| of("list", rows, removed);
    for (capabilities, method, params) in [
        (&other, "session/list/changes", changes(json!([row]), json!(["s"]))),
        (&other, "session/list/changes", of("draft", json!([born]), json!([]))),
        (&other, "session/list/resync", json!({"subscriptionId": "list"})),
        (&hinted, "session/list_changed", json!({"cwd": "/x"})),
    ] {
        assert_eq!(told(capabilities, method, &params), [""; 0], "{method} {params}");
    }
    for (capabilities, method, params) in [
        (&other, "session/list_changed", json!({"cwd": "/x"})),
        (&hinted, "session/list_changed", json!({})),
        (&hinted, "session/list_changed", json!({"cwd": "/x", "session": "s"})),
        (&other, "session/list/resync", json!({"subscriptionId": "another"})),
        (&other, "session/list/resync", json!({"subscriptionId": "ended"})),
        (&other, "session/list/resync", json!({"subscriptionId": "list", "why": "far behind"})),
        (&other, "session/list/changes", json!({"subscriptionId": "list", "sessions": [row]})),
        (&other, "session/list/changes", changes(json!([row]), json!([1]))),
        (&other, "session/list/changes", changes(json!([born]), json!([]))),
        (&other, "session/list/changes", changes(json!([{"sessionId": "s"}]), json!([]))),
        (&other, "session/list/changes", changes(json!([{"sessionId": "s", "cwd": "/x", "state": "busy"}]), json!([]))),
        (&other, "session/list/changes", changes(json!([{"sessionId": "s", "cwd": "/x", "turns": 1}]), json!([]))),
    ] {
        assert!(!told(capabilities, method, &params).is_empty(), "{method} {params} passed");
    }
}

#[test]
fn the_results_of_subscribing_and_of_its_end_are_judged() {
    for (method, result, is_right) in [
        ("session/list/subscribe", json!({"subscriptionId": "list", "sessions": [], "nextCursor": "n"}), true),
        ("session/list/subscribe", json!({"sessions": []}), false),
        ("session/list/subscribe", json!({"subscriptionId": "list"}), false),
        ("session/list/subscribe", json!({"subscriptionId": "list", "sessions": [], "total": 1}), false),
        ("session/list/unsubscribe", json!({}), true),
        ("session/list/unsubscribe", json!({"sessions": []}), false),
        ("session/list/unsubscribe", Value::Null, false),
    ] {
        let request = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {}});
        let found = violations(&request, &json!({"jsonrpc": "2.0", "id": 1, "result": result}));
        assert_eq!(found.is_empty(), is_right, "{method} {result}: {found:?}");
    }
}
