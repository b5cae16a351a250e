//! Time limits: the agent may take as long as it likes while it says something, and is given up when it is silent.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, account, answers, ask_load, ask_prompt, leave, lines, load, mark, oblige, replay, said, says, set, told,
};

const LIMIT: &[(&str, &str)] = &[("agent-timeout-ms", "1000")];

#[test]
fn an_agent_that_streams_its_replay_is_not_given_up_however_long_it_takes() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true});
    let id = told(&store, &world, &capabilities);
    let mut desk = set(&store, &world, &capabilities, LIMIT);
    let mut out = ask_load(&mut desk, "load", &id);
    let asked = out.request("session/load");
    for (kind, text) in [
        ("user_message_chunk", "First question"),
        ("agent_message_chunk", "First answer"),
        ("user_message_chunk", "Second question"),
        ("agent_message_chunk", "Second answer"),
    ] {
        out.extend(desk.wait(800));
        out.extend(desk.agent(update("s1", chunk(kind, text))));
    }
    out.extend(desk.wait(800));
    assert!(out.is_open("load"), "{:?}", out.client);
    out.extend(desk.reply(&asked, json!({})));
    assert!(out.asked("session/new").is_none());
    assert_eq!(mark(&out, "load")["attached"], "load");
    assert_eq!(said(&out.client), lines(&[TOLD]));
}

#[test]
fn a_silent_agent_is_an_error_and_never_replaced_by_a_new_session() {
    for (capabilities, method) in [
        (json!({"loadSession": true, "sessionCapabilities": {"close": {}}}), "session/load"),
        (json!({"sessionCapabilities": {"resume": {}, "close": {}}}), "session/resume"),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &capabilities);
        let mut desk = set(&store, &world, &capabilities, LIMIT);
        let mut out = ask_load(&mut desk, "load", &id);
        let asked = out.request(method);
        out.extend(desk.wait(1100));
        let error = &out.answer("load")["error"];
        assert_eq!(error["code"], -32603);
        assert!(error["message"].as_str().unwrap().contains("did not answer"), "{error}");
        out.extend(desk.wait(1100));
        assert!(out.asked("session/new").is_none(), "{method}");

        let late = desk.reply(&asked, json!({}));
        assert_eq!(late.request("session/close")["params"]["sessionId"], "s1", "a late session is closed again");
        assert!(late.client.is_empty(), "{:?}", late.client);
        oblige(&mut desk, late, &[], "never");

        let mut desk = set(&store, &world, &capabilities, LIMIT);
        let out = ask_load(&mut desk, "load", &id);
        assert_eq!(out.request(method)["params"]["sessionId"], "s1", "the agent's own id is kept");
    }
}

#[test]
fn what_the_agent_says_of_other_sessions_does_not_make_it_less_silent() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true});
    let id = told(&store, &world, &capabilities);
    let mut desk = set(&store, &world, &capabilities, LIMIT);
    desk.new_session("s2", CWD);
    let mut out = ask_load(&mut desk, "load", &id);
    for _ in 0..3 {
        out.extend(desk.agent(update("s2", chunk("agent_message_chunk", "busy "))));
        out.extend(desk.wait(400));
    }
    assert_eq!(out.answer("load")["error"]["code"], -32603);
    assert!(out.asked("session/new").is_none());
}

#[test]
fn silence_is_no_proof_that_a_session_does_not_exist() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = set(&store, &world, &json!({"loadSession": true}), LIMIT);
    ask_load(&mut desk, "load", "o1").request("session/load");
    let out = desk.wait(1100);
    assert_eq!(out.answer("load")["error"]["code"], -32603);
    assert_eq!(said(&load(&mut desk, "o1", TOLD).client), lines(&[TOLD]));
}

