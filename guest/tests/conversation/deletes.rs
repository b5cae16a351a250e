//! Deletes: done again until the agent has confirmed them, and never half.

use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::{Memory, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World};
use crate::scenes::{CWD, TOLD, ask_load, ask_prompt, lines, load, oblige, row, said, told};

fn deletes() -> Value {
    json!({"sessionCapabilities": {"delete": {}, "close": {}, "list": {}}})
}

/// An agent that deletes, and keeps no list.
fn deletes_only() -> Value {
    json!({"sessionCapabilities": {"delete": {}}})
}

/// A new connection, whose list the agent answers with these rows, and what it was asked on it.
fn connect<'a>(store: &'a Memory, world: &'a World, capabilities: &Value, rows: &[Value]) -> (Desk<'a>, Out) {
    let mut desk = Desk::open(store, world, &[]);
    let mut out = desk.greet(Some("a"), capabilities);
    if let Some(list) = out.asked("session/list").cloned() {
        out.extend(desk.reply(&list, json!({"sessions": rows})));
    }
    out.extend(desk.wait(0));
    (desk, out)
}

fn delete(desk: &mut Desk<'_>, id: &str) -> Out {
    desk.client(json!({"id": "delete", "method": "session/delete", "params": {"sessionId": id}}))
}

fn deleted_ids(out: &Out) -> Vec<&str> {
    let asked = out.agent.iter().filter(|message| message["method"] == "session/delete");
    asked.map(|message| message["params"]["sessionId"].as_str().unwrap()).collect()
}

#[test]
fn a_delete_that_the_agent_did_not_answer_is_asked_again_until_it_does() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &deletes_only());
    let (mut desk, _) = connect(&store, &world, &deletes_only(), &[]);
    let out = delete(&mut desk, &id);
    assert_eq!(out.answer("delete")["result"], json!({}));
    assert_eq!(deleted_ids(&out), ["s1"]);
    for _ in 0..2 {
        let (_, out) = connect(&store, &world, &deletes_only(), &[]);
        assert_eq!(deleted_ids(&out), ["s1"], "not answered yet");
    }
    let (mut desk, out) = connect(&store, &world, &deletes_only(), &[]);
    desk.reply(&out.request("session/delete"), json!({}));
    let (_, out) = connect(&store, &world, &deletes_only(), &[]);
    assert_eq!(deleted_ids(&out), [""; 0], "answered");
}

#[test]
fn a_deleted_session_that_the_agent_still_lists_is_deleted_there_and_stays_away_here() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &deletes());
    let (mut desk, _) = connect(&store, &world, &deletes(), &[]);
    let out = delete(&mut desk, &id);
    desk.refuse(&out.request("session/delete"), -32603);
    for _ in 0..2 {
        let listed = row("s1", "First question", "2025-10-09T08:53:20Z");
        let (mut desk, out) = connect(&store, &world, &deletes(), &[listed]);
        assert!(deleted_ids(&out).contains(&"s1"));
        assert!(deleted_ids(&out).iter().all(|id| *id == "s1"));
        assert!(desk.listed().is_empty());
    }
}

#[test]
fn a_delete_is_asked_by_the_agents_own_id() {
    let (store, world) = (Memory::new(), World::default());
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    other.new_session("s1", "/");
    let id = told(&store, &world, &deletes_only());
    assert_ne!(id, "s1");
    let (mut desk, _) = connect(&store, &world, &deletes_only(), &[]);
    assert_eq!(deleted_ids(&delete(&mut desk, &id)), ["s1"]);
    let (_, out) = connect(&store, &world, &deletes_only(), &[]);
    assert_eq!(deleted_ids(&out), ["s1"]);
    other.turn("s1", "Still", &["here"]);
}

#[test]
fn an_agent_that_cannot_delete_is_not_asked_to() {
    let (store, world) = (Memory::new(), World::default());
    let plain = json!({"sessionCapabilities": {"list": {}}});
    let id = told(&store, &world, &plain);
    let listed = [row("s1", "First question", "2025-10-09T08:53:20Z")];
    let (mut desk, _) = connect(&store, &world, &plain, &listed);
    assert_eq!(deleted_ids(&delete(&mut desk, &id)), [""; 0]);
    let (mut desk, out) = connect(&store, &world, &plain, &listed);
    assert_eq!(deleted_ids(&out), [""; 0]);
    assert!(desk.listed().is_empty(), "it stays deleted all the same");
}

