//! Sessions that an agent starts on behalf of another.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::scenes::{CWD, ask_load, ask_prompt, load, oblige, said};

fn resumes() -> Value {
    json!({"sessionCapabilities": {"resume": {}}})
}

/// A turn of `s1`, in which the agent announces `c1`, which says something.
fn delegates(desk: &mut Desk<'_>, prompt: &str, child: &str) {
    let out = ask_prompt(desk, "prompt", "s1", prompt);
    let asked = out.request("session/prompt");
    let announced = json!({"sessionUpdate": "subagent_update", "sessionId": "c1", "title": "Child"});
    let out = desk.agent(update("s1", announced));
    assert_eq!(out.client.len(), 1, "the client is told");
    let out = desk.agent(update("c1", chunk("agent_message_chunk", child)));
    assert_eq!(out.client[0]["params"]["sessionId"], "c1");
    desk.reply(&asked, json!({"stopReason": "end_turn"}));
}

/// The ids of all sessions, sub-agents' included.
fn everything(desk: &mut Desk<'_>) -> Vec<String> {
    let answer = desk.ask("session/list", json!({"_meta": {"acp-sessions": {"subagents": true}}}));
    let rows = answer["result"]["sessions"].as_array().unwrap().iter();
    let mut ids: Vec<String> = rows.map(|row| row["sessionId"].as_str().unwrap().to_owned()).collect();
    ids.sort_unstable();
    ids
}

fn delegated<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, &resumes());
    desk.new_session("s1", CWD);
    delegates(&mut desk, "Go", "First. ");
    desk
}

#[test]
fn a_sub_agents_session_is_recorded_and_listed_only_when_asked_for() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = delegated(&store, &world);
    assert_eq!(desk.listed(), ["s1"]);
    assert_eq!(everything(&mut desk), ["c1", "s1"]);
    desk.engine.peer_closed(Peer::Client);
    let mut desk = Desk::ready(&store, &world, &resumes());
    assert_eq!(said(&load(&mut desk, "c1", &[]).client), ["First. "]);
}

#[test]
fn a_sub_agent_that_is_announced_again_is_the_same_session() {
    for same_connection in [true, false] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = delegated(&store, &world);
        if !same_connection {
            desk.engine.peer_closed(Peer::Client);
            desk = Desk::ready(&store, &world, &resumes());
            load(&mut desk, "s1", &[]).answer("load");
        }
        delegates(&mut desk, "Go on", "Second.");
        assert_eq!(everything(&mut desk), ["c1", "s1"], "neither a twin nor a grave: {same_connection}");
        desk.engine.peer_closed(Peer::Client);
        let mut desk = Desk::ready(&store, &world, &resumes());
        let out = load(&mut desk, "c1", &[]);
        assert!(out.answer("load")["error"].is_null(), "{:?}", out.answer("load"));
        assert_eq!(said(&out.client), ["First. Second."], "same connection: {same_connection}");
    }
}

#[test]
fn a_sub_agent_whose_id_another_agent_has_taken_does_not_disturb_that_session() {
    let (store, world) = (Memory::new(), World::default());
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    other.new_session("c1", CWD);
    other.turn("c1", "Of b", &["Yes"]);
    other.engine.peer_closed(Peer::Client);
    let mut desk = Desk::ready(&store, &world, &resumes());
    desk.new_session("s1", CWD);
    let asked = ask_prompt(&mut desk, "prompt", "s1", "Go").request("session/prompt");
    let announced = json!({"sessionUpdate": "subagent_update", "sessionId": "c1", "title": "Child"});
    desk.agent(update("s1", announced));
    desk.agent(update("c1", chunk("agent_message_chunk", "Of a")));
    desk.reply(&asked, json!({"stopReason": "end_turn"}));
    desk.engine.peer_closed(Peer::Client);
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    assert_eq!(said(&load(&mut other, "c1", &[]).client), ["> Of b", "Yes"]);
}