#[test]
fn an_adoption_in_which_the_agent_falls_silent_leaves_nothing_behind() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true});
    let mut desk = set(&store, &world, &capabilities, LIMIT);
    ask_load(&mut desk, "load", "o1").request("session/load");
    replay(&mut desk, "o1", &TOLD[..1]);
    desk.wait(300);
    let mut out = desk.wait(1100);
    out.extend(desk.wait(1100));
    assert_eq!(out.answer("load")["error"]["code"], -32603);
    for time in ["next", "after that"] {
        let mut desk = set(&store, &world, &capabilities, LIMIT);
        assert_eq!(said(&load(&mut desk, "o1", TOLD).client), lines(&[TOLD]), "{time}");
    }
}

#[test]
fn a_session_that_was_not_opened_in_time_can_be_opened_again_on_the_same_connection() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"resume": {}, "close": {}}});
    let id = told(&store, &world, &capabilities);
    let mut desk = set(&store, &world, &capabilities, LIMIT);
    let out = ask_load(&mut desk, "first", &id);
    let asked = out.request("session/resume");
    desk.wait(1100).answer("first");
    let late = desk.reply(&asked, json!({}));
    oblige(&mut desk, late, &[], "never");
    let out = load(&mut desk, &id, &[]);
    assert_eq!(mark(&out, "load")["attached"], "resume");
    assert_eq!(said(&out.client), lines(&[TOLD]));
}

/// A load was given up because its agent was silent; the id of the session, and what the agent was asked.
fn given_up<'a>(store: &'a Memory, world: &'a World) -> (Desk<'a>, String, Value) {
    let capabilities = json!({"loadSession": true});
    let id = told(store, world, &capabilities);
    let mut desk = set(store, world, &capabilities, LIMIT);
    let first = ask_load(&mut desk, "first", &id).request("session/load");
    desk.wait(1100).answer("first");
    (desk, id, first)
}

#[test]
fn a_replay_that_comes_when_the_session_is_open_by_a_later_request_is_nobodys() {
    let (store, world) = (Memory::new(), World::default());
    let (mut desk, id, first) = given_up(&store, &world);
    assert_eq!(said(&load(&mut desk, &id, TOLD).client), lines(&[TOLD]));
    let mut late = replay(&mut desk, "s1", TOLD);
    late.extend(desk.reply(&first, json!({})));
    assert_eq!(said(&late.client), [""; 0]);
    desk.turn(&id, "Third question", &["Third answer"]);
    let all = lines(&[TOLD, &[("Third question", "Third answer")]]);
    assert_eq!(said(&load(&mut desk, &id, &[]).client), all);
}

#[test]
fn a_replay_that_comes_in_the_midst_of_a_turn_is_neither_shown_nor_recorded() {
    let call =
        |id: &str| json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "Look", "status": "completed"});
    let mut whole: Vec<(&str, &str)> = TOLD.to_vec();
    whole.push(("Third\nquestion", "Third answer"));
    for begins_before in [false, true] {
        let (store, world) = (Memory::new(), World::default());
        let (mut desk, id, first) = given_up(&store, &world);
        load(&mut desk, &id, TOLD).answer("load");
        ask_prompt(&mut desk, "third", &id, "Third\nquestion");
        desk.agent(update("s1", call("c1")));
        desk.agent(update("s1", chunk("agent_message_chunk", "Third answer")));
        desk.agent(json!({"id": "third", "result": {"stopReason": "end_turn"}}));
        let (before, within) = whole.split_at(usize::from(begins_before));
        replay(&mut desk, "s1", before);

        ask_prompt(&mut desk, "fourth", &id, "Fourth question");
        let mut out = desk.agent(update("s1", chunk("agent_message_chunk", "Fourth ")));
        out.extend(replay(&mut desk, "s1", &within[..within.len() - 1]));
        out.extend(desk.agent(update("s1", chunk("agent_message_chunk", "answer, "))));
        // As this agent joins what it keeps.
        out.extend(desk.agent(update("s1", chunk("user_message_chunk", "Third question"))));
        out.extend(desk.agent(update("s1", call("c1"))));
        out.extend(desk.agent(update("s1", chunk("agent_message_chunk", "Third answer"))));
        out.extend(desk.reply(&first, json!({})));
        out.extend(desk.agent(update("s1", call("c2"))));
        out.extend(desk.agent(update("s1", chunk("agent_message_chunk", "not the Third answer"))));
        out.extend(desk.agent(json!({"id": "fourth", "result": {"stopReason": "end_turn"}})));
        assert_eq!(said(&out.client), ["Fourth answer, not the Third answer"], "begins before: {begins_before}");
        whole.push(("Fourth question", "Fourth answer, not the Third answer"));
        let again = load(&mut desk, &id, &[]);
        assert_eq!(said(&again.client), lines(&[&whole]), "begins before: {begins_before}");
        let calls = again.client.iter().filter(|message| message["params"]["update"]["sessionUpdate"] == "tool_call");
        assert_eq!(calls.count(), 2);
        whole.pop();
    }
}