#[test]
fn loads_that_wait_for_a_session_are_answered_when_it_is_deleted() {
    for capabilities in [
        json!({"sessionCapabilities": {"resume": {}, "delete": {}}}),
        json!({"sessionCapabilities": {"resume": {}, "delete": {}, "close": {}}}),
        json!({"loadSession": true}),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &capabilities);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let mut out = ask_load(&mut desk, "first", &id);
        out.extend(ask_load(&mut desk, "second", &id));
        out.extend(delete(&mut desk, &id));
        let mut out = oblige(&mut desk, out, TOLD, "never");
        out.extend(desk.wait(1000));
        for load in ["first", "second"] {
            out.answer(load);
        }
        assert_eq!(out.answer("delete")["result"], json!({}), "{capabilities}");
        assert!(desk.listed().is_empty());
        assert_eq!(load(&mut desk, &id, TOLD).answer("load")["error"]["code"], -32002);
    }
}

#[test]
fn a_delete_over_a_store_that_fails_is_done_or_not() {
    for open in [false, true] {
        for nth in 0..10 {
            let (store, world) = (Faulty::default(), World::default());
            let id = told(&store, &world, &json!({}));
            let mut desk = Desk::ready(&store, &world, &json!({}));
            if open {
                load(&mut desk, &id, TOLD).answer("load");
            }
            store.fail(nth, 1, StorageError::Full);
            let params = json!({"sessionId": id});
            let out = desk.client(json!({"id": "delete", "method": "session/delete", "params": params}));
            let is_deleted = out.answer("delete")["error"].is_null();
            store.mend();
            let mut desk = Desk::ready(&store, &world, &json!({}));
            assert_eq!(desk.listed().is_empty(), is_deleted, "open: {open}, commit {nth} failed");
            let out = load(&mut desk, &id, TOLD);
            if is_deleted {
                assert_eq!(out.answer("load")["error"]["code"], -32002);
            } else {
                assert_eq!(said(&out.client), lines(&[TOLD]));
                assert_eq!(desk.ask("session/delete", json!({"sessionId": id}))["result"], json!({}));
                assert!(desk.listed().is_empty());
            }
        }
    }
}

#[test]
fn loads_that_show_a_live_session_are_answered_when_another_window_deletes_it() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    desk.turn("s1", "Hello", &["Hi"]);
    let loads = ["first", "second"].map(|id| {
        let params = json!({"sessionId": "s1", "cwd": CWD, "mcpServers": []});
        let line = json!({"jsonrpc": "2.0", "id": id, "method": "session/load", "params": params}).to_string();
        Arrival { peer: Peer::Client, content: Content::Line(line) }
    });
    // Nothing is shown yet: the client does not read.
    desk.engine.receive(loads);
    let mut other = Desk::ready(&store, &world, &json!({}));
    assert_eq!(other.ask("session/delete", json!({"sessionId": "s1"}))["result"], json!({}));
    let asks = json!({"sessionId": "s1", "toolCall": {"toolCallId": "t1"}, "options": []});
    let out = desk.agent(json!({"id": 0, "method": "session/request_permission", "params": asks}));
    for id in ["first", "second"] {
        assert_eq!(out.answer(id)["error"]["code"], -32002, "{id}");
    }
}

#[test]
fn a_session_is_deleted_though_it_was_forgotten_meanwhile_and_stays_away_when_its_agent_lists_it_again() {
    for mut capabilities in [deletes(), json!({"sessionCapabilities": {"list": {}}})] {
        let (store, world) = (Memory::new(), World::default());
        let listed = [row("o1", "Old", "2025-10-09T08:53:20Z")];
        capabilities["loadSession"] = true.into();
        let (mut desk, _) = connect(&store, &world, &capabilities, &listed);
        let out = ask_load(&mut desk, "load", "o1");
        let refused = desk.refuse(&out.request("session/load"), -32002);
        assert_eq!(refused.answer("load")["error"]["code"], -32002);
        assert!(desk.listed().is_empty(), "the agent said that there is none");
        let out = delete(&mut desk, "o1");
        assert_eq!(out.answer("delete")["result"], json!({}));
        let can_delete = capabilities["sessionCapabilities"]["delete"].is_object();
        assert_eq!(deleted_ids(&out).len(), usize::from(can_delete));
        let (mut desk, out) = connect(&store, &world, &capabilities, &listed);
        assert!(desk.listed().is_empty(), "{capabilities}");
        assert_eq!(out.asked("session/delete").is_some(), can_delete, "it is asked again");
        assert_eq!(load(&mut desk, "o1", TOLD).answer("load")["error"]["code"], -32002);
    }
}

