//! Agents that hand out an id again that was another session's.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, ask_fork, ask_load, ask_prompt, ask_resume, leave, lines, listing, load, oblige, row, said, told,
};

fn kinds() -> [Value; 3] {
    [json!({}), json!({"loadSession": true}), json!({"sessionCapabilities": {"resume": {}, "fork": {}}})]
}

/// A session of two turns, and one that the agent has given the same id since; the ids of both.
fn twins<'a>(store: &'a Memory, world: &'a World, capabilities: &Value) -> (Desk<'a>, String, String) {
    let older = told(store, world, capabilities);
    let mut desk = Desk::ready(store, world, capabilities);
    let newer = desk.new_session("s1", CWD);
    assert_ne!(older, newer);
    (desk, older, newer)
}

#[test]
fn what_an_agent_says_in_a_turn_stays_with_its_session_while_another_is_opened_that_had_the_id_before() {
    for capabilities in kinds() {
        let (store, world) = (Memory::new(), World::default());
        let (mut desk, older, newer) = twins(&store, &world, &capabilities);
        ask_prompt(&mut desk, "prompt", &newer, "Hello");
        let opening = ask_load(&mut desk, "load", &older);
        let out = desk.agent(update("s1", chunk("agent_message_chunk", "Hi")));
        assert_eq!(out.client[0]["params"]["sessionId"], newer.as_str(), "{capabilities}");
        desk.agent(json!({"id": "prompt", "result": {"stopReason": "end_turn"}}));
        let out = oblige(&mut desk, opening, TOLD, "s2");
        assert!(out.answer("load")["error"].is_null());
        let out = desk.turn(&newer, "Still there?", &["Yes"]);
        assert!(out.answer("turn")["error"].is_null());
        let whole = lines(&[&[("Hello", "Hi"), ("Still there?", "Yes")]]);
        assert_eq!(said(&load(&mut desk, &newer, &[]).client), whole, "{capabilities}");
    }
}

#[test]
fn an_agent_is_not_asked_for_a_session_by_an_id_that_is_another_ones_by_now() {
    for capabilities in kinds() {
        let (store, world) = (Memory::new(), World::default());
        let (mut desk, older, newer) = twins(&store, &world, &capabilities);
        let out = ask_load(&mut desk, "load", &older);
        out.request("session/new");
        for method in ["session/load", "session/resume"] {
            assert!(out.asked(method).is_none(), "{method}: {capabilities}");
        }
        let out = oblige(&mut desk, out, &[("Not", "this")], "s2");
        assert_eq!(said(&out.client), lines(&[TOLD]), "{capabilities}");
        let fork = json!({"id": "fork", "method": "session/fork", "params": {"sessionId": newer, "cwd": CWD}});
        let can_fork = capabilities["sessionCapabilities"]["fork"].is_object();
        assert_eq!(desk.client(fork).asked("session/fork").is_some(), can_fork, "the newer one has it still");
    }
}

#[test]
fn a_session_that_its_agent_has_no_more_takes_no_id_with_it_that_is_another_ones_by_now() {
    let (store, world) = (Memory::new(), World::default());
    listing(&store, &world, "a", &json!({}), &[row("s1", "Of old", "2025-10-09T08:53:20Z")]);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let newer = desk.new_session("s1", CWD);
    desk.turn(&newer, "Hello", &["Hi"]);
    desk.ask("session/close", json!({"sessionId": newer}));
    let out = ask_load(&mut desk, "load", "s1");
    let out = desk.refuse(&out.request("session/new"), -32002);
    assert_eq!(out.answer("load")["error"]["code"], -32002);
    assert_eq!(desk.listed(), [newer.as_str()], "nothing was left of the other");
    let named = json!({"sessionUpdate": "session_info_update", "title": "Greetings"});
    let out = desk.agent(update("s1", named));
    assert_eq!(out.client[0]["params"]["sessionId"], newer.as_str());
    let list = desk.ask("session/list", json!({}));
    assert_eq!(list["result"]["sessions"][0]["title"], "Greetings");
}

#[test]
fn deleting_a_session_does_not_have_the_agent_delete_the_one_that_has_its_id_by_now() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"delete": {}}});
    let (mut desk, older, newer) = twins(&store, &world, &capabilities);
    let delete = |id: &str| json!({"id": id, "method": "session/delete", "params": {"sessionId": id}});
    assert!(desk.client(delete(&older)).asked("session/delete").is_none());
    desk.turn(&newer, "Still there?", &["Yes"]);
    assert_eq!(desk.listed(), [newer.as_str()]);
    let out = desk.client(delete(&newer));
    assert_eq!(out.request("session/delete")["params"]["sessionId"], "s1");
}

