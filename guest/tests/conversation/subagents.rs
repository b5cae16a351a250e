//! Sessions that an agent starts on behalf of another.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::{Memory, Storage};
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{CWD, LONG, answers, ask_load, ask_prompt, leave, load, met, oblige, said};

fn resumes() -> Value {
    json!({"sessionCapabilities": {"resume": {}}})
}

/// A turn of `s1`, in which the agent announces `c1`, which says something.
fn delegates(desk: &mut Desk<'_>, prompt: &str, child: &str) {
    let out = ask_prompt(desk, "prompt", "s1", prompt);
    let asked = out.request("session/prompt");
    let announced = json!({"sessionUpdate": "subagent_update", "sessionId": "c1", "title": "Child"});
    let out = desk.agent(update("s1", announced));
    assert_eq!(out.client.len(), 1, "the client is told");
    let out = desk.agent(update("c1", chunk("agent_message_chunk", child)));
    assert_eq!(out.client[0]["params"]["sessionId"], "c1");
    desk.reply(&asked, json!({"stopReason": "end_turn"}));
}

/// The ids of all sessions, sub-agents' included.
fn everything(desk: &mut Desk<'_>) -> Vec<String> {
    let answer = desk.ask("session/list", json!({"_meta": {"acp-sessions": {"subagents": true}}}));
    let rows = answer["result"]["sessions"].as_array().unwrap().iter();
    let mut ids: Vec<String> = rows.map(|row| row["sessionId"].as_str().unwrap().to_owned()).collect();
    ids.sort_unstable();
    ids
}

fn delegated<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, &resumes());
    desk.new_session("s1", CWD);
    delegates(&mut desk, "Go", "First. ");
    desk
}

#[test]
fn a_sub_agents_session_is_recorded_and_listed_only_when_asked_for() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = delegated(&store, &world);
    assert_eq!(desk.listed(), ["s1"]);
    assert_eq!(everything(&mut desk), ["c1", "s1"]);
    desk.engine.peer_closed(Peer::Client);
    let mut desk = Desk::ready(&store, &world, &resumes());
    assert_eq!(said(&load(&mut desk, "c1", &[]).client), ["First. "]);
}

#[test]
fn a_sub_agent_that_is_announced_again_is_the_same_session() {
    for same_connection in [true, false] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = delegated(&store, &world);
        if !same_connection {
            desk.engine.peer_closed(Peer::Client);
            desk = Desk::ready(&store, &world, &resumes());
            load(&mut desk, "s1", &[]).answer("load");
        }
        delegates(&mut desk, "Go on", "Second.");
        assert_eq!(everything(&mut desk), ["c1", "s1"], "neither a twin nor a grave: {same_connection}");
        desk.engine.peer_closed(Peer::Client);
        let mut desk = Desk::ready(&store, &world, &resumes());
        let out = load(&mut desk, "c1", &[]);
        assert!(out.answer("load")["error"].is_null(), "{:?}", out.answer("load"));
        assert_eq!(said(&out.client), ["First. Second."], "same connection: {same_connection}");
    }
}

#[test]
fn a_sub_agent_whose_id_another_agent_has_taken_does_not_disturb_that_session() {
    let (store, world) = (Memory::new(), World::default());
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    other.new_session("c1", CWD);
    other.turn("c1", "Of b", &["Yes"]);
    other.engine.peer_closed(Peer::Client);
    let mut desk = Desk::ready(&store, &world, &resumes());
    desk.new_session("s1", CWD);
    let asked = ask_prompt(&mut desk, "prompt", "s1", "Go").request("session/prompt");
    let announced = json!({"sessionUpdate": "subagent_update", "sessionId": "c1", "title": "Child"});
    desk.agent(update("s1", announced));
    desk.agent(update("c1", chunk("agent_message_chunk", "Of a")));
    desk.reply(&asked, json!({"stopReason": "end_turn"}));
    desk.engine.peer_closed(Peer::Client);
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    assert_eq!(said(&load(&mut other, "c1", &[]).client), ["> Of b", "Yes"]);
}

