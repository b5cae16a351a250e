//! Forks of sessions that only the agent knows: neither listed by it nor in the store.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{CWD, Turns, ask_fork, leave, lines, listing, load, replay, row, said, updates};

const OLD: Turns<'static> = &[("Old question", "Old answer"), ("Go on", "Yes")];
const NEW: Turns<'static> = &[("New question", "New answer")];

fn forks() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"fork": {}, "delete": {}}})
}

/// When an agent replays what its fork begins with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Replays {
    Before,
    Behind,
    Never,
}

/// The agent is asked for a fork of what nobody knows here.
fn asked(desk: &mut Desk<'_>) -> Value {
    let asked = ask_fork(desk, "o1").request("session/fork");
    assert_eq!(asked["params"], json!({"sessionId": "o1", "cwd": CWD}));
    asked
}

/// The same in a window of its own; the agent has replayed what the fork begins with, and has not answered.
fn begun<'a>(store: &'a Memory, world: &'a World) -> (Desk<'a>, Value) {
    let mut desk = Desk::ready(store, world, &forks());
    let request = asked(&mut desk);
    replay(&mut desk, "f1", OLD);
    (desk, request)
}

/// The id of a fork that the client was given.
fn named(out: &Out) -> String {
    let answer = out.answer("fork");
    answer["result"]["sessionId"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

#[test]
fn the_agent_forks_it_and_what_it_replays_is_kept() {
    for replays in [Replays::Before, Replays::Behind, Replays::Never] {
        for is_gone_on_with in [false, true] {
            let case = format!("{replays:?}, gone on with: {is_gone_on_with}");
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = Desk::ready(&store, &world, &forks());
            let request = asked(&mut desk);
            if replays == Replays::Before {
                let out = replay(&mut desk, "f1", OLD);
                assert!(out.client.is_empty(), "the client does not know it yet, {case}: {:?}", out.client);
            }
            let fork = named(&desk.reply(&request, json!({"sessionId": "f1"})));
            assert_eq!(fork, "f1");
            if replays == Replays::Behind {
                replay(&mut desk, "f1", OLD);
            }
            let known = if is_gone_on_with {
                let out = desk.turn(&fork, NEW[0].0, &[NEW[0].1]);
                let prompt = out.request("session/prompt")["params"]["prompt"].clone();
                assert_eq!(prompt.as_array().unwrap().len(), 1, "the agent knows what was said, {case}");
                [OLD, NEW].concat()
            } else {
                OLD.to_vec()
            };
            let expected = lines(&[&known]);
            let list = desk.ask("session/list", json!({}))["result"]["sessions"].clone();
            assert_eq!((&list[0]["sessionId"], &list[0]["cwd"], &list[1]), (&json!("f1"), &json!(CWD), &Value::Null));
            leave(desk);
            for time in ["once", "again"] {
                world.now.set(world.now.get() + 60_000);
                let mut desk = Desk::ready(&store, &world, &forks());
                assert_eq!(said(&load(&mut desk, &fork, &known).client), expected, "{time}, {case}");
                leave(desk);
            }
        }
    }
}

#[test]
fn what_the_agent_says_of_its_state_meanwhile_is_told_behind_the_answer() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &forks());
    let request = asked(&mut desk);
    let commands = json!([{"name": "go", "description": "d"}]);
    desk.agent(update("f1", json!({"sessionUpdate": "available_commands_update", "availableCommands": commands})));
    desk.agent(update("f1", json!({"sessionUpdate": "session_info_update", "title": "Theirs"})));
    let modes = json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}]});
    let out = desk.reply(&request, json!({"sessionId": "f1", "modes": modes}));
    assert_eq!(out.client[0]["id"], "fork");
    assert_eq!(out.answer("fork")["result"]["modes"], modes);
    assert_eq!(updates(&out, "available_commands_update").len(), 1);
    let list = desk.ask("session/list", json!({}))["result"]["sessions"].clone();
    assert_eq!(list[0]["title"], "Theirs");
}

#[test]
fn an_agent_that_refuses_is_quoted_and_nothing_is_kept() {
    for code in [-32002, -32000, -32603] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &forks());
        let counts = store.counts();
        let request = asked(&mut desk);
        replay(&mut desk, "f1", OLD);
        let out = desk.refuse(&request, code);
        let error = &out.answer("fork")["error"];
        assert_eq!((&error["code"], &error["message"]), (&json!(code), &json!("the agent refuses")));
        assert_eq!(desk.listed(), [""; 0]);
        desk.wait(500);
        leave(desk);
        assert_eq!(store.counts(), counts);
    }
}