#[test]
fn a_sub_agents_session_stays_as_long_as_its_parent() {
    let (store, world) = (Memory::new(), World::default());
    delegated(&store, &world).engine.peer_closed(Peer::Client);
    world.now.set(25 * 3_600_000);
    let mut desk = Desk::ready(&store, &world, &resumes());
    for _ in 0..10 {
        desk.wait(1000);
    }
    assert_eq!(everything(&mut desk), ["c1", "s1"]);
    assert_eq!(said(&load(&mut desk, "c1", &[]).client), ["First. "]);
}

#[test]
fn a_sub_agents_session_goes_with_its_parent() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = delegated(&store, &world);
    assert_eq!(desk.ask("session/delete", json!({"sessionId": "s1"}))["result"], json!({}));
    assert_eq!(everything(&mut desk), [""; 0]);
    let out = desk.agent(update("c1", chunk("agent_message_chunk", "late")));
    assert!(out.client.is_empty(), "{:?}", out.client);
    desk.engine.peer_closed(Peer::Client);
    let mut desk = Desk::ready(&store, &world, &resumes());
    assert_eq!(everything(&mut desk), [""; 0]);
}

#[test]
fn whoever_waits_for_a_sub_agents_session_is_answered_though_its_parent_closes() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"resume": {}, "close": {}}});
    delegated(&store, &world).engine.peer_closed(Peer::Client);
    for wants in ["a close", "a prompt"] {
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let out = ask_load(&mut desk, "load", "s1");
        oblige(&mut desk, out, &[], "s1");
        delegates(&mut desk, "Go", "First. ");
        let is_prompt = wants == "a prompt";
        let asked = is_prompt.then(|| ask_prompt(&mut desk, "child", "c1", "Go on").request("session/prompt"));
        let out = desk.client(json!({"id": "parent", "method": "session/close", "params": {"sessionId": "s1"}}));
        let parent = out.request("session/close");
        if !is_prompt {
            desk.client(json!({"id": "child", "method": "session/close", "params": {"sessionId": "c1"}}));
        }
        let mut out = desk.reply(&parent, json!({}));
        out.extend(match &asked {
            Some(asked) => desk.reply(asked, json!({"stopReason": "cancelled"})),
            None => desk.wait(0),
        });
        out.extend(desk.wait(200_000));
        assert!(out.answer("parent")["error"].is_null());
        assert!(out.answer("child")["error"].is_null(), "{wants}: {:?}", out.client);
    }
}

#[test]
fn whoever_waits_for_a_sub_agents_session_is_answered_though_its_parent_is_deleted() {
    for method in ["session/resume", "session/close"] {
        let (store, world) = (Memory::new(), World::default());
        delegated(&store, &world).engine.peer_closed(Peer::Client);
        let capabilities = json!({"sessionCapabilities": {"resume": {}, "close": {}}});
        let mut desk = Desk::ready(&store, &world, &capabilities);
        if method == "session/close" {
            load(&mut desk, "c1", &[]).answer("load");
        }
        let params = json!({"sessionId": "c1", "cwd": CWD});
        let mut out = desk.client(json!({"id": "waits", "method": method, "params": params}));
        let asked = out.request(method);
        let delete = json!({"id": "delete", "method": "session/delete", "params": {"sessionId": "s1"}});
        out.extend(desk.client(delete));
        out.extend(desk.reply(&asked, json!({})));
        assert_eq!(out.answer("delete")["result"], json!({}), "{method}");
        assert_eq!(out.answer("waits")["error"]["code"], -32002, "{method}");
        assert!(everything(&mut desk).is_empty());
    }
}

#[test]
fn a_sub_agents_session_ends_with_its_parent_also_when_the_instance_was_lost_meanwhile() {
    let (store, world) = (Memory::new(), World::default());
    let desk = delegated(&store, &world);
    assert!(desk.memos.contains_key("s/c1"), "{:?}", desk.memos);
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    desk.pull();
    desk.ask("session/close", json!({"sessionId": "s1"}));
    assert_eq!(desk.memos.keys().collect::<Vec<_>>(), ["agent", "client"], "neither is open any more");
}
