//! A session that its agent could not open has another of the agent's stand in for it.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World};
use crate::scenes::{CWD, ask_load, leave, listing, oblige, row};

const LONG_AGO: &str = "2025-01-01T00:00:00Z";

/// The agent that has `o1`, and opens it by beginning `s2`.
fn stood_in<'a>(store: &'a Memory, world: &'a World, capabilities: &Value) -> Desk<'a> {
    let mut desk = listing(store, world, "a", capabilities, &[row("o1", "One", LONG_AGO)]);
    let out = ask_load(&mut desk, "load", "o1");
    let out = oblige(&mut desk, out, &[], "s2");
    assert!(out.answer("load")["error"].is_null());
    desk
}

#[test]
fn a_session_is_not_forgotten_because_the_agent_has_the_one_no_more_that_stood_in_for_it() {
    let (store, world) = (Memory::new(), World::default());
    leave(stood_in(&store, &world, &json!({})));
    let mut desk = listing(&store, &world, "a", &json!({}), &[row("o1", "One", LONG_AGO)]);
    assert_eq!(desk.listed(), ["o1"], "its history is still with the agent");
    let mut desk = listing(&store, &world, "a", &json!({}), &[]);
    assert!(desk.listed().is_empty(), "now the agent has it no more");
}

#[test]
fn a_session_is_not_forgotten_because_the_agent_refuses_to_begin_one_that_would_stand_in_for_it() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &json!({}), &[row("o1", "One", LONG_AGO)]);
    let asked = ask_load(&mut desk, "load", "o1").request("session/new");
    assert_eq!(desk.refuse(&asked, -32002).answer("load")["error"]["code"], -32002);
    assert_eq!(desk.listed(), ["o1"]);
}

#[test]
fn a_session_that_was_made_in_vain_and_is_being_deleted_cannot_be_opened() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"resume": {}, "delete": {}}});
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let id = desk.new_session("s1", CWD);
    let params = json!({"sessionId": id, "cwd": CWD});
    let asked = desk.client(json!({"id": "fork", "method": "session/fork", "params": params})).request("session/new");
    desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "fork"}})).answer("fork");
    let out = desk.reply(&asked, json!({"sessionId": "s2"}));
    assert_eq!(out.request("session/delete")["params"]["sessionId"], "s2");
    let out = ask_load(&mut desk, "load", "s2");
    assert_eq!(out.answer("load")["error"]["code"], -32002);
    assert!(out.agent.is_empty(), "{:?}", out.agent);
}