#[test]
fn deleting_what_nobody_knows_again_and_again_takes_no_more_room() {
    let (store, world) = (Memory::new(), World::default());
    let (mut desk, _) = connect(&store, &world, &deletes(), &[]);
    let out = delete(&mut desk, "nobody's");
    desk.refuse(&out.request("session/delete"), -32002);
    let before = store.counts();
    for _ in 0..3 {
        assert_eq!(delete(&mut desk, "nobody's").answer("delete")["result"], json!({}));
    }
    assert_eq!(store.counts(), before);
}

#[test]
fn a_session_that_is_deleted_in_another_window_while_it_is_opened_for_the_first_time_is_not_opened() {
    for capabilities in [json!({"sessionCapabilities": {"resume": {}, "close": {}}}), json!({"loadSession": true})] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let out = ask_load(&mut desk, "load", "o1");
        let mut other = Desk::ready(&store, &world, &capabilities);
        assert_eq!(other.ask("session/delete", json!({"sessionId": "o1"}))["result"], json!({}));
        let out = oblige(&mut desk, out, TOLD, "never");
        assert_eq!(out.answer("load")["error"]["code"], -32002, "{capabilities}");
        assert!(desk.listed().is_empty(), "{capabilities}");
    }
}

#[test]
fn what_is_asked_of_a_session_that_the_agent_was_told_to_delete_for_another_window_is_refused() {
    for (method, more) in [
        ("session/prompt", json!({"prompt": [{"type": "text", "text": "Still there?"}]})),
        ("session/set_mode", json!({"modeId": "code"})),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::open(&store, &world, &[]);
        let list = desk.greet(Some("a"), &deletes()).request("session/list");
        let id = desk.new_session("s1", CWD);
        let (mut other, _) = connect(&store, &world, &json!({}), &[]);
        delete(&mut other, &id).answer("delete");
        let out = desk.reply(&list, json!({"sessions": [row("s1", "Made here", "2025-10-09T08:53:20Z")]}));
        assert_eq!(deleted_ids(&out), ["s1"]);
        let mut params = more;
        params["sessionId"] = id.into();
        let out = desk.client(json!({"id": "ask", "method": method, "params": params}));
        assert_eq!(out.answer("ask")["error"]["code"], -32002, "{method}");
        assert!(out.agent.is_empty(), "{method}: {:?}", out.agent);
    }
}

#[test]
fn what_its_agent_began_in_its_place_is_deleted_though_the_store_did_not_take_note_of_it() {
    let (store, world) = (Faulty::default(), World::default());
    let id = told(&store, &world, &deletes_only());
    let mut desk = Desk::ready(&store, &world, &deletes_only());
    let asked = ask_load(&mut desk, "load", &id).request("session/new");
    store.fail(0, usize::MAX, StorageError::ReadOnly);
    assert!(desk.reply(&asked, json!({"sessionId": "s2"})).answer("load")["error"].is_null());
    assert!(store.mend());
    let mut other = Desk::ready(&store, &world, &json!({}));
    other.client(json!({"id": "delete", "method": "session/delete", "params": {"sessionId": id}})).answer("delete");
    // What was to be written is tried again.
    desk.wait(60_000);
    assert!(ask_prompt(&mut desk, "on", &id, "On").answer("on")["error"].is_object());
    let mut desk = Desk::open(&store, &world, &[]);
    let mut out = desk.greet(Some("a"), &deletes_only());
    out.extend(desk.wait(0));
    let mut ids = deleted_ids(&out);
    ids.sort_unstable();
    assert_eq!(ids, ["s1", "s2"]);
}
