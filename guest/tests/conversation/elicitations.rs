//! What an agent asks its user by `elicitation/create`: lists say that the user is waited for, and the log has nothing of it.

use acp_sessions_corpus::Call;
use acp_sessions_guest::storage::{Bounds, Memory, Storage};
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::follower::{SOON, followed_turn, loads, members, one, state, told, window};
use crate::scenes::{CWD, LONG, Question, answers, ask_permission, ask_prompt, leave, permit};

fn takes_back(desk: &mut Desk<'_>, request: &str) -> Out {
    desk.agent(json!({"method": "$/cancel_request", "params": {"requestId": request}}))
}

/// How many entries the log of `s1` has, none of which is about a permission.
fn entries(store: &Memory, world: &World) -> usize {
    let call = Call::ReadPermissions { session_id: "s1".to_owned(), after: None, limit: 10 };
    let kept = world.recorder.typed(store, world.time(), call);
    assert_eq!(kept["ok"]["permissions"], json!([]));
    store.read_log("s1", 1, Bounds { limit: 100, max_bytes: u32::MAX }).expect("a log").entries.len()
}

/// More than a lost instance's questions are kept of.
const MANY: usize = 100;

#[test]
fn however_much_is_asked_at_once_the_user_is_waited_for_until_the_last_of_it_is_answered() {
    for (question, is_lost) in Question::KINDS.into_iter().flat_map(|kind| [(kind, false), (kind, true)]) {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = window(&store, &world);
        desk.new_session("s1", CWD);
        let request = |nth: usize| format!("question {nth}");
        for nth in 0..MANY {
            question.ask(&mut desk, &request(nth), "s1");
        }
        for nth in 0..MANY {
            assert_eq!(state(&mut desk, "s1"), "requires_action", "{nth} {question:?}");
            if is_lost && nth == MANY / 2 {
                desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
                assert_eq!(state(&mut desk, "s1"), "requires_action", "{nth} {question:?}");
            }
            question.answer(&mut desk, &request(nth));
            desk.wait(LONG);
        }
        assert_eq!(state(&mut desk, "s1"), "idle", "{question:?}");
    }
}

#[test]
fn whoever_is_to_fill_something_in_is_waited_for_in_the_turn() {
    for ends in ["accepted", "refused", "taken back", "cancelled", "failed", "another prompt", "agent lost", "left"] {
        for is_lost in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let (mut first, mut second, subscription) = followed_turn(&store, &world);
            second.wait(SOON);
            let before = entries(&store, &world);
            assert_eq!(Question::Form.ask(&mut first, "form", "s1").client.len(), 1);
            assert_eq!(members(&told(&second.wait(SOON), &subscription).0, "state"), one("s1", "requires_action"));
            assert_eq!(state(&mut first, "s1"), "requires_action");
            if is_lost {
                first = Desk::carry_on(&store, &world, &[], first.memos, Vec::new());
                assert_eq!(state(&mut first, "s1"), "requires_action");
            }
            let expected = match ends {
                "accepted" => {
                    assert_eq!(Question::Form.answer(&mut first, "form").agent.len(), 1);
                    json!("running")
                }
                "refused" => {
                    let error = json!({"code": -32603, "message": "no window"});
                    assert_eq!(first.client(json!({"id": "form", "error": error})).agent.len(), 1);
                    json!("running")
                }
                "taken back" => {
                    assert_eq!(takes_back(&mut first, "form").client[0]["params"]["requestId"], "form");
                    assert_eq!(state(&mut second, "s1"), "running", "lists say so at once");
                    json!("running")
                }
                "cancelled" => {
                    first.agent(json!({"id": "turn", "result": {"stopReason": "cancelled"}}));
                    json!("idle")
                }
                "failed" => {
                    first.agent(json!({"id": "turn", "error": {"code": -32603, "message": "no"}}));
                    json!("idle")
                }
                "another prompt" => {
                    first.agent(answers("turn"));
                    // The agent has not taken it back, and so its user still sees it.
                    assert_eq!(state(&mut second, "s1"), "requires_action");
                    ask_prompt(&mut first, "more", "s1", "On");
                    json!("running")
                }
                "agent lost" => {
                    first.revive(&loads());
                    json!("idle")
                }
                _ => Value::Null,
            };
            if expected.is_null() {
                leave(first);
            } else {
                first.wait(LONG);
                assert_eq!(state(&mut first, "s1"), expected, "{ends}, {is_lost}");
            }
            assert_eq!(members(&told(&second.wait(SOON), &subscription).0, "state"), one("s1", expected), "{ends}");
            let is_in_turn = matches!(ends, "accepted" | "refused" | "taken back");
            assert!(!is_in_turn || entries(&store, &world) == before, "{ends}: the log has nothing of it");
        }
    }
}

#[test]
fn whoever_is_to_fill_something_in_between_turns_is_waited_for_through_them() {
    for ends in ["accepted", "taken back", "agent lost"] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = window(&store, &world);
        desk.new_session("s1", CWD);
        desk.turn("s1", "Hi", &["Ho"]);
        let mut second = window(&store, &world);
        let before = entries(&store, &world);
        Question::Form.ask(&mut desk, "form", "s1");
        assert_eq!(state(&mut second, "s1"), "requires_action", "{ends}");
        assert_eq!(entries(&store, &world), before);
        desk.turn("s1", "Go", &["On"]);
        let before = entries(&store, &world);
        let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
        assert_eq!(state(&mut desk, "s1"), "requires_action", "{ends}");
        match ends {
            "accepted" => drop(Question::Form.answer(&mut desk, "form")),
            "taken back" => drop(takes_back(&mut desk, "form")),
            _ => drop(desk.revive(&loads())),
        }
        desk.wait(LONG);
        assert_eq!(state(&mut second, "s1"), "idle", "{ends}");
        assert_eq!(entries(&store, &world), before, "{ends}");
    }
}

#[test]
fn each_of_several_questions_is_waited_for() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = window(&store, &world);
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    Question::Form.ask(&mut desk, "form", "s1");
    ask_permission(&mut desk);
    Question::Form.ask(&mut desk, "other", "s1");
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    Question::Form.answer(&mut desk, "form");
    desk.wait(LONG);
    assert_eq!(state(&mut desk, "s1"), "requires_action");
    permit(&mut desk);
    desk.wait(LONG);
    assert_eq!(state(&mut desk, "s1"), "requires_action");
    takes_back(&mut desk, "other");
    assert_eq!(state(&mut desk, "s1"), "running");
    let call = Call::ReadPermissions { session_id: "s1".to_owned(), after: None, limit: 10 };
    let kept = world.recorder.typed(&store, world.time(), call)["ok"]["permissions"].clone();
    assert_eq!((kept.as_array().unwrap().len(), &kept[0]["tool-call-id"]), (1, &json!("c")));
}

#[test]
fn what_names_no_session_that_is_open_is_nobodys() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = window(&store, &world);
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    let params =
        json!({"requestId": "turn", "mode": "url", "message": "Log in", "elicitationId": "e", "url": "http://x"});
    let out = desk.agent(json!({"id": "url", "method": "elicitation/create", "params": params}));
    assert_eq!(out.client[0]["params"], params);
    assert_eq!(Question::Form.ask(&mut desk, "form", "s9").client.len(), 1);
    assert_eq!(state(&mut desk, "s1"), "running");
    for request in ["url", "form"] {
        assert_eq!(Question::Form.answer(&mut desk, request).agent.len(), 1);
    }
}