#[test]
fn a_sub_agents_session_stays_as_long_as_its_parent() {
    let (store, world) = (Memory::new(), World::default());
    delegated(&store, &world).engine.peer_closed(Peer::Client);
    world.now.set(25 * 3_600_000);
    let mut desk = Desk::ready(&store, &world, &resumes());
    for _ in 0..10 {
        desk.wait(1000);
    }
    assert_eq!(everything(&mut desk), ["c1", "s1"]);
    assert_eq!(said(&load(&mut desk, "c1", &[]).client), ["First. "]);
}

#[test]
fn a_sub_agents_session_goes_with_its_parent() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = delegated(&store, &world);
    assert_eq!(desk.ask("session/delete", json!({"sessionId": "s1"}))["result"], json!({}));
    assert_eq!(everything(&mut desk), [""; 0]);
    let out = desk.agent(update("c1", chunk("agent_message_chunk", "late")));
    assert!(out.client.is_empty(), "{:?}", out.client);
    desk.engine.peer_closed(Peer::Client);
    let mut desk = Desk::ready(&store, &world, &resumes());
    assert_eq!(everything(&mut desk), [""; 0]);
}

#[test]
fn whoever_waits_for_a_sub_agents_session_is_answered_though_its_parent_closes() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"resume": {}, "close": {}}});
    delegated(&store, &world).engine.peer_closed(Peer::Client);
    for wants in ["a close", "a prompt"] {
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let out = ask_load(&mut desk, "load", "s1");
        oblige(&mut desk, out, &[], "s1");
        delegates(&mut desk, "Go", "First. ");
        let is_prompt = wants == "a prompt";
        let asked = is_prompt.then(|| ask_prompt(&mut desk, "child", "c1", "Go on").request("session/prompt"));
        let mut out = desk.client(json!({"id": "parent", "method": "session/close", "params": {"sessionId": "s1"}}));
        match &asked {
            Some(asked) => out.extend(desk.reply(asked, json!({"stopReason": "cancelled"}))),
            None => {
                desk.client(json!({"id": "child", "method": "session/close", "params": {"sessionId": "c1"}}));
            }
        }
        let parent = out.agent.iter().find(|asked| asked["params"]["sessionId"] == "s1").cloned().unwrap();
        out.extend(desk.reply(&parent, json!({})));
        out.extend(desk.wait_awake(200_000));
        assert!(out.answer("parent")["error"].is_null());
        assert!(out.answer("child")["error"].is_null(), "{wants}: {:?}", out.client);
    }
}

#[test]
fn whoever_waits_for_a_sub_agents_session_is_answered_though_its_parent_is_deleted() {
    for method in ["session/resume", "session/close"] {
        let (store, world) = (Memory::new(), World::default());
        delegated(&store, &world).engine.peer_closed(Peer::Client);
        let capabilities = json!({"sessionCapabilities": {"resume": {}, "close": {}}});
        let mut desk = Desk::ready(&store, &world, &capabilities);
        if method == "session/close" {
            load(&mut desk, "c1", &[]).answer("load");
        }
        let params = json!({"sessionId": "c1", "cwd": CWD});
        let mut out = desk.client(json!({"id": "waits", "method": method, "params": params}));
        let asked = out.request(method);
        let delete = json!({"id": "delete", "method": "session/delete", "params": {"sessionId": "s1"}});
        out.extend(desk.client(delete));
        out.extend(desk.reply(&asked, json!({})));
        assert_eq!(out.answer("delete")["result"], json!({}), "{method}");
        match method {
            "session/close" => assert_eq!(out.answer("waits")["result"], json!({}), "it is open no more"),
            _ => assert_eq!(out.answer("waits")["error"]["code"], -32002),
        }
        assert!(everything(&mut desk).is_empty());
    }
}

