//! The agent ends and is started again: what it was at has failed and says so, and nothing that was said is lost.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::{Memory, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, KILLED, Out, World, chunk, update};
use crate::scenes::{CWD, ask_fork, ask_load, ask_prompt, asked, load, said, says, told, updates};

fn resumes() -> Value {
    json!({"sessionCapabilities": {"resume": {}}})
}

fn loads() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"close": {}, "delete": {}}})
}

/// The request has failed because the agent has ended.
fn assert_lost(out: &Out, request: &str) {
    let error = &out.answer(request)["error"];
    assert_eq!(error["code"], -32603, "{error}");
    assert!(error["message"].as_str().unwrap().contains(KILLED), "{error}");
    assert_eq!(error["data"]["agentEnded"], KILLED);
}

#[test]
fn at_rest_nobody_is_told() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &resumes());
    desk.new_session("s1", CWD);
    let out = desk.revive(&resumes());
    assert!(out.client.is_empty(), "{:?}", out.client);
    assert_eq!(out.agent.len(), 1, "a session is attached when it is used: {:?}", out.agent);
    assert!(desk.warnings.is_empty(), "{:?}", desk.warnings);
}

#[test]
fn the_next_agent_is_initialized_as_the_client_has_asked_for_it() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let params =
        json!({"protocolVersion": 1, "clientCapabilities": {"fs": {"readTextFile": true}}, "_meta": {"x": [1]}});
    let mut given = params.clone();
    given["protocolVersion"] = 2.into();
    desk.client(json!({"id": 0, "method": "initialize", "params": given}));
    desk.agent(json!({"id": 0, "result": {"protocolVersion": 1, "agentCapabilities": {}}}));
    for _ in 0..2 {
        let out = desk.restart();
        assert_eq!(out.request("initialize")["params"], params);
        assert_ne!(out.request("initialize")["id"], 0, "the client's request is answered");
        let out = desk.reply(&out.request("initialize"), json!({"protocolVersion": 1, "agentCapabilities": {}}));
        assert!(out.client.is_empty(), "{:?}", out.client);
    }
}

#[test]
fn a_turn_fails_and_what_was_said_up_to_then_is_kept() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = asked(&store, &world);
    desk.agent(says("Half of "));
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Run", "status": "in_progress"});
    desk.agent(update("s1", call));
    let out = desk.revive(&json!({}));
    assert_lost(&out, "turn");
    assert_eq!(updates(&out, "tool_call_update")[0]["status"], "failed");
    assert!(desk.memos.keys().all(|key| !key.starts_with("q/")), "{:?}", desk.memos);
    assert!(desk.agent(says("late")).client.is_empty(), "the session is not open there");
    let mut other = Desk::ready(&store, &world, &json!({}));
    let out = load(&mut other, "s1", &[]);
    assert_eq!(said(&out.client), ["> Go", "Half of "]);
    assert_eq!(updates(&out, "tool_call_update")[0]["status"], "failed");
}

#[test]
fn a_turn_that_was_cancelled_ends_so() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = asked(&store, &world);
    desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
    let out = desk.restart();
    assert_eq!(out.answer("turn")["result"]["stopReason"], "cancelled");
}

#[test]
fn prompts_that_were_not_waited_for_all_fail() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = asked(&store, &world);
    ask_prompt(&mut desk, "more", "s1", "And on");
    let out = desk.revive(&json!({}));
    assert_lost(&out, "turn");
    assert_lost(&out, "more");
    let mut other = Desk::ready(&store, &world, &json!({}));
    assert_eq!(said(&load(&mut other, "s1", &[]).client), ["> GoAnd on"]);
}

#[test]
fn what_could_not_be_kept_of_a_turn_is_told() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = asked(&store, &world);
    store.fail(0, 5, StorageError::Full);
    desk.agent(says("Half"));
    let error = desk.restart().answer("turn")["error"].clone();
    assert!(error["message"].as_str().unwrap().contains("not all that was said"), "{error}");
    store.mend();
    desk.wait(60_000);
    let mut other = Desk::ready(&store, &world, &json!({}));
    assert_eq!(said(&load(&mut other, "s1", &[]).client), ["> Go", "Half"], "it is stored later");
}

