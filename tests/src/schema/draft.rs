//! What the draft of list extensions adds, which no official schema has yet: definitions like the official ones.

use serde_json::{Map, Value, json};

/// The result of `session/list` for those who know the draft.
pub(super) const PAGE: &str = "DraftListSessionsResponse";

/// Adds the draft's definitions to the official ones.
pub(super) fn extend(definitions: &mut Map<String, Value>) {
    let capabilities = &mut definitions["SessionListCapabilities"]["properties"];
    for marker in ["limit", "changes", "subscribe"] {
        capabilities[marker] = json!({"type": "object", "properties": {}});
    }
    let info = json!({
        "allOf": [{"$ref": "#/$defs/SessionInfo"}],
        "type": "object",
        "properties": {
            "lastPromptAt": {"type": "string"},
            "lastTurnEndedAt": {"type": "string"},
            "model": {"type": "string"},
            "forkedFrom": {"$ref": "#/$defs/SessionId"},
            "cost": {"$ref": "#/$defs/Cost"},
            "state": {"enum": ["running", "idle", "requires_action"]},
        },
    });
    let page = json!({
        "type": "object",
        "properties": {
            "sessions": {"type": "array", "items": {"$ref": "#/$defs/DraftSessionInfo"}},
            "nextCursor": {"type": ["string", "null"]},
            "_meta": {"type": ["object", "null"]},
        },
        "required": ["sessions"],
    });
    let subscription = json!({
        "allOf": [{"$ref": format!("#/$defs/{PAGE}")}],
        "type": "object",
        "properties": {"subscriptionId": {"type": "string"}},
        "required": ["subscriptionId"],
        "x-side": "agent",
        "x-method": "session/list/subscribe",
    });
    let end = json!({
        "type": "object",
        "properties": {"_meta": {"type": ["object", "null"]}},
        "x-side": "agent",
        "x-method": "session/list/unsubscribe",
    });
    definitions.insert("DraftSessionInfo".into(), info);
    definitions.insert(PAGE.into(), page);
    definitions.insert("SubscribeListResponse".into(), subscription);
    definitions.insert("UnsubscribeListResponse".into(), end);
    let id = json!({"type": "string"});
    let rows = json!({"type": "array", "items": {"$ref": "#/$defs/DraftSessionInfo"}});
    let ids = json!({"type": "array", "items": {"$ref": "#/$defs/SessionId"}});
    for (name, method, members) in [
        (
            "ListChangesNotification",
            "session/list/changes",
            json!({"subscriptionId": id, "sessions": rows, "removed": ids}),
        ),
        ("ListResyncNotification", "session/list/resync", json!({"subscriptionId": id})),
        ("ListChangedNotification", "session/list_changed", json!({"cwd": {"type": "string"}})),
    ] {
        let required: Vec<&String> = members.as_object().into_iter().flat_map(Map::keys).collect();
        let definition = json!({"type": "object", "properties": members, "required": required,
            "x-side": "client", "x-method": method});
        definitions.insert(name.into(), definition);
    }
}
