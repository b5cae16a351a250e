//! What is being done in sessions, as lists say it (draft: session list extensions, `state`).

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, update};
use crate::follower::{
    SOON, followed_turn, hinted, loads, members, notified, one, rows_of, state, subscribe, told, window,
};
use crate::scenes::{
    CWD, LONG, Question, answers, ask_load, ask_permission, ask_prompt, leave, listing, load, oblige, permit, row,
};

/// A window in whose turn the agent waits for a permission.
fn asked<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    let mut desk = window(store, world);
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    ask_permission(&mut desk);
    desk
}

#[test]
fn rows_say_what_is_being_done_in_sessions_in_whichever_window() {
    let (store, world) = (Memory::new(), World::default());
    let mut first = window(&store, &world);
    first.new_session("s1", CWD);
    let mut second = window(&store, &world);
    let both = |first: &mut Desk<'_>, second: &mut Desk<'_>| (state(first, "s1"), state(second, "s1"));
    let are = |state: &str| (json!(state), json!(state));
    assert_eq!(both(&mut first, &mut second), are("idle"));
    ask_prompt(&mut first, "turn", "s1", "Go");
    assert_eq!(both(&mut first, &mut second), are("running"));
    ask_permission(&mut first);
    assert_eq!(both(&mut first, &mut second), are("requires_action"));
    permit(&mut first);
    first.wait(LONG);
    assert_eq!(both(&mut first, &mut second), are("running"));
    first.agent(answers("turn"));
    assert_eq!(both(&mut first, &mut second), are("idle"));
    leave(first);
    assert_eq!(state(&mut second, "s1"), Value::Null);
}

#[test]
fn a_session_waits_for_the_user_while_a_sub_agent_of_its_does_or_one_of_theirs() {
    let all = Question::KINDS.into_iter().flat_map(|question| [(question, "c1"), (question, "d1")]);
    for (question, asks) in all {
        for (is_lost, ends) in [(false, "answered"), (true, "answered"), (false, "closed"), (false, "left")] {
            waits_for_a_sub_agent(question, asks, is_lost, ends);
        }
    }
}

/// This sub-agent, or sub-agent's sub-agent, asks its user something, while an instance is lost or not, and that ends so.
fn waits_for_a_sub_agent(question: Question, asks: &str, is_lost: bool, ends: &str) {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut first, mut second, subscription) = followed_turn(&store, &world);
    for (parent, child) in [("s1", "c1"), ("c1", "d1")] {
        first.agent(update(parent, json!({"sessionUpdate": "subagent_update", "sessionId": child, "title": child})));
    }
    second.wait(SOON);
    question.ask(&mut first, "may", asks);
    assert_eq!(state(&mut second, "s1"), "requires_action", "lists say so at once");
    assert_eq!(members(&told(&second.wait(SOON), &subscription).0, "state"), one("s1", "requires_action"));
    if is_lost {
        first = Desk::carry_on(&store, &world, &[], first.memos, Vec::new());
        assert_eq!(state(&mut first, "s1"), "requires_action");
    }
    match ends {
        "answered" => {
            question.answer(&mut first, "may");
            first.wait(LONG);
            assert_eq!(state(&mut second, "s1"), "running");
            first.agent(answers("turn"));
        }
        "closed" => {
            let out = first.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": "s1"}}));
            first.agent(answers("turn"));
            oblige(&mut first, out, &[], "never");
        }
        _ => {}
    }
    if ends != "answered" {
        leave(first);
    }
    let expected = if ends == "answered" { json!("idle") } else { Value::Null };
    assert_eq!(state(&mut second, "s1"), expected, "{question:?} of {asks}, {is_lost}, {ends}");
}

#[test]
fn a_question_that_is_not_answered_in_its_turn_is_waited_for_until_there_is_another() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = asked(&store, &world);
    desk.agent(answers("turn"));
    // The agent has not taken it back, and so its user still sees it.
    assert_eq!(state(&mut desk, "s1"), "requires_action");
    ask_prompt(&mut desk, "turn", "s1", "On");
    assert_eq!(state(&mut desk, "s1"), "running");
    desk.agent(answers("turn"));
    assert_eq!(state(&mut desk, "s1"), "idle");
}

