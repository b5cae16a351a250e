//! The agent ends again before it is what the one before it was, and instances are lost meanwhile.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::scenes::{CWD, account, ask_prompt, asked, leave, load, oblige, said, says};

fn resumes() -> Value {
    json!({"sessionCapabilities": {"resume": {}}})
}

fn introduces() -> Value {
    json!({"protocolVersion": 1, "agentInfo": {"name": "a", "version": "1"}, "agentCapabilities": resumes()})
}

/// A session `s1` of one turn with an agent that resumes, which has then ended.
fn spoken<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, &resumes());
    desk.new_session("s1", CWD);
    desk.turn("s1", "Hello", &["Hi"]);
    desk
}

#[test]
fn while_it_is_initialized_once_more_whoever_waits_goes_on_waiting() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = spoken(&store, &world);
    let first = desk.restart().request("initialize");
    assert!(ask_prompt(&mut desk, "one", "s1", "One").client.is_empty());
    assert!(desk.client(json!({"id": "list", "method": "session/list", "params": {}})).client.is_empty());
    let second = desk.restart();
    assert!(second.client.is_empty(), "{:?}", second.client);
    assert!(desk.reply(&first, introduces()).client.is_empty(), "that one is gone");
    let out = desk.reply(&second.request("initialize"), introduces());
    assert_eq!(out.answer("list")["result"]["sessions"][0]["sessionId"], "s1");
    let out = oblige(&mut desk, out, &[], "fresh");
    assert_eq!(out.answer("one")["result"]["stopReason"], "end_turn");
    assert_eq!(said(&load(&mut desk, "s1", &[]).client), ["> Hello", "Hi", "> One"]);
}

#[test]
fn while_a_session_is_attached_what_waits_for_that_fails() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = spoken(&store, &world);
    desk.revive(&resumes());
    for round in ["one", "two"] {
        ask_prompt(&mut desk, round, "s1", round).request("session/resume");
        let out = desk.revive(&resumes());
        assert_eq!(out.answer(round)["error"]["code"], -32603);
        assert_eq!(out.agent.len(), 1, "{:?}", out.agent);
    }
    let out = ask_prompt(&mut desk, "three", "s1", "three");
    let out = oblige(&mut desk, out, &[], "fresh");
    assert_eq!(out.answer("three")["result"]["stopReason"], "end_turn");
    let told = said(&load(&mut desk, "s1", &[]).client);
    assert_eq!(
        told,
        ["> Hello", "Hi", "> onetwothree"],
        "what the user has said is kept, as where the agent fails itself"
    );
}

#[test]
fn an_agent_that_refuses_to_be_initialized_is_asked_again_when_it_is_needed() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = spoken(&store, &world);
    let asked = desk.restart().request("initialize");
    ask_prompt(&mut desk, "one", "s1", "One");
    let out = desk.refuse(&asked, -32000);
    assert_eq!(out.answer("one")["error"]["code"], -32000);
    assert!(out.agent.is_empty());
    assert_eq!(desk.warnings.len(), 0, "{:?}", desk.warnings);
    let out = ask_prompt(&mut desk, "two", "s1", "Two");
    let out = desk.reply(&out.request("initialize"), introduces());
    let out = oblige(&mut desk, out, &[], "fresh");
    assert_eq!(out.answer("two")["result"]["stopReason"], "end_turn");
}

#[test]
fn nobody_waits_for_ever_for_one_that_is_silent() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = spoken(&store, &world);
    let asked = desk.restart().request("initialize");
    desk.wait(200_000);
    assert!(ask_prompt(&mut desk, "one", "s1", "One").client.is_empty());
    assert!(desk.wait_awake(119_000).is_open("one"), "it has waited for less than the time");
    assert_eq!(desk.wait(2000).answer("one")["error"]["code"], -32603);
    assert!(!desk.engine.has_held());
    let out = desk.reply(&asked, introduces());
    assert!(out.client.is_empty());
    let out = ask_prompt(&mut desk, "two", "s1", "Two");
    assert_eq!(oblige(&mut desk, out, &[], "fresh").answer("two")["result"]["stopReason"], "end_turn");
}

#[test]
fn an_agent_that_can_do_other_things_is_taken_as_it_is() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = spoken(&store, &world);
    desk.revive(&json!({"loadSession": true}));
    assert_eq!(desk.warnings.len(), 1, "{:?}", desk.warnings);
    let out = ask_prompt(&mut desk, "one", "s1", "One");
    assert!(out.asked("session/resume").is_none());
    out.request("session/load");
}

/// The instance is lost, and another carries on.
fn lose<'a>(store: &'a Memory, world: &'a World, desk: Desk<'a>) -> (Desk<'a>, Out) {
    let mut desk = Desk::carry_on(store, world, &[], desk.memos, Vec::new());
    let out = desk.pull();
    (desk, out)
}

#[test]
fn an_instance_that_is_lost_meanwhile_is_carried_on_from() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = spoken(&store, &world);
    let asked = desk.restart().request("initialize");
    ask_prompt(&mut desk, "one", "s1", "One");
    let (mut desk, out) = lose(&store, &world, desk);
    assert_eq!(out.answer("one")["error"]["code"], -32603, "it was waiting in the instance");
    assert!(ask_prompt(&mut desk, "two", "s1", "Two").client.is_empty(), "it is not initialized yet");
    let out = desk.reply(&asked, introduces());
    out.request("session/resume");
    let (mut desk, out) = lose(&store, &world, desk);
    assert_eq!(out.answer("two")["error"]["code"], -32603);
    let out = ask_prompt(&mut desk, "three", "s1", "Three");
    assert_eq!(out.request("session/resume")["params"]["mcpServers"], json!([]), "it is still to be attached");
    let out = oblige(&mut desk, out, &[], "fresh");
    assert_eq!(out.answer("three")["result"]["stopReason"], "end_turn");
    let (mut desk, _) = lose(&store, &world, desk);
    ask_prompt(&mut desk, "four", "s1", "Four").request("session/prompt");
    let late = desk.client(json!({"id": 5, "result": {}}));
    assert!(late.agent.is_empty(), "whose requests are whose is known still");
}

#[test]
fn an_instance_that_is_lost_as_it_is_told_of_it_is_told_again() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = asked(&store, &world);
    desk.agent(says("Half"));
    desk.wait(500);
    let memos = desk.memos.clone();
    desk.engine.agent_restarted("exit status: 1");
    let mut desk = Desk::carry_on(&store, &world, &[], memos, Vec::new());
    let out = desk.revive(&json!({}));
    assert_eq!(out.answer("turn")["error"]["code"], -32603);
    let out = ask_prompt(&mut desk, "next", "s1", "On");
    let out = desk.reply(&out.request("session/new"), json!({"sessionId": "s2"}));
    assert!(account(&out).unwrap().contains("Half"));
    desk.agent(crate::scenes::answers("next"));
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert_eq!(said(&load(&mut desk, "s1", &[]).client), ["> Go", "Half", "> On"]);
}
