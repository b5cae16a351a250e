//! Requests that wait for a session to open or to close, and those that are cancelled: each is answered once.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, ask_load, ask_prompt, ask_resume, converse, lines, load, mark, oblige, replay, said, set, told,
};

fn resumes() -> Value {
    json!({"sessionCapabilities": {"resume": {}, "close": {}}})
}

fn cancel_request(desk: &mut Desk<'_>, request: &str) -> Out {
    desk.client(json!({"method": "$/cancel_request", "params": {"requestId": request}}))
}

#[test]
fn a_load_behind_a_close_waits_for_it_and_opens_anew() {
    for method in ["session/load", "session/resume"] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &resumes());
        let id = desk.new_session("s1", CWD);
        converse(&mut desk, &id, TOLD);
        let close = desk
            .client(json!({"id": "close", "method": "session/close", "params": {"sessionId": id}}))
            .request("session/close");
        let out = match method {
            "session/load" => ask_load(&mut desk, "open", &id),
            _ => ask_resume(&mut desk, "open", &id),
        };
        assert!(out.agent.is_empty() && out.client.is_empty(), "{method} waits: {out:?}");
        let out = desk.reply(&close, json!({}));
        assert_eq!(out.answer("close")["result"], json!({}));
        assert_eq!(out.request("session/resume")["params"]["sessionId"], "s1");
        let out = oblige(&mut desk, out, &[], "never");
        assert_eq!(mark(&out, "open")["attached"], "resume");
        assert_eq!(said(&out.client), if method == "session/load" { lines(&[TOLD]) } else { Vec::new() });
        assert!(!ask_prompt(&mut desk, "prompt", &id, "Third").agent.is_empty(), "it is open");
    }
}

#[test]
fn what_is_behind_a_load_that_waits_for_a_close_waits_for_it() {
    for (method, is_withdrawn) in [("session/prompt", false), ("session/set_mode", false), ("session/prompt", true)] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &resumes());
        let id = desk.new_session("s1", CWD);
        let close = desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": id}}));
        let close = close.request("session/close");
        ask_load(&mut desk, "load", &id);
        let text = json!([{"type": "text", "text": "On"}]);
        let params = json!({"sessionId": id, "prompt": text, "modeId": "plan"});
        let out = desk.client(json!({"id": "behind", "method": method, "params": params}));
        assert!(out.agent.is_empty() && out.is_open("behind"), "{method} waits: {out:?}");
        if is_withdrawn {
            cancel_request(&mut desk, "load");
        }
        let out = desk.reply(&close, json!({}));
        if is_withdrawn {
            // Its session is not going to be open.
            assert_eq!(out.answer("behind")["error"]["code"], -32002);
            continue;
        }
        let out = desk.reply(&out.request("session/resume"), json!({}));
        assert!(out.answer("load")["error"].is_null());
        let asked = out.request(method);
        let out = desk.reply(&asked, json!({"stopReason": "end_turn"}));
        assert!(out.answer("behind")["error"].is_null(), "{method}");
    }
}

#[test]
fn what_closes_a_session_behind_a_load_that_waits_for_a_close_closes_it() {
    for method in ["session/close", "session/archive", "session/delete"] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &resumes());
        let id = desk.new_session("s1", CWD);
        desk.turn(&id, "Hi", &["Ho"]);
        let close = desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": id}}));
        let close = close.request("session/close");
        ask_load(&mut desk, "load", &id);
        ask_prompt(&mut desk, "prompt", &id, "On");
        let out = desk.client(json!({"id": "last", "method": method, "params": {"sessionId": id}}));
        assert!(out.is_open("last"), "{method} comes behind the load");
        let out = desk.reply(&close, json!({}));
        let out = oblige(&mut desk, out, &[], "never");
        assert!(out.answer("last")["error"].is_null(), "{method}");
        assert!(!out.is_open("load") && !out.is_open("prompt"), "{method}: {out:?}");
        let out = ask_prompt(&mut desk, "more", &id, "More");
        assert_eq!(out.answer("more")["error"]["code"], -32002, "{method}");
    }
}