#[test]
fn a_question_between_turns_is_waited_for_until_it_is_answered_or_taken_back() {
    for ends in ["answered", "taken back", "the agent was started again"] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = window(&store, &world);
        desk.new_session("s1", CWD);
        desk.turn("s1", "Hi", &["Ho"]);
        let mut second = window(&store, &world);
        ask_permission(&mut desk);
        assert_eq!(state(&mut second, "s1"), "requires_action", "{ends}");
        // A turn meanwhile does not end it.
        desk.turn("s1", "Go", &["On"]);
        let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
        assert_eq!(state(&mut desk, "s1"), "requires_action", "{ends}");
        match ends {
            "answered" => permit(&mut desk),
            "taken back" => {
                let out = desk.agent(json!({"method": "$/cancel_request", "params": {"requestId": "may"}}));
                assert_eq!(out.client[0]["params"]["requestId"], "may");
            }
            _ => drop(desk.revive(&loads())),
        }
        for _ in 0..8 {
            desk.wait(2000);
        }
        assert_eq!(state(&mut second, "s1"), "idle", "{ends}");
    }
}

#[test]
fn a_question_is_still_waited_for_after_its_instance_was_lost() {
    let (store, world) = (Memory::new(), World::default());
    let desk = asked(&store, &world);
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    assert_eq!(state(&mut desk, "s1"), "requires_action");
    permit(&mut desk);
    desk.wait(LONG);
    assert_eq!(state(&mut desk, "s1"), "running", "the lost instance's own mark is not believed any more");
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    assert_eq!(state(&mut desk, "s1"), "running");
}

#[test]
fn a_window_that_was_killed_says_nothing_any_more_within_seconds() {
    let (store, world) = (Memory::new(), World::default());
    let mut first = window(&store, &world);
    first.new_session("s1", CWD);
    ask_prompt(&mut first, "turn", "s1", "Go");
    let mut second = window(&store, &world);
    let (subscription, _) = subscribe(&mut second, json!({}));
    drop(first);
    for _ in 0..4 {
        let out = second.wait(2000);
        assert_eq!(told(&out, &subscription).0, Vec::<Value>::new());
        assert_eq!(state(&mut second, "s1"), "running");
    }
    let mut rows = Vec::new();
    for _ in 0..3 {
        rows.extend(told(&second.wait(1000), &subscription).0);
    }
    assert_eq!(members(&rows, "state"), one("s1", Value::Null));
    assert_eq!(state(&mut second, "s1"), Value::Null);
}

/// How a client is given a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Given {
    /// It subscribes once more.
    Subscribed,
    /// It lists, and follows by the subscription that it has.
    Listed,
    /// It lists, and follows by hints.
    Watched,
}

#[test]
fn what_a_page_has_said_of_a_question_that_was_answered_before_the_next_look_is_put_right_by_that() {
    for given in [Given::Subscribed, Given::Listed, Given::Watched] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut first = window(&store, &world);
        first.new_session("s1", CWD);
        ask_prompt(&mut first, "turn", "s1", "Go");
        let mut second = hinted(&store, &world);
        let here = json!({"cwd": CWD});
        let mut subscriptions = Vec::new();
        if given == Given::Watched {
            rows_of(&mut second, here.clone());
        } else {
            subscriptions.push(subscribe(&mut second, json!({})).0);
        }
        second.wait(SOON);
        ask_permission(&mut first);
        let page = if given == Given::Subscribed {
            let (another, page) = subscribe(&mut second, json!({}));
            subscriptions.push(another);
            page
        } else {
            rows_of(&mut second, here)
        };
        assert_eq!(members(&page, "state"), one("s1", "requires_action"), "{given:?}");
        permit(&mut first);
        first.wait(LONG);
        let out = second.wait(SOON);
        for subscription in &subscriptions {
            assert_eq!(members(&told(&out, subscription).0, "state"), one("s1", "running"), "{given:?}");
        }
        let hints = if given == Given::Watched { vec![json!({"cwd": CWD})] } else { vec![] };
        assert_eq!(notified(&out, "session/list_changed"), hints, "{given:?}");
        // Once is enough.
        let out = second.wait(SOON);
        assert!(out.client.is_empty(), "{given:?} {:?}", out.client);
    }
}