#[test]
fn a_sub_agents_session_ends_with_its_parent_also_when_the_instance_was_lost_meanwhile() {
    let (store, world) = (Memory::new(), World::default());
    let desk = delegated(&store, &world);
    assert!(desk.memos.contains_key("s/c1"), "{:?}", desk.memos);
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    desk.pull();
    desk.ask("session/close", json!({"sessionId": "s1"}));
    assert_eq!(desk.memos.keys().collect::<Vec<_>>(), ["agent", "client"], "neither is open any more");
}

/// The agent says that it has started a session on behalf of another.
fn announce(desk: &mut Desk<'_>, parent: &str, child: &str) {
    desk.agent(update(parent, json!({"sessionUpdate": "subagent_update", "sessionId": child})));
}

/// A session `s1` with the sub-agents `c1` and `c2`, and `g1` of `c1`.
fn family<'a>(store: &'a Memory, world: &'a World, capabilities: &Value) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, capabilities);
    desk.new_session("s1", CWD);
    for (parent, child) in [("s1", "c1"), ("s1", "c2"), ("c1", "g1")] {
        announce(&mut desk, parent, child);
    }
    desk
}

/// The parent is put away in this way.
fn away(desk: &mut Desk<'_>, method: &str) -> Out {
    desk.client(json!({"id": "away", "method": method, "params": {"sessionId": "s1"}}))
}

/// The requests that were answered, in this order.
fn answered(out: &Out) -> Vec<&str> {
    let answers = out.client.iter().filter(|message| message.get("method").is_none());
    answers.map(|answer| answer["id"].as_str().unwrap()).collect()
}

/// The sessions that the agent was told to cancel.
fn cancelled(out: &Out) -> Vec<&str> {
    let told = out.agent.iter().filter(|message| message["method"] == "session/cancel");
    let mut told: Vec<_> = told.map(|message| message["params"]["sessionId"].as_str().unwrap()).collect();
    told.sort_unstable();
    told
}

/// The agent agrees to whatever it is asked to close.
fn let_go(desk: &mut Desk<'_>, out: &mut Out) {
    for asked in out.agent.clone().iter().filter(|asked| asked["method"] == "session/close") {
        out.extend(desk.reply(asked, json!({})));
    }
}

const AWAY: [&str; 3] = ["session/close", "session/delete", "session/archive"];

