//! Agents that hand out an id again that another session has, which is open.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, account, ask_fork, ask_load, ask_prompt, ask_resume, lines, listing, load, mark, oblige, row, said, told,
};

fn kinds() -> [Value; 3] {
    [json!({}), json!({"loadSession": true}), json!({"sessionCapabilities": {"resume": {}, "close": {}}})]
}

/// A session with a turn, and another that the agent gave the same id on the same connection.
fn twins<'a>(store: &'a Memory, world: &'a World, capabilities: &Value) -> (Desk<'a>, String, String) {
    let mut desk = Desk::ready(store, world, capabilities);
    let older = desk.new_session("s1", CWD);
    desk.turn(&older, "First question", &["First answer"]);
    let newer = desk.new_session("s1", CWD);
    assert_ne!(older, newer);
    (desk, older, newer)
}

#[test]
fn what_is_said_in_the_older_one_does_not_reach_the_newer() {
    for capabilities in kinds() {
        let (store, world) = (Memory::new(), World::default());
        let (mut desk, older, newer) = twins(&store, &world, &capabilities);
        let out = ask_prompt(&mut desk, "prompt", &older, "Still there?");
        assert!(out.asked("session/prompt").is_none(), "{capabilities}");
        assert_eq!(out.answer("prompt")["error"]["code"], -32002, "{capabilities}");
        for method in ["session/set_mode", "session/close"] {
            let out =
                desk.client(json!({"id": method, "method": method, "params": {"sessionId": older, "modeId": "m"}}));
            assert!(out.asked(method).is_none(), "{method}, {capabilities}");
        }
        desk.turn(&newer, "Hello", &["Hi"]);
        // It goes on by an id that is its own.
        let out = ask_load(&mut desk, "load", &older);
        for method in ["session/load", "session/resume"] {
            assert!(out.asked(method).is_none(), "{method}: {capabilities}");
        }
        let out = oblige(&mut desk, out, &[], "s2");
        assert_eq!(said(&out.client), ["> First question", "First answer"], "{capabilities}");
        let out = ask_prompt(&mut desk, "prompt", &older, "And now?");
        assert_eq!(out.request("session/prompt")["params"]["sessionId"], "s2");
        assert!(account(&out).is_some_and(|account| account.contains("First answer") && !account.contains("Hi")));
        desk.agent(json!({"id": "prompt", "result": {"stopReason": "end_turn"}}));
        let out = desk.turn(&newer, "Still there?", &["Yes"]);
        assert!(out.answer("turn")["error"].is_null());
        let whole = lines(&[&[("Hello", "Hi"), ("Still there?", "Yes")]]);
        assert_eq!(said(&load(&mut desk, &newer, &[]).client), whole, "{capabilities}");
    }
}

#[test]
fn a_turn_under_way_in_the_older_one_ends_and_says_why() {
    for capabilities in kinds() {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let older = desk.new_session("s1", CWD);
        let asked = ask_prompt(&mut desk, "turn", &older, "First question").request("session/prompt");
        desk.agent(update("s1", chunk("agent_message_chunk", "First ")));
        let params = json!({"cwd": CWD, "mcpServers": []});
        desk.client(json!({"id": "new", "method": "session/new", "params": params}));
        let mut out = desk.agent(json!({"id": "new", "result": {"sessionId": "s1"}}));
        let newer = out.answer("new")["result"]["sessionId"].as_str().unwrap().to_owned();
        out.extend(desk.agent(update("s1", chunk("agent_message_chunk", "Hi"))));
        out.extend(desk.reply(&asked, json!({"stopReason": "end_turn"})));
        let answer = out.answer("turn");
        assert_eq!(answer["error"]["code"], -32603, "{capabilities}: {answer}");
        assert!(answer["error"]["message"].as_str().unwrap().contains("id"), "{answer}");
        let told = out.client.iter().filter(|message| message["params"]["update"]["content"].is_object());
        let told: Vec<_> = told.map(|message| message["params"]["sessionId"].as_str().unwrap()).collect();
        assert_eq!(told, [newer.as_str()], "{capabilities}");
        let out = ask_load(&mut desk, "load", &older);
        let out = oblige(&mut desk, out, &[], "s2");
        assert_eq!(said(&out.client), ["> First question", "First "], "{capabilities}");
    }
}