#[test]
fn what_was_told_of_a_question_that_is_still_open_is_not_told_again_because_a_page_says_it_too() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = asked(&store, &world);
    let mut second = window(&store, &world);
    let (subscription, page) = subscribe(&mut second, json!({}));
    assert_eq!(members(&page, "state"), one("s1", "requires_action"));
    assert_eq!(state(&mut second, "s1"), "requires_action");
    assert_eq!(told(&second.wait(SOON), &subscription), (vec![], vec![]));
    // What comes between a page and the next look is told once.
    permit(&mut first);
    first.wait(LONG);
    assert_eq!(state(&mut second, "s1"), "running");
    assert_eq!(members(&told(&second.wait(SOON), &subscription).0, "state"), one("s1", "running"));
    assert_eq!(told(&second.wait(SOON), &subscription), (vec![], vec![]));
}

#[test]
fn of_two_windows_in_one_session_the_one_that_does_something_counts() {
    let (store, world) = (Memory::new(), World::default());
    let mut first = window(&store, &world);
    first.new_session("s1", CWD);
    first.turn("s1", "Hi", &["Ho"]);
    let mut second = window(&store, &world);
    load(&mut second, "s1", &[("Hi", "Ho")]).answer("load");
    ask_prompt(&mut first, "turn", "s1", "Go");
    assert_eq!(state(&mut second, "s1"), "running");
    second.wait(LONG);
    assert_eq!(state(&mut first, "s1"), "running");
}

#[test]
fn what_the_agents_list_has_said_does_not_hide_what_has_happened_since() {
    let (store, world) = (Memory::new(), World::default());
    let mut first = window(&store, &world);
    first.new_session("s1", CWD);
    let mut idle = row("s1", "Theirs", "2025-10-01T00:00:00.000Z");
    idle["state"] = "idle".into();
    let mut second = listing(&store, &world, "a", &json!({}), &[idle]);
    let (subscription, page) = subscribe(&mut second, json!({}));
    assert_eq!(members(&page, "state"), one("s1", "idle"));
    ask_prompt(&mut first, "turn", "s1", "Go");
    assert_eq!(members(&told(&second.wait(SOON), &subscription).0, "state"), one("s1", "running"));
    first.agent(answers("turn"));
    assert_eq!(members(&told(&second.wait(SOON), &subscription).0, "state"), one("s1", "idle"));
    assert_eq!(state(&mut second, "s1"), "idle");
}

#[test]
fn what_the_agents_list_has_said_is_over_once_something_was_done_though_the_session_is_as_it_was_then() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = window(&store, &world);
    first.new_session("s1", CWD);
    first.turn("s1", "Hi", &["Ho"]);
    // Another program of the agent's is at work in it.
    let mut running = row("s1", "Theirs", "2025-10-01T00:00:00.000Z");
    running["state"] = "running".into();
    let mut second = listing(&store, &world, "a", &json!({}), &[running]);
    let (subscription, page) = subscribe(&mut second, json!({}));
    assert_eq!(members(&page, "state"), one("s1", "running"));
    // That it goes on being open here, or is opened in another window, changes nothing.
    let mut third = window(&store, &world);
    load(&mut third, "s1", &[("Hi", "Ho")]).answer("load");
    first.wait(SOON);
    second.wait(SOON);
    assert_eq!(state(&mut second, "s1"), "running");
    // A whole turn here: that program has ended meanwhile, or the agent would have said so again.
    first.turn("s1", "Go", &["On"]);
    assert_eq!(members(&told(&second.wait(SOON), &subscription).0, "state"), one("s1", "idle"));
    assert_eq!(state(&mut second, "s1"), "idle");
}