#[test]
fn the_prompts_of_sub_agents_are_answered_before_what_cancels_them_with_their_parent() {
    for capabilities in [json!({}), json!({"sessionCapabilities": {"close": {}, "delete": {}}})] {
        for method in AWAY {
            for prompted in [&["c1"][..], &["c2", "g1"][..], &["s1", "c1", "c2", "g1"][..]] {
                for ending in [
                    json!({"result": {"stopReason": "cancelled"}}),
                    json!({"error": {"code": -32603, "message": "aborted"}}),
                ] {
                    let (store, world) = (Memory::new(), World::unrecorded());
                    let mut desk = family(&store, &world, &capabilities);
                    for session in prompted {
                        ask_prompt(&mut desk, session, session, "Go").request("session/prompt");
                    }
                    let mut all = away(&mut desk, method);
                    let mut expected = prompted.to_vec();
                    expected.sort_unstable();
                    assert_eq!(cancelled(&all), expected, "{method}");
                    assert!(all.client.is_empty() && all.asked("session/delete").is_none());
                    for session in prompted {
                        let spared = |asked: &Value| asked["params"]["sessionId"] != "s1";
                        assert!(all.agent.iter().filter(|asked| asked["method"] == "session/close").all(spared));
                        all.extend(desk.agent(update(session, chunk("agent_message_chunk", "last words"))));
                        let mut answer = ending.clone();
                        answer["id"] = (*session).into();
                        all.extend(desk.agent(answer));
                    }
                    let_go(&mut desk, &mut all);
                    assert_eq!(answered(&all), [prompted, &["away"]].concat(), "{method} {capabilities}");
                    assert!(prompted.iter().all(|id| all.answer(*id)["result"]["stopReason"] == "cancelled"));
                    assert_eq!(all.answer("away")["result"], json!({}));
                    if method == "session/delete" {
                        assert!(everything(&mut desk).is_empty());
                    } else {
                        leave(desk);
                        let mut desk = Desk::ready(&store, &world, &resumes());
                        for session in prompted {
                            assert_eq!(said(&load(&mut desk, session, &[]).client), ["> Go", "last words"]);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn the_prompt_of_a_sub_agent_is_answered_before_its_parent_is_closed() {
    for method in AWAY {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = family(&store, &world, &json!({"sessionCapabilities": {"close": {}, "delete": {}}}));
        let asked = ask_prompt(&mut desk, "child", "c1", "Go").request("session/prompt");
        let mut out = away(&mut desk, method);
        assert_eq!(cancelled(&out), ["c1"]);
        // Another is refused, as it is in the parent.
        let refused = ask_prompt(&mut desk, "late", "c2", "And?");
        assert_eq!(refused.answer("late")["error"]["code"], -32002, "{refused:?}");
        assert!(refused.agent.is_empty());
        out.extend(desk.reply(&asked, json!({"stopReason": "cancelled"})));
        let_go(&mut desk, &mut out);
        assert_eq!(answered(&out), ["child", "away"], "{method}");
    }
}

#[test]
fn the_prompts_of_sub_agents_are_answered_first_though_the_agent_ends_or_is_silent() {
    for method in AWAY {
        for how in ["silent", "ends", "is started again"] {
            // Those that stand before their parent in whatever order, and those behind it.
            for parent_is_asked in [true, false] {
                let (store, world) = (Memory::new(), World::default());
                let mut desk = family(&store, &world, &json!({"sessionCapabilities": {"close": {}}}));
                announce(&mut desk, "s1", "z1");
                let prompted = [&["c1", "z1", "g1"][..], if parent_is_asked { &["s1"] } else { &[] }].concat();
                for session in &prompted {
                    ask_prompt(&mut desk, session, session, "Go");
                }
                let mut out = away(&mut desk, method);
                match how {
                    "ends" => desk.engine.peer_closed(Peer::Agent),
                    "is started again" => desk.engine.agent_restarted("signal: 9 (SIGKILL)"),
                    _ => {}
                }
                // As long as for a turn and for the close of the session itself, and no longer.
                for _ in 0..2 {
                    out.extend(desk.wait_awake(120_000));
                    out.extend(desk.wait(1000));
                }
                let order = answered(&out);
                assert_eq!(
                    (order.len(), order.last()),
                    (prompted.len() + 1, Some(&"away")),
                    "{method} {how}: {order:?}"
                );
                assert!(prompted.iter().all(|id| out.answer(*id)["result"]["stopReason"] == "cancelled"));
                assert_eq!(out.answer("away")["result"], json!({}));
            }
        }
    }
}

#[test]
fn a_sub_agents_prompt_that_its_client_cancels_as_its_parent_closes_is_answered_once() {
    for method in AWAY {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = family(&store, &world, &json!({}));
        let asked = ask_prompt(&mut desk, "child", "c1", "Go").request("session/prompt");
        let mut out = away(&mut desk, method);
        out.extend(desk.client(json!({"method": "session/cancel", "params": {"sessionId": "c1"}})));
        out.extend(desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "child"}})));
        out.extend(away_again(&mut desk));
        out.extend(desk.reply(&asked, json!({"stopReason": "cancelled"})));
        assert_eq!(answered(&out), ["child", "away", "again"], "{method}");
    }
}

/// The parent is deleted, whatever else it is asked for.
fn away_again(desk: &mut Desk<'_>) -> Out {
    desk.client(json!({"id": "again", "method": "session/delete", "params": {"sessionId": "s1"}}))
}

#[test]
fn the_prompt_of_a_sub_agent_goes_on_where_the_instance_was_lost_as_its_parent_closed() {
    for method in AWAY {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = family(&store, &world, &json!({}));
        let asked = ask_prompt(&mut desk, "child", "c1", "Go").request("session/prompt");
        away(&mut desk, method);
        let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
        let mut out = desk.pull();
        assert!(out.answer("away")["error"]["message"].as_str().unwrap().contains("try again"));
        out.extend(desk.reply(&asked, json!({"stopReason": "cancelled"})));
        assert_eq!(out.answer("child")["result"], json!({"stopReason": "cancelled"}));
        assert_eq!(answered(&away_again(&mut desk)), ["again"]);
        assert!(everything(&mut desk).is_empty());
    }
}

#[test]
fn a_prompt_to_a_sub_agent_whose_parent_is_deleted_unopened_is_cancelled_and_nothing_of_it_is_kept() {
    for is_lost in [false, true] {
        let (store, world) = (Memory::new(), World::default());
        delegated(&store, &world).engine.peer_closed(Peer::Client);
        let mut desk = Desk::ready(&store, &world, &resumes());
        load(&mut desk, "c1", &[]).answer("load");
        ask_prompt(&mut desk, "child", "c1", "Go on").request("session/prompt");
        let memos = desk.memos.clone();
        let mut out = away(&mut desk, "session/delete");
        if is_lost {
            // The delete is in the store, and nobody has heard of it.
            desk = Desk::carry_on(&store, &world, &[], memos, Vec::new());
            out = desk.pull();
        } else {
            assert_eq!(cancelled(&out), ["c1"]);
            assert_eq!(answered(&out), ["child", "away"]);
        }
        out.extend(desk.agent(answers("child")));
        let result = &out.answer("child")["result"];
        assert_eq!(result["stopReason"], if is_lost { "end_turn" } else { "cancelled" });
        let kept = &result["_meta"]["acp-sessions"];
        assert_eq!(kept["stored"], false);
        assert!(kept["reason"].as_str().unwrap().contains("deleted"), "{kept}");
    }
}

/// A connection on which both a parent and its sub-agent's session were opened by the client.
fn opened_apart<'a>(store: &'a Memory, world: &'a World, order: [&str; 2]) -> Desk<'a> {
    delegated(store, world).engine.peer_closed(Peer::Client);
    let mut desk = Desk::ready(store, world, &json!({"sessionCapabilities": {"resume": {}, "close": {}}}));
    for id in order {
        let out = ask_load(&mut desk, id, id);
        assert!(oblige(&mut desk, out, &[], id).answer(id)["error"].is_null());
    }
    desk
}

#[test]
fn a_sub_agents_session_that_its_client_has_opened_by_itself_is_over_with_its_parent() {
    for order in [["s1", "c1"], ["c1", "s1"]] {
        for method in ["session/close", "session/archive"] {
            for is_prompted in [false, true] {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut desk = opened_apart(&store, &world, order);
                let asked = is_prompted.then(|| ask_prompt(&mut desk, "child", "c1", "Go").request("session/prompt"));
                let mut out = away(&mut desk, method);
                if let Some(asked) = asked {
                    assert_eq!(cancelled(&out), ["c1"]);
                    out.extend(desk.reply(&asked, json!({"stopReason": "cancelled"})));
                }
                let_go(&mut desk, &mut out);
                let expected = if is_prompted { &["child", "away"][..] } else { &["away"] };
                assert_eq!(answered(&out), expected, "{order:?} {method}");
                assert_eq!(desk.memos.keys().collect::<Vec<_>>(), ["agent", "client"], "neither is open any more");
            }
        }
    }
}

#[test]
fn a_sub_agents_session_stays_open_where_its_parent_could_not_be_opened() {
    let (store, world) = (Memory::new(), World::unrecorded());
    delegated(&store, &world).engine.peer_closed(Peer::Client);
    let mut desk = Desk::ready(&store, &world, &resumes());
    load(&mut desk, "c1", &[]).answer("load");
    let out = ask_load(&mut desk, "parent", "s1");
    let out = desk.refuse(&out.request("session/resume"), -32000);
    assert_eq!(out.answer("parent")["error"]["code"], -32000);
    ask_prompt(&mut desk, "child", "c1", "Go").request("session/prompt");
}

#[test]
fn a_sub_agents_session_that_is_being_opened_as_its_parent_closes_is_not_opened() {
    for method in ["session/close", "session/archive"] {
        let (store, world) = (Memory::new(), World::unrecorded());
        delegated(&store, &world).engine.peer_closed(Peer::Client);
        let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}, "close": {}}}));
        let out = ask_load(&mut desk, "parent", "s1");
        oblige(&mut desk, out, &[], "s1").answer("parent");
        let asked = ask_load(&mut desk, "child", "c1").request("session/resume");
        let mut out = ask_prompt(&mut desk, "prompt", "c1", "Go");
        out.extend(away(&mut desk, method));
        let_go(&mut desk, &mut out);
        assert_eq!(out.answer("child")["error"]["code"], -32800, "{method}: {:?}", out.client);
        assert_eq!(out.answer("prompt")["result"]["stopReason"], "cancelled", "{method}");
        assert_eq!(out.answer("away")["result"], json!({}));
        let late = desk.reply(&asked, json!({}));
        assert_eq!(late.request("session/close")["params"]["sessionId"], "c1", "the agent lets go of it again");
        assert_eq!(desk.memos.keys().collect::<Vec<_>>(), ["agent", "client"], "neither is open");
    }
}