#[test]
fn an_answer_that_names_no_session_is_an_error() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &forks());
    let request = asked(&mut desk);
    let out = desk.reply(&request, json!({}));
    assert_eq!(out.answer("fork")["error"]["code"], -32603);
    assert_eq!(desk.listed(), [""; 0]);
}

#[test]
fn an_agent_that_cannot_fork_is_not_asked() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
    let out = ask_fork(&mut desk, "o1");
    assert_eq!(out.answer("fork")["error"]["code"], -32002);
    assert!(out.agent.is_empty(), "{:?}", out.agent);
}

#[test]
fn an_agent_that_forks_and_opens_nothing_again_is_asked_too() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"fork": {}}}));
    let request = asked(&mut desk);
    replay(&mut desk, "f1", OLD);
    assert_eq!(named(&desk.reply(&request, json!({"sessionId": "f1"}))), "f1");
    assert_eq!(said(&load(&mut desk, "f1", &[]).client), lines(&[OLD]));
}

#[test]
fn what_was_deleted_here_is_not_forked() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = listing(&store, &world, "a", &forks(), &[row("o1", "Old", "2025-01-01T00:00:00Z")]);
    let deleted = desk.client(json!({"id": "delete", "method": "session/delete", "params": {"sessionId": "o1"}}));
    deleted.answer("delete");
    let out = ask_fork(&mut desk, "o1");
    assert_eq!(out.answer("fork")["error"]["code"], -32002);
    assert_eq!(out.asked("session/fork"), None);
}

#[test]
fn where_the_id_that_the_agent_gives_it_is_anothers_it_has_one_of_its_own() {
    for is_deleted in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::open(&store, &world, &[]);
        desk.greet(Some("b"), &json!({}));
        desk.new_session("f1", CWD);
        desk.turn("f1", "Another", &["Yes"]);
        if is_deleted {
            desk.ask("session/delete", json!({"sessionId": "f1"}));
        }
        leave(desk);
        let (mut desk, request) = begun(&store, &world);
        let fork = named(&desk.reply(&request, json!({"sessionId": "f1"})));
        assert_ne!(fork, "f1");
        let out = desk.turn(&fork, NEW[0].0, &[NEW[0].1]);
        assert_eq!(out.request("session/prompt")["params"]["sessionId"], "f1");
        leave(desk);
        let mut desk = Desk::ready(&store, &world, &forks());
        assert_eq!(said(&load(&mut desk, &fork, &[OLD, NEW].concat()).client), lines(&[OLD, NEW]));
    }
}

#[test]
fn a_fork_is_one_session_though_the_agents_list_is_read_before_it_is_answered() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut desk, request) = begun(&store, &world);
    let mut other = listing(&store, &world, "a", &json!({}), &[row("f1", "Fork", "2025-01-01T00:00:00Z")]);
    assert_eq!(other.listed(), ["f1"]);
    assert_eq!(named(&desk.reply(&request, json!({"sessionId": "f1"}))), "f1");
    assert_eq!(other.listed(), ["f1"]);
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &forks());
    assert_eq!(said(&load(&mut desk, "f1", OLD).client), lines(&[OLD]));
}

#[test]
fn where_a_client_takes_it_back_the_agent_lets_go_of_it_and_nothing_is_kept() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut desk, request) = begun(&store, &world);
    let out = desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "fork"}}));
    assert_eq!(out.answer("fork")["error"]["code"], -32800);
    let out = desk.reply(&request, json!({"sessionId": "f1"}));
    assert_eq!(out.request("session/delete")["params"]["sessionId"], "f1");
    desk.agent(update("f1", chunk("agent_message_chunk", "Late")));
    assert_eq!(desk.listed(), [""; 0]);
}

#[test]
fn a_fork_of_an_unknown_session_can_be_forked_once_more() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut desk, request) = begun(&store, &world);
    desk.reply(&request, json!({"sessionId": "f1"})).answer("fork");
    let request = ask_fork(&mut desk, "f1").request("session/fork");
    replay(&mut desk, "f2", OLD);
    assert_eq!(named(&desk.reply(&request, json!({"sessionId": "f2"}))), "f2");
    assert_eq!(said(&load(&mut desk, "f2", OLD).client), lines(&[OLD]));
}
