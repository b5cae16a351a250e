//! What an agent says when it has answered that it has a session open, and its client does not have it yet: what was set is still
//! being put back.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::{Bounds, Memory, Storage};
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, text_of, update};
use crate::scenes::{
    CWD, TOLD, answers, ask_load, ask_permission, ask_prompt, ask_resume, converse, leave, lines, load, met, oblige,
    permit, replay, said, says, updates,
};

const AGENT: &str = "agent_message_chunk";

fn modes() -> Value {
    json!({"modes": {"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]}})
}

fn ways() -> [(&'static str, Value); 3] {
    let resumes = json!({"sessionCapabilities": {"resume": {}}});
    [("load", json!({"loadSession": true})), ("load", resumes.clone()), ("resume", resumes)]
}

/// A session `s1` in which something was said, and a mode was set.
fn set(store: &Memory, world: &World, capabilities: &Value) {
    let mut desk = Desk::ready(store, world, capabilities);
    desk.new_session("s1", CWD);
    desk.agent(update("s1", json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"})));
    converse(&mut desk, "s1", TOLD);
    leave(desk);
}

/// The client has asked for `s1` and the agent has answered; what was said so far, with the request to put its mode back.
fn answered(desk: &mut Desk<'_>, how: &str) -> (Out, Value) {
    let mut out = if how == "load" { ask_load(desk, "open", "s1") } else { ask_resume(desk, "open", "s1") };
    let asked = out.agent.iter().find(|asked| asked["method"] != "session/list").cloned().expect("it is asked");
    if asked["method"] == "session/load" {
        replay(desk, "s1", TOLD);
    }
    out.extend(desk.reply(&asked, modes()));
    assert!(out.is_open("open"), "its mode is put back first");
    let putting_back = out.request("session/set_mode");
    (out, putting_back)
}

/// What is kept of it, as it is shown to who opens it with another agent.
fn kept(store: &Memory, world: &World) -> Out {
    let mut desk = Desk::open(store, world, &[]);
    desk.greet(Some("other"), &json!({}));
    let out = load(&mut desk, "s1", &[]);
    leave(desk);
    out
}

#[test]
fn what_the_agent_says_comes_behind_the_answer_and_is_kept() {
    for (how, capabilities) in ways() {
        let (store, world) = (Memory::new(), World::unrecorded());
        set(&store, &world, &capabilities);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let (_, putting_back) = answered(&mut desk, how);
        let mut out = desk.agent(says("Three files "));
        out.extend(desk.agent(says("have changed.")));
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c9", "title": "Look", "status": "pending"});
        out.extend(desk.agent(update("s1", call)));
        assert_eq!(text_of(&out.client, AGENT), "", "{how} {capabilities}: nobody has it open yet");
        // A prompt that does not wait comes behind it.
        let prompt = ask_prompt(&mut desk, "turn", "s1", "Go on");
        assert!(prompt.asked("session/prompt").is_none());
        let out = desk.reply(&putting_back, json!({}));
        let at = |is_it: &dyn Fn(&Value) -> bool| out.client.iter().position(is_it).unwrap();
        let answer = at(&|message| message["id"] == "open");
        let words = at(&|message| message["params"]["update"]["content"]["text"] == "Three files ");
        let call = at(&|message| message["params"]["update"]["toolCallId"] == "c9");
        assert!(answer < words && words < call, "{how} {capabilities}: {:?}", out.client);
        out.request("session/prompt");
        desk.agent(says("Gone on"));
        desk.agent(answers("turn"));
        leave(desk);
        let out = kept(&store, &world);
        let expected =
            [lines(&[TOLD]), ["Three files have changed.", "> Go on", "Gone on"].map(str::to_owned).to_vec()];
        let expected = expected.concat();
        let mut shown = said(&out.client);
        // The agent's words follow each other there.
        assert_eq!(shown.remove(3), format!("{}{}", expected[3], expected[4]), "{how} {capabilities}");
        assert_eq!(shown[3..], expected[5..], "{how} {capabilities}");
        assert!(out.client.iter().any(|message| message["params"]["update"]["toolCallId"] == "c9"));
    }
}

#[test]
fn a_replay_that_comes_then_is_neither_shown_again_nor_kept_twice() {
    for (how, capabilities) in ways() {
        for before in 0..=TOLD.len() {
            let (store, world) = (Memory::new(), World::unrecorded());
            set(&store, &world, &capabilities);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let mut out =
                if how == "load" { ask_load(&mut desk, "open", "s1") } else { ask_resume(&mut desk, "open", "s1") };
            let asked = out.agent.iter().find(|asked| asked["method"] != "session/list").cloned().unwrap();
            // That comes before its answer, and is nothing that was said.
            desk.agent(update("s1", json!({"sessionUpdate": "notice", "severity": "info", "title": "Loading"})));
            out.extend(desk.reply(&asked, modes()));
            let putting_back = out.request("session/set_mode");
            out.extend(replay(&mut desk, "s1", &TOLD[..before]));
            out.extend(desk.reply(&putting_back, json!({})));
            out.extend(replay(&mut desk, "s1", &TOLD[before..]));
            out.answer("open");
            let shown = if how == "load" { lines(&[TOLD]) } else { Vec::new() };
            assert_eq!(said(&out.client), shown, "{how} {capabilities} {before}");
            let out = desk.turn("s1", "Go on", &["Second answer"]);
            assert_eq!(said(&out.client), ["Second answer"]);
            leave(desk);
            let all = lines(&[TOLD, &[("Go on", "Second answer")]]);
            assert_eq!(said(&kept(&store, &world).client), all, "{how} {capabilities} {before}");
        }
    }
}

#[test]
fn what_the_agent_says_stays_where_the_history_of_an_open_session_is_wanted_again_and_nobody_waits_for_it_any_more() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"loadSession": true});
    set(&store, &world, &capabilities);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let (_, putting_back) = answered(&mut desk, "load");
    desk.reply(&putting_back, json!({})).answer("open");
    // By then it is compared again.
    desk.wait(12_000);
    let asked = ask_load(&mut desk, "again", "s1").request("session/load");
    replay(&mut desk, "s1", TOLD);
    let mut out = desk.reply(&asked, modes());
    out.extend(desk.agent(update("s1", chunk(AGENT, "Three files have changed."))));
    for request in out.agent.clone().iter().filter(|request| request["method"] == "session/set_mode") {
        out.extend(desk.reply(request, json!({})));
    }
    out.answer("again");
    assert!(said(&out.client).concat().ends_with("Three files have changed."), "{:?}", said(&out.client));
    desk.wait(500);
    leave(desk);
    assert!(said(&kept(&store, &world).client).concat().ends_with("Three files have changed."));
}

#[test]
fn what_it_says_to_its_user_while_it_resumes_the_session_reaches_who_asked_for_that() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    set(&store, &world, &capabilities);
    let mut desk = met(&store, &world, &json!({"session": {"notices": {}}}), &capabilities);
    let asked = ask_resume(&mut desk, "open", "s1").request("session/resume");
    let notice = json!({"sessionUpdate": "notice", "severity": "warning", "title": "A server is not there"});
    let mut out = desk.agent(update("s1", notice));
    out.extend(desk.reply(&asked, modes()));
    out.extend(desk.reply(&out.request("session/set_mode"), json!({})));
    out.answer("open");
    assert!(out.client.last().unwrap()["params"]["update"]["title"] == "A server is not there", "{:?}", out.client);
}

/// The agent says something unasked, and begins something.
fn goes_on(desk: &mut Desk<'_>) {
    let out = desk.agent(says("By the way"));
    assert_eq!(said(&out.client), [""; 0]);
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c9", "title": "Look", "status": "pending"});
    desk.agent(update("s1", call));
}

#[test]
fn what_the_agent_says_is_kept_where_the_session_does_not_open_after_all_and_nobody_is_shown_it() {
    let close = json!({"id": "close", "method": "session/close", "params": {"sessionId": "s1"}});
    let cancel = json!({"method": "$/cancel_request", "params": {"requestId": "open"}});
    for (how, capabilities) in ways() {
        for end in ["cancel", "close", "the agent ends", "another agent is started", "the client leaves"] {
            let (store, world) = (Memory::new(), World::unrecorded());
            set(&store, &world, &capabilities);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            answered(&mut desk, how);
            goes_on(&mut desk);
            let out = match end {
                "cancel" => desk.client(cancel.clone()),
                "close" => desk.client(close.clone()),
                "another agent is started" => desk.restart(),
                _ => {
                    desk.engine.peer_closed(if end == "the agent ends" { Peer::Agent } else { Peer::Client });
                    desk.pull()
                }
            };
            assert!(out.answer("open")["error"].is_object(), "{how} {capabilities} {end}");
            assert_eq!(said(&out.client), [""; 0], "{how} {capabilities} {end}");
            leave(desk);
            let out = kept(&store, &world);
            let told = [lines(&[TOLD]), vec!["By the way".to_owned()]].concat().concat();
            assert_eq!(said(&out.client).concat(), told, "{how} {capabilities} {end}");
            let is_call = |message: &Value| message["params"]["update"]["toolCallId"] == "c9";
            assert!(out.client.iter().any(is_call), "{how} {capabilities} {end}");
        }
    }
}

#[test]
fn what_the_agent_says_goes_with_the_session_that_is_deleted_meanwhile() {
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let (store, world) = (Memory::new(), World::unrecorded());
    set(&store, &world, &capabilities);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    answered(&mut desk, "load");
    goes_on(&mut desk);
    let delete = json!({"id": "delete", "method": "session/delete", "params": {"sessionId": "s1"}});
    assert!(desk.client(delete).answer("delete")["result"].is_object());
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert_eq!(ask_load(&mut desk, "load", "s1").answer("load")["error"]["code"], -32002);
}

#[test]
fn a_question_comes_behind_what_was_said_before_it() {
    for (how, capabilities) in ways() {
        let (store, world) = (Memory::new(), World::unrecorded());
        set(&store, &world, &capabilities);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let (_, putting_back) = answered(&mut desk, how);
        let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Look", "status": "pending"});
        desk.agent(update("s1", call));
        ask_permission(&mut desk);
        let params = json!({"sessionId": "s1", "mode": "form", "message": "Which?", "requestedSchema": {}});
        let out = desk.agent(json!({"id": "which", "method": "elicitation/create", "params": params}));
        assert!(out.client.is_empty(), "{how} {capabilities}: {:?}", out.client);
        desk.agent(says("Waiting for you"));
        let out = desk.reply(&putting_back, json!({}));
        let at = |is_it: &dyn Fn(&Value) -> bool| out.client.iter().position(is_it).unwrap();
        let places = [
            at(&|message| message["id"] == "open"),
            at(&|message| message["params"]["update"]["toolCallId"] == "c"),
            at(&|message| message["id"] == "may"),
            at(&|message| message["id"] == "which"),
            at(&|message| message["params"]["update"]["content"]["text"] == "Waiting for you"),
        ];
        assert!(places.is_sorted(), "{how} {capabilities}: {:?}", out.client);
        permit(&mut desk);
        leave(desk);
        let told = said(&kept(&store, &world).client).concat();
        assert!(told.ends_with("Waiting for you"), "{how} {capabilities}: {told}");
        let entries = store.read_log("s1", 1, Bounds { limit: 100, max_bytes: u32::MAX }).unwrap().entries;
        let is_about = |entry: &str| entry.contains("\"requestId\":\"may\"");
        assert_eq!(entries.iter().filter(|entry| is_about(&entry.value)).count(), 2, "asked and answered: {entries:?}");
    }
}

#[test]
fn a_question_that_waits_passes_at_once_where_nothing_stands_before_it() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    set(&store, &world, &capabilities);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    answered(&mut desk, "load");
    // The mode may depend on the answer.
    let params = json!({"sessionId": "s1", "toolCall": {"toolCallId": "c"}, "options": []});
    let out = desk.agent(json!({"id": "may", "method": "session/request_permission", "params": params}));
    assert_eq!(out.client.last().unwrap()["id"], "may");
}

#[test]
fn a_question_that_nobody_was_asked_has_its_answer() {
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    for is_withdrawn in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        set(&store, &world, &capabilities);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        answered(&mut desk, "load");
        desk.agent(says("By the way"));
        ask_permission(&mut desk);
        let params = json!({"sessionId": "s1", "mode": "form", "message": "Which?", "requestedSchema": {}});
        desk.agent(json!({"id": "which", "method": "elicitation/create", "params": params}));
        if is_withdrawn {
            let out = desk.agent(json!({"method": "$/cancel_request", "params": {"requestId": "may"}}));
            assert!(out.client.is_empty(), "{:?}", out.client);
        }
        let out = desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "open"}}));
        let asked = |message: &&Value| message.get("method").is_some();
        assert_eq!(out.client.iter().filter(asked).count(), 0, "{:?}", out.client);
        let answer = |id: &str| out.agent.iter().find(|message| message["id"] == id).unwrap()["result"].clone();
        assert_eq!(answer("may"), json!({"outcome": {"outcome": "cancelled"}}), "{is_withdrawn}");
        assert_eq!(answer("which"), json!({"action": "cancel"}), "{is_withdrawn}");
    }
}