/// What an agent says of its sub-agent `c1`.
fn of_child(members: &Value) -> Value {
    let mut said = json!({"sessionUpdate": "subagent_update", "sessionId": "c1"});
    said.as_object_mut().unwrap().extend(members.as_object().unwrap().clone());
    said
}

/// An agent that is asked to open `s1`, once more, says this behind its answer. Whether the client is told it, and how long the log is
/// then.
fn says_behind_load(store: &Memory, world: &World, method: &str, says: &[Value]) -> (bool, u32) {
    let loads = json!({"loadSession": true});
    let capabilities = if method == "session/load" { &loads } else { &resumes() };
    let mut desk = met(store, world, &json!({"subagents": {}}), capabilities);
    let params = json!({"sessionId": "s1", "cwd": CWD, "mcpServers": []});
    let mut out = desk.client(json!({"id": "load", "method": method, "params": params}));
    let asked = out.request(method);
    if method == "session/load" {
        let running = of_child(&json!({"title": "Child", "state": {"state": "running"}}));
        let idle = of_child(&json!({"state": {"state": "idle", "stopReason": "end_turn"}}));
        for told in [chunk("user_message_chunk", "Go"), running, chunk("agent_message_chunk", "Done."), idle] {
            out.extend(desk.agent(update("s1", told)));
        }
    }
    out.extend(desk.reply(&asked, json!({})));
    for said in says {
        out.extend(desk.agent(update("s1", said.clone())));
    }
    out.extend(desk.wait(LONG));
    let behind = out.client.iter().skip_while(|message| message["id"] != "load");
    let behind: Vec<&Value> = behind.map(|message| &message["params"]["update"]).collect();
    let is_told = says.iter().all(|said| behind.contains(&said));
    leave(desk);
    (is_told, store.log_end("s1").unwrap())
}