#[test]
fn a_replay_that_comes_in_the_midst_of_a_turn_tells_nobody_the_account_that_its_agent_was_given() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    desk.agent(says("Good morning"));
    leave(desk);
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    let out = ask_load(&mut other, "load", "s1");
    oblige(&mut other, out, &[], "b1").answer("load");
    other.turn("s1", "Question", &["Answer"]);
    leave(other);
    let mut desk = set(&store, &world, &json!({"loadSession": true}), LIMIT);
    let first = ask_load(&mut desk, "first", "s1").request("session/load");
    desk.wait(1100).answer("first");
    load(&mut desk, "s1", &[]).answer("load");
    let second = ask_prompt(&mut desk, "second", "s1", "Second question");
    let account = account(&second).unwrap();
    desk.agent(says("Second answer"));
    desk.agent(answers("second"));

    ask_prompt(&mut desk, "third", "s1", "Third question");
    let mut out = desk.agent(update("s1", chunk("user_message_chunk", &account)));
    out.extend(replay(&mut desk, "s1", &[("Second question", "Second answer")]));
    out.extend(desk.reply(&first, json!({})));
    out.extend(desk.agent(says("Third answer")));
    out.extend(desk.agent(answers("third")));
    assert_eq!(said(&out.client), ["Third answer"]);
    leave(desk);
    let mut desk = Desk::open(&store, &world, &[]);
    desk.greet(Some("b"), &json!({}));
    let turns = [("Question", "Answer"), ("Second question", "Second answer"), ("Third question", "Third answer")];
    let whole = [vec!["Good morning".to_owned()], lines(&[&turns])].concat();
    assert_eq!(said(&load(&mut desk, "s1", &[]).client), whole);
}

#[test]
fn what_is_said_in_a_turn_is_not_taken_for_a_replay_that_may_still_come() {
    let (store, world) = (Memory::new(), World::default());
    let (mut desk, id, _) = given_up(&store, &world);
    load(&mut desk, &id, TOLD).answer("load");
    let asked = ask_prompt(&mut desk, "again", &id, "Second question");
    asked.request("session/prompt");
    let mut out = desk.agent(update("s1", chunk("user_message_chunk", "Second question")));
    out.extend(desk.agent(update("s1", chunk("agent_message_chunk", "First answer"))));
    out.extend(desk.agent(update("s1", chunk("agent_message_chunk", ", Second answer"))));
    assert_eq!(said(&out.client), ["> Second question", "First answer, Second answer"]);
    desk.agent(json!({"id": "again", "result": {"stopReason": "end_turn"}}));
    let whole = lines(&[TOLD, &[("Second question", "First answer, Second answer")]]);
    assert_eq!(said(&load(&mut desk, &id, &[]).client), whole);
}

#[test]
fn a_replay_for_a_load_that_was_given_up_is_not_kept_for_the_next() {
    let (store, world) = (Memory::new(), World::default());
    let (mut desk, id, first) = given_up(&store, &world);
    let params = json!({"cwd": CWD, "mcpServers": []});
    let new = desk.client(json!({"id": "new", "method": "session/new", "params": params})).request("session/new");
    replay(&mut desk, "s1", TOLD);
    desk.reply(&first, json!({}));
    let second = ask_load(&mut desk, "second", &id).request("session/load");
    // Nothing waits for a name any more.
    let mut out = desk.reply(&new, json!({"sessionId": "s2"}));
    out.extend(replay(&mut desk, "s1", TOLD));
    out.extend(desk.reply(&second, json!({})));
    assert_eq!(said(&out.client), lines(&[TOLD]));
    assert_eq!(said(&load(&mut desk, &id, &[]).client), lines(&[TOLD]));
}