#[test]
fn a_session_that_is_opened_anew_under_the_id_of_an_open_one_takes_it_over() {
    let (store, world) = (Memory::new(), World::default());
    // The counter has begun anew with this process, and the first that the agent makes is opened for an older session.
    let older = told(&store, &world, &json!({}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let open = desk.new_session("s2", CWD);
    desk.turn(&open, "Hello", &["Hi"]);
    let mut out = ask_load(&mut desk, "load", &older);
    let asked = out.request("session/new");
    out.extend(desk.reply(&asked, json!({"sessionId": "s2"})));
    assert_eq!(mark(&out, "load")["attached"], "new");
    assert_eq!(said(&out.client), lines(&[TOLD]));
    let out = ask_prompt(&mut desk, "prompt", &open, "Still there?");
    assert!(out.asked("session/prompt").is_none());
    assert_eq!(out.answer("prompt")["error"]["code"], -32002);
    let out = ask_prompt(&mut desk, "third", &older, "Third question");
    assert_eq!(out.request("session/prompt")["params"]["sessionId"], "s2");
    let out = desk.agent(update("s2", chunk("agent_message_chunk", "Third answer")));
    assert_eq!(out.client[0]["params"]["sessionId"], older.as_str());
    desk.agent(json!({"id": "third", "result": {"stopReason": "end_turn"}}));
    let out = ask_load(&mut desk, "again", &open);
    let out = oblige(&mut desk, out, &[], "s3");
    assert_eq!(said(&out.client), ["> Hello", "Hi"]);
}

#[test]
fn a_fork_that_is_given_the_id_of_an_open_session_is_a_session_of_its_own() {
    for given in ["s1", "s2"] {
        let (store, world) = (Memory::new(), World::default());
        let capabilities = json!({"sessionCapabilities": {"fork": {}}});
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let parent = desk.new_session("s1", CWD);
        desk.turn(&parent, "First question", &["First answer"]);
        let other = desk.new_session("s2", CWD);
        let out =
            desk.client(json!({"id": "fork", "method": "session/fork", "params": {"sessionId": parent, "cwd": CWD}}));
        let out = desk.reply(&out.request("session/fork"), json!({"sessionId": given}));
        let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
        assert!(fork != parent && fork != other, "{given}");
        let out = desk.agent(update(given, chunk("agent_message_chunk", "Hi")));
        assert_eq!(out.client[0]["params"]["sessionId"], fork.as_str(), "{given}");
        let displaced = if given == "s1" { &parent } else { &other };
        let out = ask_prompt(&mut desk, "prompt", displaced, "Still there?");
        assert_eq!(out.answer("prompt")["error"]["code"], -32002, "{given}");
    }
}

#[test]
fn an_agent_whose_counter_begins_anew_with_each_process_keeps_its_conversations_apart() {
    for capabilities in kinds() {
        let (store, world) = (Memory::new(), World::default());
        let mut ids = Vec::new();
        for process in 0..4 {
            let mut desk = Desk::ready(&store, &world, &capabilities);
            for nth in 0..3 {
                let id = desk.new_session(&format!("s{nth}"), CWD);
                let (question, answer) = (format!("Question {process}.{nth}"), format!("Answer {process}.{nth}"));
                desk.turn(&id, &question, &[&answer]);
                ids.push((id, [format!("> {question}"), answer]));
            }
            crate::scenes::leave(desk);
        }
        let all: std::collections::BTreeSet<_> = ids.iter().map(|(id, _)| id).collect();
        assert_eq!(all.len(), 12);
        for (nth, (id, words)) in ids.iter().enumerate() {
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let out = ask_load(&mut desk, "load", id);
            let reopens = ["session/load", "session/resume"].iter().any(|method| out.asked(method).is_some());
            assert!(nth >= 9 || !reopens, "{id}: the agent's session of that id is another one's, {capabilities}");
            let turn = [(words[0].trim_start_matches("> "), words[1].as_str())];
            let out = oblige(&mut desk, out, &turn, &format!("fresh{nth}"));
            assert_eq!(said(&out.client), *words, "{capabilities}");
            crate::scenes::leave(desk);
        }
    }
}

#[test]
fn a_fork_that_is_given_the_id_of_a_session_of_the_agents_own_in_which_something_was_said_is_one_of_its_own() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"list": {}, "fork": {}, "resume": {}}});
    let mut desk = listing(&store, &world, "a", &capabilities, &[row("o1", "One", "2025-01-01T00:00:00Z")]);
    desk.new_session("s1", CWD);
    desk.turn("s1", "Hello", &["Hi"]);
    let out = ask_resume(&mut desk, "resume", "o1");
    oblige(&mut desk, out, &[], "fresh").answer("resume");
    desk.agent(update("o1", chunk("agent_message_chunk", "Welcome back")));
    desk.wait(1000);
    let out = ask_fork(&mut desk, "s1");
    let out = oblige(&mut desk, out, &[], "o1");
    let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    let mut ids = ["o1", "s1", &fork].map(str::to_owned);
    ids.sort_unstable();
    let mut listed = desk.listed();
    listed.sort_unstable();
    assert_eq!(listed, ids);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert_eq!(said(&load(&mut desk, &fork, &[]).client), ["> Hello", "Hi"]);
    assert_eq!(said(&load(&mut desk, "o1", &[]).client), ["Welcome back"]);
}
