//! Whose a cursor is: one of another session is refused by whatever reads it, and so is a text that is none.

use acp_sessions_corpus::Call;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World};
use crate::scenes::{CWD, ask_prompt, leave, mark};

const SESSIONS: [&str; 2] = ["s0", "s1"];

/// Two sessions in which the same was said: two turns, in which a permission was asked for, and tokens were counted.
fn filled(store: &Memory, world: &World) {
    let mut desk = Desk::ready(store, world, &json!({}));
    for id in SESSIONS {
        desk.new_session(id, CWD);
        for _ in 0..2 {
            ask_prompt(&mut desk, "turn", id, "Go");
            let call = json!({"toolCallId": "c", "title": "Write"});
            let options = json!([{"optionId": "y", "name": "Yes", "kind": "allow_once"}]);
            let params = json!({"sessionId": id, "toolCall": call, "options": options});
            desk.agent(json!({"id": "may", "method": "session/request_permission", "params": params}));
            let chosen = json!({"outcome": {"outcome": "selected", "optionId": "y"}});
            desk.client(json!({"id": "may", "result": chosen}));
            let usage = json!({"totalTokens": 3, "inputTokens": 2, "outputTokens": 1});
            desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn", "usage": usage}}));
        }
    }
    leave(desk);
}

fn transcript(id: &str, after: Option<String>) -> Call {
    Call::ReadTranscript { session_id: id.to_owned(), after, limit: 1 }
}

fn turn_usage(id: &str, after: Option<String>) -> Call {
    Call::ReadTurnUsage { session_id: id.to_owned(), after, limit: 1 }
}

fn permissions(id: &str, after: Option<String>) -> Call {
    Call::ReadPermissions { session_id: id.to_owned(), after, limit: 1 }
}

/// The cursor of a page.
fn cursor(page: &Value) -> String {
    let last = page["ok"]["updates"].as_array().map(|updates| &updates[updates.len() - 1]["cursor"]);
    last.unwrap_or(&page["ok"]["next-cursor"]).as_str().expect("there is more").to_owned()
}

#[test]
fn a_page_of_a_session_is_not_read_on_in_another() {
    let (store, world) = (Memory::new(), World::unrecorded());
    filled(&store, &world);
    let ask = |call| world.recorder.typed(&store, world.time(), call);
    for page in [transcript, turn_usage, permissions] {
        let [first, second] = SESSIONS.map(|id| cursor(&ask(page(id, None))));
        for (id, its, others) in [(SESSIONS[0], &first, &second), (SESSIONS[1], &second, &first)] {
            let read = ask(page(id, Some(its.clone())));
            assert!(read["ok"].is_object(), "{id} {its}: {read}");
            let read = ask(page(id, Some(others.clone())));
            assert!(read["error"]["invalid"].is_string(), "{id} {others}: {read}");
        }
    }
}

#[test]
fn a_load_does_not_go_on_where_another_session_was_left() {
    let (store, world) = (Memory::new(), World::unrecorded());
    filled(&store, &world);
    let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    let mut load = |id: &str, replay: Option<Value>| {
        let mut params = json!({"sessionId": id, "cwd": CWD, "mcpServers": []});
        if let Some(replay) = replay {
            params["_meta"] = json!({"acp-sessions": {"replay": replay}});
        }
        let mut out = desk.client(json!({"id": "load", "method": "session/load", "params": params}));
        if let Some(asked) = out.asked("session/resume").cloned() {
            out.extend(desk.reply(&asked, json!({})));
        }
        out
    };
    let ends = SESSIONS.map(|id| mark(&load(id, None), "load")["cursor"].clone());
    for (id, its, others) in [(SESSIONS[0], &ends[0], &ends[1]), (SESSIONS[1], &ends[1], &ends[0])] {
        assert!(mark(&load(id, Some(json!({"after": its}))), "load")["cursor"].is_string());
        let refused = load(id, Some(json!({"after": others})));
        assert_eq!(refused.answer("load")["error"]["code"], -32602, "{id} {others}");
    }
}

#[test]
fn what_was_used_is_listed_on_behind_a_cursor_of_that_list_alone() {
    let (store, world) = (Memory::new(), World::unrecorded());
    filled(&store, &world);
    let ask = |call| world.recorder.typed(&store, world.time(), call);
    let list = |cursor: Option<&str>| ask(Call::ListUsage { limit: 1, cursor: cursor.map(str::to_owned) });
    let its = cursor(&list(None));
    let next = list(Some(&its));
    assert_eq!(next["ok"]["usages"][0]["session-id"], SESSIONS[1]);
    let of_another = cursor(&ask(transcript(SESSIONS[0], None)));
    for text in ["", "zz", SESSIONS[0], "/", "0/", &of_another, &format!("{its}0"), &its[1..]] {
        assert!(list(Some(text))["error"]["invalid"].is_string(), "{text}");
    }
}