#[test]
fn replays_for_two_requests_at_once_are_not_taken_for_one() {
    let (store, world) = (Memory::new(), World::default());
    let (mut desk, id, first) = given_up(&store, &world);
    let mut out = ask_load(&mut desk, "second", &id);
    let second = out.request("session/load");
    for _ in 0..2 {
        out.extend(replay(&mut desk, "s1", TOLD));
    }
    out.extend(desk.reply(&second, json!({})));
    out.extend(desk.reply(&first, json!({})));
    assert!(out.answer("second")["error"].is_null());
    assert_eq!(said(&out.client), lines(&[TOLD]));
    assert_eq!(said(&load(&mut desk, &id, &[]).client), lines(&[TOLD]));
}

#[test]
fn a_mode_that_the_agent_is_silent_about_does_not_keep_a_session_from_opening() {
    let modes = json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]});
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let id = told(&store, &world, &capabilities);
    let mut desk = set(&store, &world, &capabilities, LIMIT);
    load(&mut desk, &id, &[]).answer("load");
    let params = json!({"sessionId": id, "modeId": "code"});
    let out = desk.client(json!({"id": "mode", "method": "session/set_mode", "params": params}));
    desk.reply(&out.request("session/set_mode"), json!({}));
    desk.ask("session/close", json!({"sessionId": id}));
    let asked = ask_load(&mut desk, "load", &id).request("session/resume");
    let mut out = desk.reply(&asked, json!({ "modes": modes }));
    out.request("session/set_mode");
    out.extend(desk.wait(900));
    assert!(out.is_open("load"));
    out.extend(desk.wait(200));
    out.answer("load");
    assert!(out.asked("session/new").is_none());
}

#[test]
fn closing_waits_for_a_silent_agent_no_longer_than_the_limit() {
    for prompts in [false, true] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = set(&store, &world, &json!({"sessionCapabilities": {"close": {}}}), LIMIT);
        let id = desk.new_session("s1", CWD);
        if prompts {
            ask_prompt(&mut desk, "prompt", &id, "Go");
        }
        let mut out = desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": id}}));
        assert!(out.is_open("close"));
        out.extend(desk.wait(900));
        assert!(out.is_open("close"), "the limit is not over yet");
        out.extend(desk.wait(1100));
        out.extend(desk.wait(1100));
        assert_eq!(out.answer("close")["result"], json!({}));
        if prompts {
            assert_eq!(out.answer("prompt")["result"]["stopReason"], "cancelled");
        }
    }
}

#[test]
fn a_fork_that_the_agent_is_silent_about_is_answered_once() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"fork": {}, "close": {}}});
    let id = told(&store, &world, &capabilities);
    let mut desk = set(&store, &world, &capabilities, LIMIT);
    let params = json!({"sessionId": id, "cwd": CWD});
    let mut out = desk.client(json!({"id": "fork", "method": "session/fork", "params": params}));
    let asked = out.request("session/fork");
    out.extend(desk.wait(1100));
    let mut later = Out::default();
    let late = desk.reply(&asked, json!({"sessionId": "f1"}));
    let closes = |message: &&Value| message["method"] == "session/close" && message["params"]["sessionId"] == "f1";
    assert_eq!(late.agent.iter().filter(closes).count(), 1, "nobody wants it any more: {:?}", late.agent);
    later.extend(late);
    later.agent.extend(out.agent.drain(..).skip(1));
    out.extend(oblige(&mut desk, later, &[], "f2"));
    out.extend(desk.wait(1100));
    out.answer("fork");
}