/// A session `s1` whose agent has had a sub-agent `c1` at work.
fn had_child(store: &Memory, world: &World) -> u32 {
    let mut desk = met(store, world, &json!({"subagents": {}}), &resumes());
    desk.new_session("s1", CWD);
    let asked = ask_prompt(&mut desk, "prompt", "s1", "Go").request("session/prompt");
    desk.agent(update("s1", of_child(&json!({"title": "Child", "state": {"state": "running"}}))));
    desk.agent(update("s1", of_child(&json!({"state": {"state": "idle", "stopReason": "end_turn"}}))));
    desk.agent(update("s1", chunk("agent_message_chunk", "Done.")));
    desk.reply(&asked, json!({"stopReason": "end_turn"}));
    leave(desk);
    store.log_end("s1").unwrap()
}

#[test]
fn a_state_of_a_sub_agent_that_the_transcript_has_as_its_last_is_told_and_not_kept_once_more() {
    let cancel = json!({"cancel": {}});
    for (says, is_new) in [
        (of_child(&json!({"state": {"state": "idle", "stopReason": "end_turn"}})), false),
        (of_child(&json!({"state": {"stopReason": "end_turn", "state": "idle"}, "title": "Child"})), false),
        (of_child(&json!({})), false),
        (of_child(&json!({"title": null})), true),
        (of_child(&json!({"state": {"state": "idle"}})), true),
        (of_child(&json!({"state": {"state": "running"}})), true),
        (of_child(&json!({"state": {"state": "running"}, "capabilities": cancel})), true),
        (of_child(&json!({"state": {"state": "idle", "stopReason": "end_turn"}, "capabilities": cancel})), true),
        (json!({"sessionUpdate": "subagent_update", "sessionId": "c2"}), true),
        (json!({"sessionUpdate": "subagent_update", "state": {"state": "idle", "stopReason": "end_turn"}}), true),
    ] {
        for method in ["session/load", "session/resume"] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let before = had_child(&store, &world);
            for _ in 0..4 {
                let (is_told, after) = says_behind_load(&store, &world, method, std::slice::from_ref(&says));
                assert!(is_told, "{method} {says}");
                // One that names no sub-agent is none's state.
                let expected = before + u32::from(is_new);
                let is_of_none = says.get("sessionId").is_none();
                assert!(after == expected || is_of_none, "{method} {says}: {before} {after}");
            }
        }
    }
}