#[test]
fn a_question_that_the_agent_takes_back_meanwhile_is_taken_back() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    set(&store, &world, &capabilities);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let (_, putting_back) = answered(&mut desk, "load");
    desk.agent(says("By the way"));
    ask_permission(&mut desk);
    desk.agent(json!({"method": "$/cancel_request", "params": {"requestId": "may"}}));
    let out = desk.reply(&putting_back, json!({}));
    let asked = out.client.iter().position(|message| message["id"] == "may");
    let taken_back = out.client.iter().position(|message| message["params"]["requestId"] == "may");
    assert!(asked.is_some() && asked < taken_back, "{:?}", out.client);
}

#[test]
fn where_it_is_too_much_to_wait_the_log_says_what_is_missing() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    set(&store, &world, &capabilities);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let (_, putting_back) = answered(&mut desk, "load");
    let long = "x".repeat(1024 * 1024);
    for _ in 0..17 {
        desk.agent(says(&long));
    }
    desk.agent(says("too late"));
    let out = desk.reply(&putting_back, json!({}));
    assert_eq!(said(&out.client).concat().matches(&long).count(), 15);
    desk.agent(says("Gone on"));
    leave(desk);
    let entries = store.read_log("s1", 1, Bounds { limit: 100, max_bytes: u32::MAX }).unwrap().entries;
    let kinds: String = entries.iter().map(|entry| &entry.value[..1]).collect();
    assert!(kinds.ends_with("gu"), "{kinds}");
    assert!(said(&kept(&store, &world).client).concat().ends_with("xGone on"));
}

