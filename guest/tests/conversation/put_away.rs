//! Sessions that are closed, deleted or archived, here or elsewhere, while something is said in them.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{CWD, LONG, answers, ask_load, ask_prompt, begun, oblige, told};

fn ask(desk: &mut Desk<'_>, method: &str, session: &str) -> Out {
    desk.client(json!({"id": "away", "method": method, "params": {"sessionId": session}}))
}

/// The requests that were answered, in this order.
fn answered(out: &Out) -> Vec<&str> {
    out.client
        .iter()
        .filter(|message| message.get("method").is_none())
        .map(|answer| answer["id"].as_str().unwrap())
        .collect()
}

const AWAY: [&str; 3] = ["session/close", "session/delete", "session/archive"];

#[test]
fn the_prompt_is_answered_before_what_cancels_it() {
    for capabilities in [json!({}), json!({"sessionCapabilities": {"close": {}, "delete": {}}})] {
        for method in AWAY {
            for prompts in [&["one"][..], &["one", "two"][..]] {
                for ending in [
                    json!({"result": {"stopReason": "cancelled"}}),
                    json!({"error": {"code": -32603, "message": "aborted"}}),
                ] {
                    let (store, world) = (Memory::new(), World::default());
                    let mut desk = Desk::ready(&store, &world, &capabilities);
                    desk.new_session("s1", CWD);
                    for prompt in prompts {
                        ask_prompt(&mut desk, prompt, "s1", "Go");
                    }
                    let mut all = ask(&mut desk, method, "s1");
                    assert!(all.client.is_empty());
                    for prompt in prompts {
                        desk.agent(update("s1", chunk("agent_message_chunk", "last words")));
                        let mut answer = ending.clone();
                        answer["id"] = (*prompt).into();
                        all.extend(desk.agent(answer));
                    }
                    if let Some(close) = all.asked("session/close").cloned() {
                        all.extend(desk.reply(&close, json!({})));
                    }
                    assert_eq!(answered(&all), [prompts, &["away"]].concat(), "{method} {capabilities}");
                    assert!(prompts.iter().all(|id| all.answer(*id)["result"]["stopReason"] == "cancelled"));
                }
            }
        }
    }
}

#[test]
fn each_prompt_that_an_agent_takes_up_meanwhile_is_cancelled() {
    for method in AWAY {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", CWD);
        let prompts = ["one", "two", "three"];
        for prompt in prompts {
            ask_prompt(&mut desk, prompt, "s1", "Go");
        }
        let mut out = ask(&mut desk, method, "s1");
        for prompt in prompts {
            assert_eq!(out.request("session/cancel")["params"], json!({"sessionId": "s1"}), "{method} {prompt}");
            assert!(!answered(&out).contains(&"away"), "{method} {prompt}");
            out = desk.agent(json!({"id": prompt, "result": {"stopReason": "cancelled"}}));
        }
        assert!(out.asked("session/cancel").is_none(), "{method}: nothing is under way");
        assert_eq!(answered(&out), ["three", "away"], "{method}");
    }
}

#[test]
fn the_prompt_is_answered_first_though_the_agent_ends_or_is_silent() {
    for method in AWAY {
        for is_silent in [true, false] {
            let (store, world) = (Memory::new(), World::default());
            let mut desk = Desk::ready(&store, &world, &json!({}));
            desk.new_session("s1", CWD);
            ask_prompt(&mut desk, "prompt", "s1", "Go");
            ask(&mut desk, method, "s1");
            if !is_silent {
                desk.engine.peer_closed(Peer::Agent);
            }
            let out = desk.wait_awake(200_000);
            assert_eq!(answered(&out), ["prompt", "away"], "{method} silent: {is_silent}");
            assert_eq!(out.answer("prompt")["result"]["stopReason"], "cancelled");
            assert!(out.answer("away")["error"].is_null());
        }
    }
}

#[test]
fn a_prompt_that_waits_for_its_session_is_cancelled_with_it() {
    for method in AWAY {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
        let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
        let mut out = ask_load(&mut desk, "load", &id);
        out.extend(ask_prompt(&mut desk, "prompt", &id, "Go"));
        assert!(out.asked("session/prompt").is_none());
        out.extend(ask(&mut desk, method, &id));
        let out = oblige(&mut desk, out, &[], "never");
        let order = answered(&out);
        let at = |id: &str| order.iter().position(|answered| *answered == id);
        assert!(at("prompt") < at("away"), "{method}: {order:?}");
        assert_eq!(out.answer("prompt")["result"]["stopReason"], "cancelled", "{method}");
        assert!(out.asked("session/prompt").is_none());
    }
}