#[test]
fn a_load_behind_a_close_that_the_agent_refuses_is_answered_too() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &resumes());
    let id = desk.new_session("s1", CWD);
    desk.turn(&id, "Hi", &["Ho"]);
    let close = desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": id}}));
    let close = close.request("session/close");
    ask_load(&mut desk, "load", &id);
    let out = desk.refuse(&close, -32603);
    let out = oblige(&mut desk, out, &[], "never");
    out.answer("close");
    assert!(out.answer("load")["error"].is_null());
}

#[test]
fn what_an_agent_answers_to_a_close_reaches_the_client_whole() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &resumes());
    let id = desk.new_session("s1", CWD);
    let close = desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": id}}));
    let asked = close.request("session/close")["id"].clone();
    // Whatever else the session is closed for has an answer of its own.
    desk.client(json!({"id": "archive", "method": "session/archive", "params": {"sessionId": id}}));
    let answer = r#"{"theirs":1e400,"_meta":{"x":1.50}}"#;
    let out = desk.client(json!({"id": "again", "method": "session/close", "params": {"sessionId": id}}));
    assert!(out.agent.is_empty(), "it is asked once");
    let line = format!(r#"{{"jsonrpc":"2.0","id":{asked},"result":{answer}}}"#);
    let (client, _) = desk.as_sent(Peer::Agent, &line);
    let answered = |id: &str, result: &str| {
        let start = format!(r#""id":"{id}","#);
        client.iter().any(|line| line.contains(&start) && line.contains(&format!(r#""result":{result}"#)))
    };
    assert!(answered("close", answer) && answered("again", answer), "{client:?}");
    assert!(answered("archive", "{}"), "{client:?}");
}

#[test]
fn a_late_answer_to_a_cancelled_load_does_not_finish_the_next() {
    for late_error in [false, true] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &resumes());
        let mut desk = Desk::ready(&store, &world, &resumes());
        let first = ask_load(&mut desk, "first", &id).request("session/resume");
        let out = cancel_request(&mut desk, "first");
        assert_eq!(out.answer("first")["error"]["code"], -32800);
        assert_eq!(out.request("$/cancel_request")["params"]["requestId"], first["id"], "the agent is told");
        let mut out = ask_load(&mut desk, "second", &id);
        let late = if late_error { desk.refuse(&first, -32800) } else { desk.reply(&first, json!({})) };
        out.extend(late);
        assert!(out.is_open("second"), "finished by the answer to another request");
        let out = oblige(&mut desk, out, &[], "never");
        assert!(out.is_open("first"), "answered twice");
        assert_eq!(mark(&out, "second")["attached"], "resume");
        assert_eq!(said(&out.client), lines(&[TOLD]));
        let asked = out.agent.iter().filter(|message| message["method"] == "session/resume").count();
        assert_eq!(asked, 1, "the second is asked by itself");
    }
}

#[test]
fn a_fork_that_is_cancelled_leaves_nothing() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"fork": {}, "close": {}}}));
    let params = json!({"sessionId": id, "cwd": CWD});
    let out = desk.client(json!({"id": "fork", "method": "session/fork", "params": params}));
    let asked = out.request("session/fork");
    let out = cancel_request(&mut desk, "fork");
    assert_eq!(out.answer("fork")["error"]["code"], -32800);
    assert_eq!(out.request("$/cancel_request")["params"]["requestId"], asked["id"]);
    let out = desk.reply(&asked, json!({"sessionId": "f1"}));
    assert!(out.client.is_empty(), "{:?}", out.client);
    assert_eq!(desk.listed(), [id]);
}

