//! Agents and clients that speak an older draft of the protocol, or write the same in another way.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, update};
use crate::scenes::{CWD, ask_load, listing, row, said, set, told};

#[test]
fn capabilities_of_older_drafts_are_understood() {
    for (capabilities, does) in [
        // RFD 004 had them under another name.
        (json!({"session": {"resume": {}}}), "session/resume"),
        (json!({"session": {"resume": null}}), "session/new"),
        (json!({"session": {"resume": {}}, "sessionCapabilities": {}}), "session/resume"),
        (json!({"sessionCapabilities": {"resume": {}}, "session": {}}), "session/resume"),
        (json!({}), "session/new"),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &capabilities);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        ask_load(&mut desk, "load", &id).request(does);
    }
    for (capabilities, does) in [
        (json!({"listSessions": true}), true),
        (json!({"listSessions": false}), false),
        (json!({"listSessions": {}}), true),
        (json!({"listSessions": null}), false),
        (json!({"listSessions": null, "sessionCapabilities": {"list": {}}}), true),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::open(&store, &world, &[]);
        assert_eq!(desk.greet(Some("a"), &capabilities).asked("session/list").is_some(), does, "{capabilities}");
    }
}

#[test]
fn a_version_is_a_number_however_it_is_written() {
    for version in ["1", "1.0", "1e0", "10e-1"] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::open(&store, &world, &[]);
        let line = |rest: &str| format!(r#"{{"jsonrpc":"2.0","id":0,{rest}}}"#);
        let asks = format!(r#""method":"initialize","params":{{"protocolVersion":{version}}}"#);
        let out = desk.line(acp_sessions_guest::engine::Peer::Client, &line(&asks));
        assert_eq!(out.request("initialize")["params"]["protocolVersion"], json!(1), "{version}");
        let answers = format!(r#""result":{{"protocolVersion":{version}}}"#);
        let out = desk.line(acp_sessions_guest::engine::Peer::Agent, &line(&answers));
        assert_eq!(out.answer(0)["result"]["protocolVersion"], json!(1), "{version}");
    }
    for version in ["1.5", "-1", "65536", "\"1\"", "null"] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::open(&store, &world, &[]);
        let line =
            format!(r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"protocolVersion":{version}}}}}"#);
        let out = desk.line(acp_sessions_guest::engine::Peer::Client, &line);
        assert_eq!(out.answer(0)["error"]["code"], -32602, "{version}");
    }
}

#[test]
fn a_number_of_updates_is_one_however_it_is_written() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let id = told(&store, &world, &json!({}));
    for (last, shown) in
        [("1", Some(1)), ("1.0", Some(1)), ("2e0", Some(2)), ("1.5", None), ("-1", None), ("\"1\"", None)]
    {
        let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
        let mut out = desk.line(
            acp_sessions_guest::engine::Peer::Client,
            &format!(
                r#"{{"jsonrpc":"2.0","id":"load","method":"session/load","params":{{"sessionId":"{id}","cwd":"{CWD}","mcpServers":[],"_meta":{{"acp-sessions":{{"replay":{{"last":{last}}}}}}}}}}}"#
            ),
        );
        if shown.is_some() {
            let asked = out.request("session/resume");
            out.extend(desk.reply(&asked, json!({})));
            assert_eq!(Some(said(&out.client).len()), shown, "{last}");
        }
        let code = &out.answer("load")["error"]["code"];
        assert_eq!(code.as_i64(), shown.map_or(Some(-32602), |_| None), "{last}");
    }
}

fn only_row(desk: &mut Desk<'_>) -> Value {
    desk.ask("session/list", json!({"limit": 10}))["result"]["sessions"][0].clone()
}

#[test]
fn a_time_of_creation_that_the_agent_gives_is_kept() {
    let created = "2025-01-01T08:00:00.000Z";
    let row = |fields: Value| {
        let mut row = json!({"sessionId": "o1", "cwd": CWD, "updatedAt": "2025-01-02T00:00:00Z"});
        row.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        row
    };
    for (fields, expected) in [
        (json!({"createdAt": "2025-01-01T09:00:00+0100"}), created),
        // A layer in front of the agent says it so.
        (json!({"_meta": {"acp-sessions": {"createdAt": created}}}), created),
        (json!({}), "2025-01-02T00:00:00.000Z"),
        (json!({"createdAt": null}), "2025-01-02T00:00:00.000Z"),
        (json!({"createdAt": "0001-01-01T00:00:00Z"}), "2025-01-02T00:00:00.000Z"),
        // Nothing is created after its last activity.
        (json!({"createdAt": "2025-01-03T00:00:00Z"}), "2025-01-02T00:00:00.000Z"),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = listing(&store, &world, "a", &json!({}), &[row(fields.clone())]);
        let shown = only_row(&mut desk);
        assert_eq!(
            (&shown["createdAt"], &shown["updatedAt"]),
            (&json!(expected), &json!("2025-01-02T00:00:00.000Z")),
            "{fields}"
        );
        // An agent that says it only later is believed as well.
        let mut desk = listing(&store, &world, "a", &json!({}), &[row(json!({ "createdAt": created }))]);
        assert_eq!(only_row(&mut desk)["createdAt"], created, "{fields}");
        let mut desk = listing(&store, &world, "a", &json!({}), &[row(json!({}))]);
        assert_eq!(only_row(&mut desk)["createdAt"], created, "and it stays");
    }
    // What was made here was made when it was made here.
    let (store, world) = (Memory::new(), World::default());
    told(&store, &world, &json!({}));
    let before = only_row(&mut Desk::ready(&store, &world, &json!({})))["createdAt"].clone();
    let mut row = row(json!({ "createdAt": created }));
    row["sessionId"] = "s1".into();
    let mut desk = listing(&store, &world, "a", &json!({}), &[row]);
    assert_eq!(only_row(&mut desk)["createdAt"], before);
}