fn kept(answer: &Value) -> &Value {
    &answer["result"]["_meta"]["acp-sessions"]
}

#[test]
fn a_prompt_to_a_session_that_was_deleted_elsewhere_says_that_nothing_is_kept() {
    for is_noticed in [true, false] {
        for is_under_way in [true, false] {
            let (store, world) = (Memory::new(), World::default());
            let mut first = begun(&store, &world, &json!({}), &[("Hi", "Ho")]);
            let mut second = Desk::ready(&store, &world, &json!({}));
            if is_under_way {
                ask_prompt(&mut first, "prompt", "s1", "Still there?");
            }
            assert_eq!(second.ask("session/delete", json!({"sessionId": "s1"}))["result"], json!({}));
            if !is_under_way {
                ask_prompt(&mut first, "prompt", "s1", "Still there?").request("session/prompt");
            }
            if is_noticed {
                first.agent(update("s1", chunk("agent_message_chunk", "Yes")));
                first.wait(200);
            }
            let out = first.agent(json!({"id": "prompt", "result": {"stopReason": "end_turn", "usage": {}}}));
            let answer = out.answer("prompt");
            assert_eq!(answer["result"]["stopReason"], "end_turn", "the conversation goes on");
            assert_eq!(answer["result"]["usage"], json!({}));
            assert_eq!(kept(answer)["stored"], false, "noticed: {is_noticed}, under way: {is_under_way}");
            assert!(kept(answer)["reason"].as_str().unwrap().contains("deleted"), "{answer}");
            // The next is refused, and says why.
            let out = ask_prompt(&mut first, "next", "s1", "And now?");
            let error = &out.answer("next")["error"];
            assert_eq!((&error["code"], &error["data"]["sessionId"]), (&json!(-32002), &json!("s1")));
            assert!(error["message"].as_str().unwrap().contains("deleted"), "{error}");
            assert!(out.agent.is_empty());
        }
    }
}

#[test]
fn a_prompt_to_a_session_that_was_deleted_elsewhere_says_that_nothing_is_kept_though_its_agent_refuses_it() {
    let refusals = [
        json!({"code": -32603, "message": "Out of order"}),
        json!({"code": -32603, "message": "Out of order", "data": "a text", "beside": 1}),
        json!({"code": -32603, "message": "Out of order", "data": {"details": 1, "_meta": {"x": 1}}}),
    ];
    for refusal in refusals {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut first = begun(&store, &world, &json!({}), &[("Hi", "Ho")]);
        Desk::ready(&store, &world, &json!({})).ask("session/delete", json!({"sessionId": "s1"}));
        ask_prompt(&mut first, "prompt", "s1", "Still there?").request("session/prompt");
        let out = first.agent(json!({"id": "prompt", "error": refusal}));
        let mut told = out.answer("prompt")["error"].clone();
        let message = told["message"].as_str().unwrap().to_owned();
        assert!(message.starts_with("Out of order") && message.contains("deleted elsewhere"), "{message}");
        told["message"] = refusal["message"].clone();
        assert_eq!(told, refusal, "what the agent says else stays");
    }
}

/// What the client is told of a session.
fn updates(out: &Out) -> Vec<&Value> {
    out.client.iter().map(|message| &message["params"]["update"]).collect()
}

fn delete_elsewhere(store: &Memory, world: &World) {
    let mut other = Desk::ready(store, world, &json!({}));
    assert_eq!(other.ask("session/delete", json!({"sessionId": "s1"}))["result"], json!({}));
}

/// What an agent says at work.
fn says_at_work() -> [Value; 6] {
    [
        chunk("agent_message_chunk", "One"),
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Look", "status": "pending"}),
        json!({"sessionUpdate": "current_mode_update", "currentModeId": "code"}),
        chunk("agent_message_chunk", "Two"),
        json!({"sessionUpdate": "plan", "entries": []}),
        json!({"sessionUpdate": "session_info_update", "title": "Looked"}),
    ]
}