#[test]
fn whatever_names_a_session_that_is_opening_waits_for_it() {
    for (method, extra) in [
        ("session/set_mode", json!({"modeId": "code"})),
        ("session/set_model", json!({"modelId": "m"})),
        ("session/set_config_option", json!({"configId": "c", "value": "v"})),
        ("session/prompt", json!({"prompt": [{"type": "text", "text": "Third"}]})),
        ("_ext/method", json!({"x": 1})),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &json!({}));
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let new = ask_load(&mut desk, "load", &id).request("session/new");
        let mut params = extra.clone();
        params["sessionId"] = json!(id);
        let out = desk.client(json!({"id": "behind", "method": method, "params": params}));
        assert!(out.agent.is_empty() && out.is_open("behind"), "{method} waits: {out:?}");
        let out = desk.reply(&new, json!({"sessionId": "s2"}));
        out.answer("load");
        let passed = out.request(method);
        assert_eq!(passed["params"]["sessionId"], "s2", "{method} goes by the agent's id");
        let out = desk.reply(&passed, json!({"done": true}));
        assert_eq!(out.answer("behind")["result"]["done"], true);
    }
}

#[test]
fn a_notification_that_names_a_session_that_is_opening_waits_for_it() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let new = ask_load(&mut desk, "load", &id).request("session/new");
    let out = desk.client(json!({"method": "_ext/told", "params": {"sessionId": id}}));
    assert!(out.agent.is_empty(), "{:?}", out.agent);
    let out = desk.reply(&new, json!({"sessionId": "s2"}));
    assert_eq!(out.request("_ext/told")["params"]["sessionId"], "s2");
}

#[test]
fn a_request_that_waits_can_be_cancelled() {
    for method in ["_ext/method", "session/prompt", "session/set_mode"] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &json!({}));
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let new = ask_load(&mut desk, "load", &id).request("session/new");
        let params = json!({"sessionId": id, "prompt": [], "modeId": "x"});
        desk.client(json!({"id": "behind", "method": method, "params": params}));
        let out = cancel_request(&mut desk, "behind");
        assert_eq!(out.answer("behind")["error"]["code"], -32800, "{method}");
        let out = desk.reply(&new, json!({"sessionId": "s2"}));
        out.answer("load");
        assert!(out.asked(method).is_none() && out.is_open("behind"), "{method} is gone");
    }
}

#[test]
fn a_second_load_that_waits_can_be_cancelled_and_the_first_goes_on() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &resumes());
    let mut desk = Desk::ready(&store, &world, &resumes());
    let asked = ask_load(&mut desk, "first", &id).request("session/resume");
    ask_load(&mut desk, "second", &id);
    let out = cancel_request(&mut desk, "second");
    assert_eq!(out.answer("second")["error"]["code"], -32800);
    assert!(out.is_open("first"));
    let out = desk.reply(&asked, json!({}));
    assert!(out.answer("first")["error"].is_null());
    assert!(out.is_open("second"));
}

#[test]
fn what_waited_for_a_session_that_does_not_open_is_answered() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let new = ask_load(&mut desk, "load", &id).request("session/new");
    let mut out = Out::default();
    for (request, method) in [("p", "session/prompt"), ("x", "_ext/method"), ("m", "session/set_mode")] {
        let params = json!({"sessionId": id, "prompt": [], "modeId": "x"});
        out.extend(desk.client(json!({"id": request, "method": method, "params": params})));
    }
    out.extend(desk.refuse(&new, -32603));
    out.extend(desk.wait(1000));
    // What the layer has no business with may fail here, or at the agent, but not be forgotten.
    let out = oblige(&mut desk, out, &[], "never");
    assert_eq!(out.answer("load")["error"]["code"], -32603);
    assert!(out.answer("p")["error"].is_object() && out.answer("m")["error"].is_object());
    out.answer("x");
    assert_eq!(said(&load(&mut desk, &id, &[]).client), lines(&[TOLD]), "it can be tried again");
}