#[test]
fn what_it_says_to_its_user_while_it_tells_the_history_is_said_once() {
    let capabilities = json!({"loadSession": true});
    let notice = || json!({"sessionUpdate": "notice", "severity": "warning", "title": "A server is not there"});
    let notices = |out: &Out| updates(out, "notice").len();
    for before in [None, Some(0), Some(1), Some(TOLD.len())] {
        let (store, world) = (Memory::new(), World::unrecorded());
        set(&store, &world, &capabilities);
        for _ in 0..2 {
            let mut desk = met(&store, &world, &json!({"session": {"notices": {}}}), &capabilities);
            let mut out = ask_load(&mut desk, "open", "s1");
            let asked = out.request("session/load");
            let (first, rest) = TOLD.split_at(before.unwrap_or(0));
            out.extend(replay(&mut desk, "s1", first));
            out.extend(desk.agent(update("s1", notice())));
            if before.is_some() {
                out.extend(replay(&mut desk, "s1", rest));
            }
            out.extend(desk.reply(&asked, modes()));
            let out = oblige(&mut desk, out, &[], "never");
            out.answer("open");
            assert_eq!(notices(&out), 1, "{before:?}: {:?}", out.client);
            assert_eq!(said(&out.client), lines(&[TOLD]), "{before:?}");
            leave(desk);
            let mut desk = Desk::open(&store, &world, &[]);
            let params = json!({"protocolVersion": 1, "clientCapabilities": {"session": {"notices": {}}}});
            desk.client(json!({"id": 0, "method": "initialize", "params": params}));
            let info = json!({"name": "other", "version": "1"});
            desk.agent(json!({"id": 0, "result": {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": {}}}));
            assert_eq!(notices(&load(&mut desk, "s1", &[])), 1, "{before:?}");
            leave(desk);
        }
    }
}