#[test]
fn a_time_that_the_agent_tells_of_reaches_the_client_as_lists_show_it() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &json!({}), &[row("o1", "One", "2025-01-01T00:00:00Z")]);
    let cases: [(Value, Value); 8] = [
        (json!("2025-10-08T14:22:25Z"), json!("2025-10-08T14:22:25.000Z")),
        (json!("2025-10-08T14:22:25.0049+0200"), json!("2025-10-08T12:22:25.004Z")),
        (json!("2025-10-08"), json!("2025-10-08T00:00:00.000Z")),
        (json!("0001-01-01T00:00:00Z"), Value::Null),
        (json!("1960-01-01T00:00:00Z"), Value::Null),
        (json!("some day"), Value::Null),
        (json!(5), Value::Null),
        (Value::Null, Value::Null),
    ];
    for (said, shown) in cases {
        let info = json!({"sessionUpdate": "session_info_update", "title": "One", "updatedAt": said});
        let out = desk.agent(update("o1", info));
        let update = &out.client[0]["params"]["update"];
        assert_eq!(update["updatedAt"], shown, "{said}");
        assert_eq!(
            update.get("updatedAt").is_some(),
            !shown.is_null() || said.is_null(),
            "{said} is taken back or left out"
        );
    }
}

#[test]
fn a_session_whose_agent_has_no_time_for_it_has_none() {
    let (store, world) = (Memory::new(), World::default());
    let row = json!({"sessionId": "o1", "cwd": CWD, "updatedAt": "0001-01-01T00:00:00Z"});
    let mut desk = listing(&store, &world, "a", &json!({}), &[row]);
    assert_eq!(only_row(&mut desk).get("updatedAt"), None);
}

#[test]
fn in_the_draft_dialect_lists_are_the_drafts() {
    let (store, world) = (Memory::new(), World::default());
    told(&store, &world, &json!({}));
    for (dialect, has_created) in [("draft", true), ("stable", false)] {
        let mut desk = set(&store, &world, &json!({}), &[("dialect", dialect)]);
        let row = &desk.ask("session/list", json!({}))["result"]["sessions"][0];
        assert_eq!(row.get("createdAt").is_some(), has_created, "{dialect}");
    }
}

#[test]
fn a_client_that_would_rather_resume_can_be_made_to_load() {
    let capabilities = json!({"sessionCapabilities": {"resume": {}, "close": {}}, "session": {"resume": {}}});
    for (prefers, has_resume) in [(Some("on"), false), (Some("off"), true), (None, true)] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &capabilities);
        let settings: Vec<_> = prefers.map(|prefers| ("prefer-load", prefers)).into_iter().collect();
        let mut desk = Desk::open(&store, &world, &settings);
        let shown = desk.initialize(&capabilities)["agentCapabilities"].clone();
        assert_eq!(shown["loadSession"], true);
        assert_eq!(shown["sessionCapabilities"].get("resume").is_some(), has_resume, "{prefers:?}");
        assert_eq!(shown["session"].get("resume").is_some(), has_resume, "{prefers:?}");
        assert_eq!(shown["sessionCapabilities"]["close"], json!({}));
        // The layer resumes all the same, and so may a client that does not ask first.
        ask_load(&mut desk, "load", &id).request("session/resume");
    }
}

#[test]
fn what_a_layer_over_the_same_store_hides_stays_hidden() {
    let (store, world) = (Memory::new(), World::default());
    let answered = |capabilities: &Value, settings: &[(&str, &str)]| {
        let mut desk = Desk::open(&store, &world, settings);
        desk.initialize(capabilities)["agentCapabilities"].clone()
    };
    let inner = answered(&json!({}), &[("prefer-load", "on")]);
    assert_eq!(inner["sessionCapabilities"]["resume"], Value::Null);
    let outer = answered(&inner, &[]);
    assert_eq!(outer["sessionCapabilities"], inner["sessionCapabilities"]);
    // Over another store it resumes by itself.
    let mut others = inner.clone();
    others["_meta"]["acp-sessions"]["store"] = "another".into();
    assert_eq!(answered(&others, &[])["sessionCapabilities"]["resume"], json!({}));
}