#[test]
fn a_request_that_only_passes_fails() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for (method, params) in [
        ("session/new", json!({"cwd": CWD, "mcpServers": []})),
        ("authenticate", json!({"methodId": "m"})),
        ("_x/y", json!({})),
    ] {
        desk.client(json!({"id": method, "method": method, "params": params})).request(method);
        let out = desk.revive(&json!({}));
        assert_lost(&out, method);
        assert_eq!(out.agent.len(), 1, "it may be what has brought the agent down: {:?}", out.agent);
    }
    assert!(desk.listed().is_empty());
}

#[test]
fn a_load_under_way_fails_and_can_be_asked_for_again() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &loads());
    let mut desk = Desk::ready(&store, &world, &loads());
    ask_load(&mut desk, "load", &id).request("session/load");
    desk.agent(update("s1", chunk("user_message_chunk", "First question")));
    let out = desk.revive(&loads());
    assert_lost(&out, "load");
    assert!(desk.memos.keys().all(|key| !key.starts_with("o/")), "{:?}", desk.memos);
    assert_eq!(ask_prompt(&mut desk, "prompt", &id, "Go").answer("prompt")["error"]["code"], -32002);
    let out = load(&mut desk, &id, crate::scenes::TOLD);
    assert_eq!(said(&out.client), crate::scenes::lines(&[crate::scenes::TOLD]));
}

#[test]
fn a_fork_under_way_fails_and_leaves_nothing() {
    let (store, world) = (Memory::new(), World::default());
    let can = json!({"loadSession": true, "sessionCapabilities": {"fork": {}}});
    let id = told(&store, &world, &can);
    let mut desk = Desk::ready(&store, &world, &can);
    ask_fork(&mut desk, &id).request("session/fork");
    let out = desk.revive(&can);
    assert_lost(&out, "fork");
    assert_eq!(desk.listed(), [id]);
}

#[test]
fn a_session_that_is_being_closed_is_closed() {
    for method in ["session/close", "session/archive", "session/delete"] {
        for is_in_turn in [false, true] {
            let (store, world) = (Memory::new(), World::default());
            let mut desk = Desk::ready(&store, &world, &loads());
            desk.new_session("s1", CWD);
            if is_in_turn {
                ask_prompt(&mut desk, "turn", "s1", "Go");
            }
            desk.client(json!({"id": "away", "method": method, "params": {"sessionId": "s1"}}));
            let out = desk.revive(&loads());
            assert_eq!(out.answer("away")["result"], json!({}), "{method}");
            if is_in_turn {
                assert_eq!(out.answer("turn")["result"]["stopReason"], "cancelled");
            }
            let asked: Vec<_> = out.agent.iter().map(|message| message["method"].as_str().unwrap()).collect();
            let expected = if method == "session/delete" { vec!["initialize", method] } else { vec!["initialize"] };
            assert_eq!(asked, expected, "only what the new one has to know");
            desk.wait(200_000);
            assert_eq!(desk.memos.keys().collect::<Vec<_>>(), ["again", "agent", "client"], "{method}");
        }
    }
}

#[test]
fn while_initializing_the_new_one_answers() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    desk.client(json!({"id": "i", "method": "initialize", "params": {"protocolVersion": 1}}));
    let list = json!({"id": "list", "method": "session/list", "params": {}});
    assert!(desk.client(list).client.is_empty());
    for _ in 0..2 {
        let out = desk.restart();
        assert_eq!(out.request("initialize")["id"], "i");
        assert!(out.client.is_empty());
    }
    let out = desk.agent(json!({"id": "i", "result": {"protocolVersion": 1, "agentCapabilities": {}}}));
    assert_eq!(out.answer("i")["result"]["protocolVersion"], 1);
    assert_eq!(out.answer("list")["result"]["sessions"], json!([]));
}

