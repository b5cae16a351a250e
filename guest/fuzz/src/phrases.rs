//! What a client and an agent may say, right or wrong.

use serde_json::{Value, json};

use crate::bytes::Bytes;

/// What a client asks for.
const REQUESTS: [&str; 18] = [
    "session/new",
    "session/load",
    "session/resume",
    "session/fork",
    "session/list",
    "session/delete",
    "session/close",
    "session/archive",
    "session/unarchive",
    "session/status",
    "session/set_title",
    "session/prompt",
    "session/set_mode",
    "session/set_model",
    "session/set_config_option",
    "authenticate",
    "logout",
    "x/own",
];

const SESSIONS: [&str; 5] = ["s1", "s2", "s3", "", "s1/../%2f"];

const UPDATES: [&str; 12] = [
    "user_message_chunk",
    "agent_message_chunk",
    "agent_thought_chunk",
    "tool_call",
    "tool_call_update",
    "plan",
    "available_commands_update",
    "current_mode_update",
    "config_option_update",
    "session_info_update",
    "usage_update",
    "unheard_of",
];

/// Any of the ids that sessions have here.
pub fn session(bytes: &mut Bytes<'_>) -> &'static str {
    bytes.of(&SESSIONS)
}

/// An id of a request.
pub fn id(bytes: &mut Bytes<'_>) -> Value {
    match bytes.next() % 12 {
        0 => json!("a"),
        1 => json!(""),
        2 => json!(-1),
        few => json!(few),
    }
}

/// A request of the client's, without its id.
pub fn request(bytes: &mut Bytes<'_>) -> (&'static str, Value) {
    let method = bytes.of(&REQUESTS);
    let mut params = json!({"sessionId": session(bytes), "cwd": "/a", "mcpServers": []});
    let own = match method {
        "session/prompt" => json!({"prompt": [{"type": "text", "text": bytes.text()}]}),
        "session/list" => json!({"limit": bytes.next() % 4, "search": bytes.text(), "_meta": odd(bytes)}),
        "session/set_title" => json!({"title": bytes.text()}),
        "session/set_mode" => json!({"modeId": bytes.text()}),
        "session/set_config_option" => json!({"configId": "c", "value": odd(bytes)}),
        "session/load" => json!({"_meta": {"acp-sessions": {"replay": odd(bytes)}}}),
        _ => json!({}),
    };
    merge(&mut params, own);
    if bytes.next() % 8 == 0 {
        let key = bytes.of(&["sessionId", "cwd", "mcpServers", "prompt", "_meta", "additionalDirectories"]);
        params[key] = odd(bytes);
    }
    (method, params)
}

/// A notification of the client's.
pub fn notification(bytes: &mut Bytes<'_>) -> Value {
    match bytes.next() % 3 {
        0 => json!({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": session(bytes)}}),
        1 => json!({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": id(bytes)}}),
        _ => json!({"jsonrpc": "2.0", "method": "x/told", "params": odd(bytes)}),
    }
}

/// What an agent can do, as it answers `initialize`.
pub fn capabilities(bytes: &mut Bytes<'_>) -> Value {
    let can = bytes.next();
    let mut session = json!({});
    for (nth, name) in ["list", "resume", "fork", "delete", "close", "title", "archive"].iter().enumerate() {
        if can >> nth & 1 == 1 {
            session[name] = json!({});
        }
    }
    json!({
        "protocolVersion": 1,
        "agentCapabilities": {"loadSession": bytes.next() % 2 == 0, "sessionCapabilities": session},
        "agentInfo": {"name": bytes.of(&["one", "two"]), "version": "1"},
    })
}

/// How an agent answers a request with this method.
pub fn result(method: &str, bytes: &mut Bytes<'_>) -> Value {
    match method {
        "initialize" => capabilities(bytes),
        "session/new" | "session/fork" => json!({"sessionId": session(bytes), "modes": odd(bytes)}),
        "session/prompt" => json!({"stopReason": bytes.of(&["end_turn", "cancelled", "refusal"])}),
        "session/list" => {
            let row = |bytes: &mut Bytes<'_>| {
                let time = bytes.of(&["2025-10-09T08:53:20Z", "2025-10-10", "now", ""]);
                json!({"sessionId": session(bytes), "cwd": "/a", "title": bytes.text(), "updatedAt": time})
            };
            let rows: Vec<Value> = (0..bytes.next() % 4).map(|_| row(bytes)).collect();
            json!({"sessions": rows, "nextCursor": bytes.of(&[None, None, Some("more")])})
        }
        _ => odd(bytes),
    }
}

/// An update of a session.
pub fn update(bytes: &mut Bytes<'_>) -> Value {
    let kind = bytes.of(&UPDATES);
    let mut update = json!({"sessionUpdate": kind});
    let own = match kind {
        "tool_call" | "tool_call_update" => {
            let (id, status) = (bytes.of(&["t1", "t2"]), bytes.of(&["pending", "completed", "?"]));
            json!({"toolCallId": id, "title": "t", "status": status})
        }
        "plan" => json!({"entries": odd(bytes)}),
        "session_info_update" => json!({"title": odd(bytes)}),
        "current_mode_update" => json!({"currentModeId": odd(bytes)}),
        "unheard_of" => json!({"what": odd(bytes)}),
        _ => json!({"content": {"type": "text", "text": bytes.text()}, "messageId": bytes.of(&["m1", "m2"])}),
    };
    merge(&mut update, own);
    json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": session(bytes), "update": update}})
}

/// A request of the agent's, without its id.
pub fn asked_of_client(bytes: &mut Bytes<'_>) -> (&'static str, Value) {
    let method = bytes.of(&["session/request_permission", "fs/read_text_file", "x/ask"]);
    let call = json!({"toolCallId": "t1"});
    (method, json!({"sessionId": session(bytes), "toolCall": call, "options": odd(bytes), "path": "/a"}))
}

/// Any value.
pub fn odd(bytes: &mut Bytes<'_>) -> Value {
    match bytes.next() % 10 {
        0 => Value::Null,
        1 => json!(true),
        2 => json!(-7),
        3 => json!(1e300),
        4 => json!(bytes.text()),
        5 => json!([odd(bytes)]),
        6 => json!({"last": bytes.next()}),
        7 => json!({"after": bytes.text()}),
        8 => json!({"acp-sessions": {"agents": "all", "setAside": true}}),
        _ => json!({}),
    }
}

fn merge(into: &mut Value, from: Value) {
    if let (Some(into), Value::Object(from)) = (into.as_object_mut(), from) {
        into.extend(from);
    }
}