/// Somebody looks, until the agent is asked for its list again.
fn asks_again(desk: &mut Desk<'_>) -> Out {
    let asked = (0..60).map(|_| desk.wait(SOON)).find(|out| out.asked("session/list").is_some());
    asked.expect("the agent is asked for its list")
}

#[test]
fn what_the_agents_own_list_says_counts_before_what_the_layer_knows_of_other_windows() {
    let (store, world) = (Memory::new(), World::default());
    let stated = |id: &str, state: &str| {
        let mut row = row(id, "Theirs", "2025-10-01T00:00:00.000Z");
        row["state"] = state.into();
        row
    };
    let listed = |desk: &mut Desk<'_>, out: &Out, rows: &[Value]| {
        desk.reply(&out.request("session/list"), json!({"sessions": rows}));
        desk.wait(0)
    };
    let mut desk = listing(&store, &world, "a", &json!({}), &[stated("theirs", "running"), stated("other", "idle")]);
    assert_eq!((state(&mut desk, "theirs"), state(&mut desk, "other")), (json!("running"), json!("idle")));
    let (subscription, page) = subscribe(&mut desk, json!({}));
    assert_eq!(members(&page, "state"), [("theirs".to_owned(), json!("running")), ("other".to_owned(), json!("idle"))]);
    // It is asked again while somebody looks.
    let mut out = Out::default();
    while out.asked("session/list").is_none() {
        out = desk.wait(SOON);
        assert_eq!(told(&out, &subscription), (vec![], vec![]));
    }
    listed(&mut desk, &out, &[stated("theirs", "requires_action"), stated("other", "idle")]);
    assert_eq!(members(&told(&desk.wait(SOON), &subscription).0, "state"), one("theirs", "requires_action"));
    // That it was opened here says nothing against it. It was decided otherwise before, that what was said is not so any more
    // then; but to open a session is no work in it, and that another program is at work in it goes on.
    let out = ask_load(&mut desk, "load", "theirs");
    oblige(&mut desk, out, &[("Hi", "Ho")], "fresh").answer("load");
    desk.wait(LONG);
    assert_eq!(state(&mut desk, "theirs"), "requires_action");
    // Another program of the agent's is at work in it, of which the layer knows nothing.
    let out = asks_again(&mut desk);
    listed(&mut desk, &out, &[stated("theirs", "running"), stated("other", "idle")]);
    assert_eq!(state(&mut desk, "theirs"), "running");
    // What this window is at, it knows better.
    let prompt = ask_prompt(&mut desk, "turn", "theirs", "Go");
    let out = asks_again(&mut desk);
    listed(&mut desk, &out, &[stated("theirs", "idle"), stated("other", "idle")]);
    assert_eq!(state(&mut desk, "theirs"), "running");
    desk.reply(&prompt.request("session/prompt"), json!({"stopReason": "end_turn"}));
    assert_eq!(state(&mut desk, "theirs"), "idle");
    // What it does not say again is not so any more.
    let (mut rows_told, mut asked) = (Vec::new(), 0);
    for _ in 0..40 {
        let out = desk.wait(SOON);
        rows_told.extend(told(&out, &subscription).0);
        if out.asked("session/list").is_some() {
            asked += 1;
            listed(
                &mut desk,
                &out,
                &[
                    row("theirs", "Theirs", "2025-10-01T00:00:00.000Z"),
                    row("other", "Theirs", "2025-10-01T00:00:00.000Z"),
                ],
            );
        }
    }
    assert!((2..=4).contains(&asked), "{asked}");
    let other: Vec<Value> = rows_told.into_iter().filter(|row| row["sessionId"] == "other").collect();
    assert_eq!(members(&other, "state"), one("other", Value::Null));
}