#[test]
fn a_session_that_has_the_id_of_a_deleted_one_is_not_deleted_at_its_agent_for_that() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"delete": {}}});
    let deleted = told(&store, &world, &capabilities);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    desk.client(json!({"id": 1, "method": "session/delete", "params": {"sessionId": deleted}}))
        .request("session/delete");
    let newer = desk.new_session("s1", CWD);
    desk.turn(&newer, "Hello", &["Hi"]);
    let mut desk = Desk::open(&store, &world, &[]);
    let mut out = desk.greet(Some("a"), &json!({"sessionCapabilities": {"delete": {}, "list": {}}}));
    let list = out.request("session/list");
    out.extend(desk.reply(&list, json!({"sessions": [row("s1", "Greetings", "2025-10-09T08:53:20Z")]})));
    out.extend(desk.wait(0));
    assert!(out.asked("session/delete").is_none(), "{:?}", out.agent);
    let rows = desk.ask("session/list", json!({}))["result"]["sessions"].clone();
    assert_eq!((&rows[0]["sessionId"], &rows[0]["title"]), (&json!(newer), &json!("Greetings")));
    desk.agent(update("s1", json!({"sessionUpdate": "session_info_update", "title": "Welcome"})));
    assert_eq!(desk.ask("session/list", json!({}))["result"]["sessions"][0]["title"], "Welcome");
}

#[test]
fn what_is_open_is_deleted_at_its_agent_though_another_window_was_given_the_same_id() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"delete": {}}});
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let older = desk.new_session("s1", CWD);
    let newer = Desk::ready(&store, &world, &capabilities).new_session("s1", CWD);
    let out = desk.client(json!({"id": 1, "method": "session/delete", "params": {"sessionId": older}}));
    assert_eq!(out.request("session/delete")["params"]["sessionId"], "s1");
    assert_eq!(desk.listed(), [newer.as_str()]);
}

#[test]
fn what_is_open_keeps_its_id_when_a_session_is_opened_to_which_another_program_of_the_name_gave_the_same() {
    for capabilities in kinds() {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let ours = desk.new_session("s1", CWD);
        let theirs = Desk::ready(&store, &world, &json!({})).new_session("s1", CWD);
        let opening = ask_load(&mut desk, "load", &theirs);
        opening.request("session/new");
        let prompt = ask_prompt(&mut desk, "prompt", &ours, "Hello").request("session/prompt");
        let out = desk.agent(update("s1", chunk("agent_message_chunk", "Hi")));
        assert_eq!(out.client[0]["params"]["sessionId"], ours.as_str(), "{capabilities}");
        desk.reply(&prompt, json!({"stopReason": "end_turn"}));
        assert!(oblige(&mut desk, opening, &[], "s2").answer("load")["error"].is_null());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        assert_eq!(said(&load(&mut desk, &ours, &[]).client), lines(&[&[("Hello", "Hi")]]), "{capabilities}");
    }
}

#[test]
fn what_is_being_made_for_a_fork_is_not_opened_by_its_agents_id_meanwhile() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let id = desk.new_session("s1", CWD);
    desk.turn(&id, "Hi", &["Ho"]);
    desk.agent(update("s1", json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"})));
    let params = json!({"sessionId": id, "cwd": CWD});
    let out = desk.client(json!({"id": "fork", "method": "session/fork", "params": params}));
    let out = desk.reply(&out.request("session/new"), json!({"sessionId": "s2"}));
    let mode = out.request("session/set_mode");
    let resumed = ask_resume(&mut desk, "resume", "s2");
    assert_eq!(resumed.answer("resume")["error"]["code"], -32002);
    assert!(resumed.agent.is_empty(), "{:?}", resumed.agent);
    assert_eq!(desk.reply(&mode, json!({})).answer("fork")["result"]["sessionId"], "s2");
}

#[test]
fn a_session_whose_id_a_fork_had_for_a_while_goes_when_its_agent_has_it_no_more() {
    let (store, world) = (Memory::new(), World::default());
    let old = row("s1", "Of old", "2025-10-09T08:53:20Z");
    leave(listing(&store, &world, "a", &json!({}), &[old]));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let asked = ask_fork(&mut desk, "s1").request("session/new");
    let out = desk.reply(&asked, json!({"sessionId": "s1"}));
    let fork = out.answer("fork")["result"]["sessionId"].clone();
    desk.ask("session/close", json!({"sessionId": fork}));
    leave(desk);
    // First the fork, of which nothing is here; with it the id is the first one's again.
    for left in [&["s1"][..], &[]] {
        let desk = listing(&store, &world, "a", &json!({}), &[]);
        leave(desk);
        let mut desk = Desk::ready(&store, &world, &json!({}));
        assert_eq!(desk.listed(), left);
        leave(desk);
    }
}

#[test]
fn the_id_of_a_session_that_its_agent_lists_no_more_is_free_for_another_agents_new_one() {
    let (store, world) = (Memory::new(), World::default());
    let old = row("s1", "Of old", "2025-10-09T08:53:20Z");
    for (rows, is_free) in [(&[old][..], false), (&[], true)] {
        leave(listing(&store, &world, "a", &json!({}), rows));
        let mut desk = Desk::open(&store, &world, &[]);
        desk.greet(Some("b"), &json!({}));
        assert_eq!(desk.new_session("s1", CWD) == "s1", is_free);
        leave(desk);
    }
}