#[test]
fn what_an_agent_says_of_several_sub_agents_and_in_turns_is_kept() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let before = had_child(&store, &world);
    let of_other =
        |state: &str| json!({"sessionUpdate": "subagent_update", "sessionId": "c2", "state": {"state": state}});
    let idle = of_child(&json!({"state": {"state": "idle", "stopReason": "end_turn"}}));
    let running = of_child(&json!({"state": {"state": "running"}}));
    for (says, more) in [
        (vec![of_other("running"), idle.clone(), of_other("idle")], 2),
        (vec![idle.clone(), of_other("idle")], 2),
        (vec![running.clone(), running.clone(), idle.clone(), idle.clone()], 4),
    ] {
        let (is_told, after) = says_behind_load(&store, &world, "session/resume", &says);
        assert_eq!((is_told, after), (true, before + more), "{says:?}");
    }
    let mut desk = met(&store, &world, &json!({"subagents": {}}), &resumes());
    load(&mut desk, "s1", &[]).answer("load");
    let asked = ask_prompt(&mut desk, "prompt", "s1", "Go on").request("session/prompt");
    let end = store.log_end("s1").unwrap();
    for said in [&running, &running, &idle] {
        desk.agent(update("s1", said.clone()));
    }
    desk.wait(LONG);
    desk.reply(&asked, json!({"stopReason": "end_turn"}));
    // What a turn has is kept as it was said.
    assert_eq!(store.log_end("s1").unwrap() - end, 4);
}

#[test]
fn what_an_agent_says_at_each_load_of_what_is_in_force_is_not_written_to_the_log() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let before = had_child(&store, &world);
    let option = json!({"id": "o", "name": "O", "type": "select", "currentValue": "a", "options": [{"value": "a", "name": "A"}]});
    for says in [
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "plan"}),
        json!({"sessionUpdate": "config_option_update", "configOptions": [option]}),
        json!({"sessionUpdate": "available_commands_update", "availableCommands": [{"name": "x", "description": "X"}]}),
        json!({"sessionUpdate": "plan", "entries": [{"content": "x", "priority": "low", "status": "pending"}]}),
        json!({"sessionUpdate": "usage_update", "used": 1, "size": 2}),
        json!({"sessionUpdate": "session_info_update", "title": "Title"}),
    ] {
        for method in ["session/load", "session/resume", "session/load"] {
            let (_, after) = says_behind_load(&store, &world, method, std::slice::from_ref(&says));
            assert_eq!(after, before, "{method} {says}");
        }
    }
}