#[test]
fn before_anything_was_asked_nothing_is_asked_again() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    assert!(desk.restart().agent.is_empty());
    desk.initialize(&json!({}));
    desk.new_session("s1", CWD);
}

#[test]
fn what_the_agent_has_asked_is_taken_back_and_late_answers_are_for_nobody() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = asked(&store, &world);
    let permission = json!({"id": 5, "method": "session/request_permission", "params": {"sessionId": "s1"}});
    assert_eq!(desk.agent(permission.clone()).client[0]["id"], 5);
    let out = desk.revive(&resumes());
    assert_eq!(out.client[0]["method"], "$/cancel_request", "before what it was for has failed");
    assert_eq!(out.client[0]["params"], json!({"requestId": 5}));
    // The new agent counts from the beginning, too.
    let out = ask_prompt(&mut desk, "next", "s1", "Again");
    let out = desk.reply(&out.request("session/resume"), json!({}));
    out.request("session/prompt");
    let own = desk.agent(permission).client[0]["id"].clone();
    assert_ne!(own, 5);
    let allowed = json!({"outcome": {"outcome": "selected", "optionId": "allow"}});
    assert!(desk.client(json!({"id": 5, "result": allowed})).agent.is_empty(), "for the one that has ended");
    let out = desk.agent(json!({"method": "$/cancel_request", "params": {"requestId": 5}}));
    assert_eq!(out.client[0]["params"]["requestId"], own);
    let out = desk.client(json!({"id": own, "result": {"outcome": {"outcome": "cancelled"}}}));
    assert_eq!(out.agent, [json!({"jsonrpc": "2.0", "id": 5, "result": {"outcome": {"outcome": "cancelled"}}})]);
}

#[test]
fn the_sessions_of_its_sub_agents_end_with_it() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = asked(&store, &world);
    desk.agent(update("s1", json!({"sessionUpdate": "subagent_update", "sessionId": "c1"})));
    desk.agent(update("c1", chunk("agent_message_chunk", "Child")));
    desk.revive(&json!({}));
    let status = |desk: &mut Desk<'_>, id: &str| desk.ask("session/status", json!({"sessionId": id}))["result"].clone();
    assert_eq!(status(&mut desk, "c1"), json!({"status": "saved"}));
    assert_eq!(status(&mut desk, "s1"), json!({"status": "open"}));
    assert_eq!(said(&load(&mut desk, "c1", &[]).client), ["Child"]);
}

#[test]
fn an_agent_that_ends_before_it_has_answered_initialize_says_so() {
    let (store, world) = (Memory::new(), World::default());
    for restarts in 0..3 {
        let mut desk = Desk::open(&store, &world, &[("agent", "my-agent")]);
        desk.client(json!({"id": "init", "method": "initialize", "params": {"protocolVersion": 1}}));
        desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
        for _ in 0..restarts {
            assert_eq!(desk.restart().request("initialize")["params"]["protocolVersion"], 1);
        }
        desk.engine.peer_closed(Peer::Agent);
        let out = desk.pull();
        for id in ["init", "new"] {
            let error = &out.answer(id)["error"];
            assert_eq!(error["code"], -32603);
            let says = error["message"].as_str().unwrap();
            assert!(says.contains("(my-agent) cannot be used: it has ended before it answered `initialize`"), "{says}");
            let times = ["", "started again (once)", "started again (2 times)"][restarts];
            assert!(says.contains(times) && !says.contains("session"), "{says}");
        }
    }
}

#[test]
fn without_another_agent_an_end_is_as_ever() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = asked(&store, &world);
    desk.restart();
    ask_prompt(&mut desk, "held", "s1", "More");
    desk.engine.peer_closed(Peer::Agent);
    let out = desk.pull();
    assert_eq!(out.answer("held")["error"]["code"], -32603);
    assert!(!desk.engine.has_held());
    assert_eq!(ask_prompt(&mut desk, "next", "s1", "More").answer("next")["error"]["code"], -32603);
}
