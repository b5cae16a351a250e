//! Forks and new sessions: what the agent replays by itself, and answers that name no session.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, Turns, ask_fork, ask_load, ask_prompt, leave, lines, listing, load, replay, row, said, told,
};

const OLD: Turns<'static> = &[("Old question", "Old answer")];

fn forks() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"fork": {}}})
}

fn commands(name: &str) -> Value {
    let commands = json!([{"name": name, "description": "d"}]);
    json!({"sessionUpdate": "available_commands_update", "availableCommands": commands})
}

/// How often the client is told of these commands.
fn told_of(out: &Out, name: &str) -> usize {
    let updates = out.client.iter().map(|message| &message["params"]["update"]["availableCommands"]);
    updates.filter(|commands| commands[0]["name"] == name).count()
}

#[test]
fn what_an_agent_replays_on_its_own_fork_is_not_recorded_again_but_its_state_counts() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &forks());
    let mut desk = Desk::ready(&store, &world, &forks());
    let asked = ask_fork(&mut desk, &id).request("session/fork");
    replay(&mut desk, "f1", TOLD);
    desk.agent(update("f1", commands("go")));
    let out = desk.reply(&asked, json!({"sessionId": "f1"}));
    let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    for time in ["on this connection", "on the next"] {
        let out = load(&mut desk, &fork, TOLD);
        assert_eq!(said(&out.client), lines(&[TOLD]), "{time}");
        assert_eq!(told_of(&out, "go"), 1, "{time}");
        desk = Desk::ready(&store, &world, &forks());
    }
    assert_eq!(said(&load(&mut desk, &id, TOLD).client), lines(&[TOLD]), "the parent is as it was");
}

#[test]
fn what_an_agent_replays_on_a_fork_of_its_own_old_session_is_not_lost() {
    let (store, world) = (Memory::new(), World::default());
    let rows = [row("o1", "Old", "2025-01-01T00:00:00Z")];
    let mut desk = listing(&store, &world, "a", &forks(), &rows);
    let mut out = ask_fork(&mut desk, "o1");
    // It may be asked for the parent's history first.
    if let Some(parent) = out.asked("session/load").cloned() {
        replay(&mut desk, "o1", OLD);
        out = desk.reply(&parent, json!({}));
    }
    let asked = out.request("session/fork");
    replay(&mut desk, "f1", OLD);
    let out = desk.reply(&asked, json!({"sessionId": "f1"}));
    let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    for time in ["on this connection", "on the next"] {
        assert_eq!(said(&load(&mut desk, &fork, OLD).client), lines(&[OLD]), "{time}");
        desk = Desk::ready(&store, &world, &forks());
    }
}

#[test]
fn what_is_said_in_a_fork_after_the_agents_replay_is_recorded() {
    const NEW: Turns<'static> = &[("Only here", "Yes")];
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &forks());
    let mut desk = Desk::ready(&store, &world, &forks());
    let asked = ask_fork(&mut desk, &id).request("session/fork");
    replay(&mut desk, "f1", TOLD);
    let out = desk.reply(&asked, json!({"sessionId": "f1"}));
    let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    let out = desk.turn(&fork, NEW[0].0, &[NEW[0].1]);
    assert_eq!(
        out.request("session/prompt")["params"]["prompt"].as_array().unwrap().len(),
        1,
        "this agent knows what was said"
    );
    assert_eq!(said(&load(&mut desk, &fork, TOLD).client), lines(&[TOLD, NEW]));
}

#[test]
fn updates_of_a_new_session_that_come_before_its_name_are_shown_and_kept() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let params = json!({"cwd": CWD, "mcpServers": []});
    desk.client(json!({"id": "new", "method": "session/new", "params": params}));
    let mut out = desk.agent(update("s1", chunk("agent_message_chunk", "Welcome")));
    out.extend(desk.agent(update("s1", commands("go"))));
    out.extend(desk.agent(json!({"id": "new", "result": {"sessionId": "s1"}})));
    assert_eq!((said(&out.client), told_of(&out, "go")), (vec!["Welcome".to_owned()], 1));
    let out = load(&mut desk, "s1", &[]);
    assert_eq!((said(&out.client), told_of(&out, "go")), (vec!["Welcome".to_owned()], 1));
}

#[test]
fn an_answer_that_names_no_session_is_an_error() {
    for result in
        [json!({}), json!({"sessionId": ""}), json!({"sessionId": null}), json!({"sessionId": 7}), json!(null)]
    {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &forks());
        let mut desk = Desk::ready(&store, &world, &forks());
        let mut out = ask_fork(&mut desk, &id);
        for _ in 0..2 {
            let asked =
                out.agent.iter().find(|asked| matches!(asked["method"].as_str(), Some("session/fork" | "session/new")));
            let Some(asked) = asked.cloned() else { break };
            out.agent.clear();
            out.extend(desk.reply(&asked, result.clone()));
        }
        assert_eq!(out.answer("fork")["error"]["code"], -32603, "fork: {result}");

        let params = json!({"cwd": CWD, "mcpServers": []});
        desk.client(json!({"id": "new", "method": "session/new", "params": params}));
        let out = desk.agent(json!({"id": "new", "result": result}));
        assert_eq!(out.answer("new")["error"]["code"], -32603, "new: {result}");
        assert_eq!(desk.listed(), [id], "{result}");
    }
}