#[test]
fn an_agent_that_ends_leaves_nobody_waiting() {
    let capabilities = json!({"sessionCapabilities": {"resume": {}, "close": {}, "fork": {}}});
    for asked in ["session/load", "session/resume", "session/fork", "session/close", "session/delete"] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &capabilities);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        if matches!(asked, "session/close" | "session/delete") {
            load(&mut desk, &id, TOLD).answer("load");
        }
        let params = json!({"sessionId": id, "cwd": CWD, "mcpServers": []});
        let mut out = desk.client(json!({"id": "first", "method": asked, "params": params}));
        assert_eq!((out.agent.len(), out.is_open("first")), (1, true), "{asked} asks the agent");
        out.extend(ask_load(&mut desk, "second", &id));
        out.extend(ask_prompt(&mut desk, "third", &id, "Third"));
        desk.engine.peer_closed(Peer::Agent);
        out.extend(desk.pull());
        out.extend(desk.wait(60_000));
        for request in ["first", "second", "third"] {
            out.answer(request);
        }
        let is_deleted = asked == "session/delete" && out.answer("first")["error"].is_null();
        let mut desk = Desk::ready(&store, &world, &capabilities);
        assert_eq!(desk.listed().is_empty(), is_deleted, "{asked}: what was answered is what was done");
    }
}

#[test]
fn what_the_client_answers_the_agent_does_not_wait_behind_what_was_sent_with_initialize() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    desk.client(json!({"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}));
    for id in ["first", "second"] {
        desk.client(json!({"id": id, "method": "session/new", "params": {"cwd": "/", "mcpServers": []}}));
    }
    desk.agent(json!({"id": 0, "result": {"protocolVersion": 1, "agentCapabilities": {}}}));
    desk.agent(json!({"id": 7, "method": "session/request_permission", "params": {"sessionId": "s1", "options": []}}));
    let out = desk.client(json!({"id": 7, "result": {"outcome": {"outcome": "cancelled"}}}));
    assert_eq!(out.agent.len(), 1, "{:?}", out.agent);
    assert_eq!(out.agent[0]["id"], 7);
    let out = desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "second"}}));
    assert_eq!(out.answer("second")["error"]["code"], -32800);
}

/// A session of the agent's own that is open, of which nothing is here.
fn resumed<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    let mut desk = set(store, world, &json!({"loadSession": true}), &[("agent-timeout-ms", "1000")]);
    let out = ask_resume(&mut desk, "resume", "o1");
    oblige(&mut desk, out, TOLD, "never").answer("resume");
    desk
}

#[test]
fn a_prompt_behind_a_cancelled_load_waits_until_the_agent_has_told_what_only_it_has() {
    for is_finished in [true, false] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = resumed(&store, &world);
        let asked = ask_load(&mut desk, "load", "o1").request("session/load");
        assert!(ask_prompt(&mut desk, "turn", "o1", "Third question").agent.is_empty());
        let out = cancel_request(&mut desk, "load");
        assert_eq!(out.answer("load")["error"]["code"], -32800);
        assert_eq!(out.request("$/cancel_request")["params"]["requestId"], asked["id"]);
        assert!(out.asked("session/prompt").is_none(), "its answer could not be told from the history");
        let told = replay(&mut desk, "o1", if is_finished { TOLD } else { &TOLD[..1] });
        assert_eq!(said(&told.client), [""; 0], "nobody waits for it");
        let out = if is_finished { desk.reply(&asked, json!({})) } else { desk.refuse(&asked, -32800) };
        let prompt = out.request("session/prompt");
        desk.agent(update("o1", chunk("agent_message_chunk", "Third answer")));
        desk.reply(&prompt, json!({"stopReason": "end_turn"})).answer("turn");
        let all: Vec<_> = TOLD.iter().copied().chain([("Third question", "Third answer")]).collect();
        for time in ["once", "again"] {
            let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
            assert_eq!(said(&load(&mut desk, "o1", &all).client), lines(&[&all]), "{time}, told: {is_finished}");
        }
    }
}

#[test]
fn a_prompt_behind_a_cancelled_load_waits_no_longer_than_the_limit() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = resumed(&store, &world);
    ask_load(&mut desk, "load", "o1").request("session/load");
    ask_prompt(&mut desk, "turn", "o1", "Third question");
    cancel_request(&mut desk, "load").answer("load");
    assert!(desk.wait(900).asked("session/prompt").is_none());
    desk.wait(200).request("session/prompt");
}
