//! An agent that goes on, and has lost a session which is open here: it is made to open it again when that is next used.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::scenes::{CWD, TOLD, account, ask_load, ask_prompt, leave, lines, load, mark, oblige, said};

/// How agents say that they do not have the session `s1`.
fn refusals() -> [Value; 4] {
    [
        json!({"code": -32002, "message": "Resource not found", "data": {"sessionId": "s1"}}),
        json!({"code": -32002, "message": "Resource not found", "data": {"uri": "s1"}}),
        json!({"code": -32002, "message": "no such session"}),
        json!({"code": -32002, "message": "Resource not found: s1"}),
    ]
}

fn capabilities() -> [(Value, &'static str); 3] {
    [
        (json!({"loadSession": true}), "session/load"),
        (json!({"sessionCapabilities": {"resume": {}}}), "session/resume"),
        (json!({}), "session/new"),
    ]
}

/// A session with two turns, open at its agent.
fn at_work<'a>(store: &'a Memory, world: &'a World, can: &Value) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, can);
    desk.new_session("s1", CWD);
    for (user, agent) in TOLD {
        desk.turn("s1", user, &[agent]);
    }
    desk
}

fn refused(desk: &mut Desk<'_>, asked: &Out, method: &str, error: &Value) -> Out {
    desk.agent(json!({"id": asked.request(method)["id"], "error": error}))
}

#[test]
fn a_prompt_behind_one_that_was_refused_so_goes_on_with_the_session() {
    for (can, opens) in capabilities() {
        for error in refusals() {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = at_work(&store, &world, &can);
            let asked = ask_prompt(&mut desk, "one", "s1", "One");
            assert_eq!(refused(&mut desk, &asked, "session/prompt", &error).answer("one")["error"]["code"], -32002);
            let out = ask_prompt(&mut desk, "two", "s1", "Two");
            assert_eq!(out.request(opens)["params"]["cwd"], CWD, "{error}");
            let out = oblige(&mut desk, out, TOLD, "fresh");
            assert_eq!(out.answer("two")["result"]["stopReason"], "end_turn");
            // What it has refused it has not heard.
            assert!(account(&out).unwrap().contains("One"), "{opens} {error}");
            assert!(said(&out.client).is_empty(), "the client has it all");
            let again = ask_prompt(&mut desk, "three", "s1", "Three");
            again.request("session/prompt");
            oblige(&mut desk, again, TOLD, "other");
            leave(desk);
            let mut desk = Desk::ready(&store, &world, &json!({}));
            let shown = said(&load(&mut desk, "s1", &[]).client);
            assert_eq!(shown, [lines(&[TOLD]), vec!["> OneTwoThree".to_owned()]].concat(), "{opens} {error}");
        }
    }
}

#[test]
fn a_load_behind_it_has_the_agent_open_the_session() {
    for (can, opens) in capabilities() {
        for (method, more) in
            [("session/prompt", ("prompt", json!([]))), ("session/set_mode", ("modeId", json!("code")))]
        {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = at_work(&store, &world, &can);
            let asked =
                desk.client(json!({"id": "one", "method": method, "params": {"sessionId": "s1", more.0: more.1}}));
            refused(&mut desk, &asked, method, &refusals()[0]);
            let out = ask_load(&mut desk, "load", "s1");
            out.request(opens);
            let out = oblige(&mut desk, out, TOLD, "fresh");
            assert_eq!(said(&out.client), lines(&[TOLD]), "{opens} {method}");
            assert_ne!(mark(&out, "load")["attached"], "live");
        }
    }
}

#[test]
fn one_of_several_prompts_that_is_refused_so_leaves_the_others_where_they_are() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = at_work(&store, &world, &json!({"loadSession": true}));
    let [one, two] = ["One", "Two"].map(|text| ask_prompt(&mut desk, text, "s1", text));
    refused(&mut desk, &one, "session/prompt", &refusals()[0]);
    let mode = json!({"sessionId": "s1", "modeId": "code"});
    let asked = desk.client(json!({"id": "mode", "method": "session/set_mode", "params": mode}));
    refused(&mut desk, &asked, "session/set_mode", &refusals()[0]);
    assert_eq!(
        desk.reply(&two.request("session/prompt"), json!({"stopReason": "end_turn"})).answer("Two")["error"],
        Value::Null
    );
    ask_prompt(&mut desk, "three", "s1", "Three").request("session/prompt");
}

#[test]
fn an_agent_that_lacks_a_file_has_the_session() {
    for error in [
        json!({"code": -32002, "message": "Resource not found", "data": {"uri": "file:///s1"}}),
        json!({"code": -32002, "message": "Resource not found"}),
        json!({"code": -32002, "message": "Resource not found: /work/s1"}),
        json!({"code": -32603, "message": "Internal error", "data": {"sessionId": "s1"}}),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = at_work(&store, &world, &json!({"loadSession": true}));
        let asked = ask_prompt(&mut desk, "one", "s1", "One");
        refused(&mut desk, &asked, "session/prompt", &error);
        ask_prompt(&mut desk, "two", "s1", "Two").request("session/prompt");
    }
}

#[test]
fn where_the_agent_does_not_find_it_either_the_next_prompt_asks_again() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = at_work(&store, &world, &json!({"loadSession": true}));
    let asked = ask_prompt(&mut desk, "one", "s1", "One");
    refused(&mut desk, &asked, "session/prompt", &refusals()[0]);
    let asked = ask_prompt(&mut desk, "two", "s1", "Two");
    let out = refused(&mut desk, &asked, "session/load", &refusals()[0]);
    // It is begun anew, as for any agent that has lost a conversation of ours.
    let out = oblige(&mut desk, out, &[], "fresh");
    assert_eq!(out.answer("two")["result"]["stopReason"], "end_turn");
    let account = account(&out).unwrap();
    assert!(account.contains("First question") && account.contains("One"), "{account}");
}