#[test]
fn a_session_opened_anew_without_a_name_is_an_error_and_stays() {
    for result in [json!({}), json!({"sessionId": ""})] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &json!({}));
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let asked = crate::scenes::ask_load(&mut desk, "load", &id).request("session/new");
        let out = desk.reply(&asked, result.clone());
        assert_eq!(out.answer("load")["error"]["code"], -32603, "{result}");
        assert_eq!(said(&load(&mut desk, &id, &[]).client), lines(&[TOLD]));
    }
}

#[test]
fn what_came_before_an_agent_took_part_stays_in_its_own_fork_though_it_has_made_a_summary_of_its_part() {
    const SUMMARY: Turns<'static> = &[("In short", "Something new")];
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &forks(), &[row("o1", "Old", "2025-01-01T00:00:00Z")]);
    assert_eq!(said(&load(&mut desk, "o1", OLD).client), lines(&[OLD]));
    leave(desk);
    let mut desk = Desk::open(&store, &world, &[]);
    desk.greet(Some("b"), &forks());
    load(&mut desk, "o1", &[]).answer("load");
    desk.turn("o1", "New question", &["New answer"]);
    let asked = ask_fork(&mut desk, "o1").request("session/fork");
    let out = desk.reply(&asked, json!({"sessionId": "f1"}));
    let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    leave(desk);
    let mut desk = listing(&store, &world, "b", &forks(), &[row("f1", "Fork", "2026-01-01T00:00:00Z")]);
    let seen = said(&load(&mut desk, &fork, SUMMARY).client);
    assert_eq!(seen, lines(&[OLD, SUMMARY]));
}

#[test]
fn an_id_that_a_client_uses_before_an_answer_has_named_it_is_another_session() {
    for made_by in ["session/fork", "session/new"] {
        for method in ["session/load", "session/resume"] {
            let (store, world) = (Memory::new(), World::default());
            let id = told(&store, &world, &forks());
            let mut desk = Desk::ready(&store, &world, &forks());
            let params = json!({"sessionId": id, "cwd": CWD, "mcpServers": []});
            let asked = desk.client(json!({"id": "made", "method": made_by, "params": params})).request(made_by);
            let params = json!({"sessionId": "f1", "cwd": CWD, "mcpServers": []});
            let mut out = desk.client(json!({"id": "guess", "method": method, "params": params}));
            // What waits for it is not for the session that is named so in the end.
            let prompt = json!([{"type": "text", "text": "Guessed"}]);
            let params = json!({"sessionId": "f1", "prompt": prompt});
            out.extend(desk.client(json!({"id": "prompt", "method": "session/prompt", "params": params})));
            let guessed = out.request("session/load");
            out.extend(desk.reply(&asked, json!({"sessionId": "f1"})));
            out.extend(desk.reply(&guessed, json!({})));
            let made = out.answer("made")["result"]["sessionId"].as_str().unwrap().to_owned();
            assert_ne!(made, "f1", "{made_by} {method}");
            assert_eq!(out.answer("guess")["error"]["code"], -32603, "{made_by} {method}");
            assert_eq!(out.answer("prompt")["error"]["code"], -32002, "{made_by} {method}");
            assert!(out.asked("session/prompt").is_none(), "{made_by} {method}: {:?}", out.agent);
            let asked = ask_prompt(&mut desk, "next", &made, "Here").request("session/prompt");
            assert_eq!(asked["params"]["sessionId"], "f1", "{made_by} {method}");
        }
    }
}