#[test]
fn what_the_agent_says_in_a_turn_is_shown_to_its_end_though_the_session_was_deleted_elsewhere() {
    for is_under_way in [true, false] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = begun(&store, &world, &json!({}), &[("Hi", "Ho")]);
        if !is_under_way {
            delete_elsewhere(&store, &world);
        }
        ask_prompt(&mut desk, "prompt", "s1", "Go on").request("session/prompt");
        if is_under_way {
            delete_elsewhere(&store, &world);
        }
        for said in says_at_work() {
            let out = desk.agent(update("s1", said.clone()));
            assert_eq!(updates(&out), [&said], "under way: {is_under_way}");
            // By now it is noticed.
            assert!(desk.wait(LONG).client.is_empty());
        }
        let out = desk.agent(answers("prompt"));
        assert_eq!(kept(out.answer("prompt"))["stored"], false);
        assert!(desk.agent(update("s1", chunk("agent_message_chunk", "Late"))).client.is_empty());
        desk.wait(LONG);
        let (_, entries, texts) = store.counts();
        assert_eq!((entries, texts), (0, 0), "nothing of it is kept");
    }
}

#[test]
fn what_a_sub_agent_says_is_shown_though_the_session_was_deleted_elsewhere() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    let announced = |child: &str| json!({"sessionUpdate": "subagent_update", "sessionId": child, "title": "Child"});
    ask_prompt(&mut desk, "prompt", "s1", "Go");
    desk.agent(update("s1", announced("early")));
    desk.agent(update("early", chunk("agent_message_chunk", "Hi")));
    desk.wait(LONG);
    delete_elsewhere(&store, &world);
    for said in says_at_work() {
        assert_eq!(updates(&desk.agent(update("early", said.clone()))), [&said]);
        desk.wait(LONG);
    }
    desk.agent(update("s1", chunk("agent_message_chunk", "Half")));
    desk.wait(LONG);
    // One that is started now is shown, and not kept.
    assert_eq!(updates(&desk.agent(update("s1", announced("late")))), [&announced("late")]);
    for said in says_at_work() {
        assert_eq!(updates(&desk.agent(update("late", said.clone()))), [&said]);
    }
    desk.agent(answers("prompt"));
    // Who has not deleted it looks once a minute what is to be removed.
    desk.wait(60_000);
    let all = json!({"archived": "include", "_meta": {"acp-sessions": {"subagents": true}}});
    assert_eq!(desk.ask("session/list", all)["result"]["sessions"], json!([]));
    let (_, entries, texts) = store.counts();
    assert_eq!((entries, texts), (0, 0), "nothing of it is kept");
}

#[test]
fn what_the_agent_says_behind_the_answer_to_what_put_its_session_away_is_not_shown() {
    for method in AWAY {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", CWD);
        ask_prompt(&mut desk, "prompt", "s1", "Go");
        assert!(ask(&mut desk, method, "s1").is_open("away"));
        let last = chunk("agent_message_chunk", "last words");
        assert_eq!(updates(&desk.agent(update("s1", last.clone()))), [&last], "{method}");
        assert!(!desk.agent(answers("prompt")).is_open("away"), "{method}");
        for said in says_at_work().into_iter().filter(|said| said["sessionUpdate"] != "session_info_update") {
            assert!(desk.agent(update("s1", said)).client.is_empty(), "{method}");
        }
    }
}

#[test]
fn a_session_that_was_deleted_elsewhere_is_closed_all_the_same() {
    for capabilities in [json!({}), json!({"sessionCapabilities": {"close": {}}})] {
        for is_noticed in [true, false] {
            for is_under_way in [true, false] {
                let case = format!("{capabilities} {is_noticed} {is_under_way}");
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut first = begun(&store, &world, &capabilities, &[("Hi", "Ho")]);
                let mut second = Desk::ready(&store, &world, &json!({}));
                if is_under_way {
                    ask_prompt(&mut first, "prompt", "s1", "Still there?");
                }
                assert_eq!(second.ask("session/delete", json!({"sessionId": "s1"}))["result"], json!({}));
                if is_noticed {
                    first.agent(update("s1", chunk("agent_message_chunk", "Yes")));
                    first.wait(LONG);
                }
                let mut out = ask(&mut first, "session/close", "s1");
                if is_under_way {
                    assert!(out.is_open("away"), "{case}: its prompt is answered first");
                    out.extend(first.agent(json!({"id": "prompt", "result": {"stopReason": "cancelled"}})));
                    out.answer("prompt");
                }
                if let Some(close) = out.asked("session/close").cloned() {
                    out.extend(first.reply(&close, json!({})));
                }
                assert_eq!(out.answer("away")["result"], json!({}), "{case}");
                // It is open no more, and there is nothing of it.
                for method in AWAY {
                    let out = ask(&mut first, method, "s1");
                    let is_there = out.answer("away")["error"]["code"] != -32002;
                    assert_eq!(is_there, method == "session/delete", "{case}: {method}");
                }
            }
        }
    }
}