#[test]
fn a_fork_is_one_session_though_the_agents_list_is_read_before_the_fork_is_answered() {
    // Another session may bear its id already.
    for is_id_taken in [false, true] {
        let (store, world) = (Memory::new(), World::default());
        let capabilities = json!({"sessionCapabilities": {"fork": {}}});
        let modes = ["ask", "code"].map(|mode| json!({"id": mode, "name": mode}));
        let modes = json!({"currentModeId": "ask", "availableModes": modes});
        if is_id_taken {
            let mut desk = Desk::open(&store, &world, &[]);
            desk.greet(Some("b"), &json!({}));
            desk.new_session("f1", CWD);
            desk.turn("f1", "Another", &["Yes"]);
            leave(desk);
        }
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let asked =
            desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
        desk.reply(&asked.request("session/new"), json!({"sessionId": "s1", "modes": modes}));
        desk.turn("s1", "Hi", &["Ho"]);
        let params = json!({"sessionId": "s1", "modeId": "code"});
        let asked = desk.client(json!({"id": "mode", "method": "session/set_mode", "params": params}));
        desk.reply(&asked.request("session/set_mode"), json!({}));
        let asked = ask_fork(&mut desk, "s1");
        let out = desk.reply(&asked.request("session/fork"), json!({"sessionId": "f1", "modes": modes}));
        // The agent takes its time with the mode.
        let put_back = out.request("session/set_mode");
        let mut other = listing(&store, &world, "a", &json!({}), &[row("f1", "Fork", "2024-01-01T00:00:00Z")]);
        let before = other.listed();
        assert_eq!(before.len(), 2, "it is in the agent's list: {before:?}");
        desk.wait(50);
        let out = desk.reply(&put_back, json!({}));
        let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
        assert_eq!(fork == "f1", !is_id_taken);
        assert!(before.contains(&fork), "{fork} of {before:?}");
        assert_eq!(other.listed(), [&*fork, "s1"]);
        desk.turn(&fork, "On", &["Yes"]);
        leave(desk);
        let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
        assert_eq!(said(&load(&mut desk, &fork, &[]).client), ["> Hi", "Ho", "> On", "Yes"]);
    }
}

#[test]
fn an_agent_remembers_what_its_fork_was_made_of_though_another_window_has_put_a_session_in_its_place_for_a_while() {
    const INHERITED: Turns<'static> = &[("One", "The first answer"), ("TwoThree", "The other answer")];
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &forks());
    desk.new_session("s1", CWD);
    desk.turn("s1", "One", &["The first answer"]);
    desk.turn("s1", "Two", &[]);
    desk.turn("s1", "Three", &["The other answer"]);
    let asked = ask_fork(&mut desk, "s1").request("session/fork");
    desk.reply(&asked, json!({"sessionId": "f1"})).answer("fork");
    leave(desk);
    let mut with_its_own = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    let mut with_another = Desk::ready(&store, &world, &json!({}));
    let begun = ask_load(&mut with_another, "load", "f1").request("session/new");
    let resumed = ask_load(&mut with_its_own, "load", "f1").request("session/resume");
    with_another.reply(&begun, json!({"sessionId": "f2"})).answer("load");
    with_another.turn("f1", "Four", &["The last answer"]);
    leave(with_another);
    with_its_own.reply(&resumed, json!({})).answer("load");
    leave(with_its_own);
    for time in ["once", "again"] {
        let mut desk = Desk::ready(&store, &world, &forks());
        let shown = said(&load(&mut desk, "f1", INHERITED).client);
        assert_eq!(shown, lines(&[INHERITED, &[("Four", "The last answer")]]), "{time}");
        leave(desk);
    }
}

/// An agent that counts its sessions anew each time it is started.
#[test]
fn a_fork_of_a_session_that_only_the_agents_list_has_is_another_though_its_agent_gives_both_one_id() {
    let (store, world) = (Memory::new(), World::default());
    leave(listing(&store, &world, "a", &json!({}), &[row("s1", "Old", "2025-01-01T00:00:00Z")]));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let asked = ask_fork(&mut desk, "s1").request("session/new");
    let out = desk.reply(&asked, json!({"sessionId": "s1"}));
    let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    assert_ne!(fork, "s1");
    desk.turn(&fork, "Question", &["Answer"]);
    let sessions = desk.ask("session/list", json!({}))["result"]["sessions"].clone();
    let ids: Vec<&str> = sessions.as_array().unwrap().iter().filter_map(|row| row["sessionId"].as_str()).collect();
    assert_eq!(ids, [fork.as_str(), "s1"]);
}

#[test]
fn a_fork_is_another_session_than_one_that_is_open_whose_id_at_its_agent_it_was_given() {
    let (store, world) = (Memory::new(), World::default());
    let rows = ["s1", "s2"].map(|id| row(id, "Old", "2025-01-01T00:00:00Z"));
    leave(listing(&store, &world, "a", &json!({}), &rows));
    // Its agent has begun to count anew, and cannot open what it has.
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let asked = ask_load(&mut desk, "load", "s2").request("session/new");
    desk.reply(&asked, json!({"sessionId": "s1"})).answer("load");
    let asked = ask_fork(&mut desk, "s1").request("session/new");
    let out = desk.reply(&asked, json!({"sessionId": "s2"}));
    let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    assert!(fork != "s1" && fork != "s2", "{fork}");
    desk.turn(&fork, "In the fork", &["Yes"]);
    desk.turn("s2", "In the other", &["No"]);
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    assert_eq!(said(&load(&mut other, &fork, &[]).client), ["> In the fork", "Yes"]);
    assert_eq!(said(&load(&mut other, "s2", &[]).client), ["> In the other", "No"]);
}
