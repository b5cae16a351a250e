//! An agent need not have heard all of a conversation to have heard a turn of it: that one it is not told again.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    LONG, account, answers, ask_fork, ask_prompt, both_open, leave, load_told, mark, prompt_until_sent, says,
};

fn forks() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"fork": {}}})
}

fn text(text: &str) -> [Value; 1] {
    [json!({"type": "text", "text": text})]
}

/// A turn in the second window while the first is at one, in which the agent says these last words and that ends then.
fn at_once(first: &mut Desk<'_>, second: &mut Desk<'_>, last: Option<&str>) {
    prompt_until_sent(first, "theirs", &text("Theirs"));
    prompt_until_sent(second, "mine", &text("Mine"));
    second.agent(says("Yes"));
    second.agent(answers("mine"));
    if let Some(last) = last {
        first.agent(says(last));
    }
    first.agent(answers("theirs"));
    second.wait(LONG);
}

/// A fork of the session, which the agent makes by this id; the answer.
fn forked(desk: &mut Desk<'_>, parent: &str, agent_id: &str) -> Out {
    let asked = ask_fork(desk, parent).request("session/fork");
    desk.reply(&asked, json!({ "sessionId": agent_id }))
}

/// What the agent is told before it is prompted in a session.
fn told(desk: &mut Desk<'_>, session: &str) -> String {
    let mut out = ask_prompt(desk, "next", session, "Next");
    while out.asked("session/prompt").is_none() {
        out = desk.wait(100);
    }
    account(&out).unwrap_or_default()
}

#[test]
fn a_fork_right_behind_turns_at_the_same_time_is_told_none_of_its_own_windows() {
    for (last, is_first, generations) in
        [(None, false, 1), (None, false, 2), (None, true, 1), (Some("Done"), false, 1), (Some("Done"), true, 2)]
    {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut first, mut second) = both_open(&store, &world, &forks(), &[("Hi", "Ho")]);
        // The window that has begun the session has it open as well.
        let (window, other) = if is_first { (&mut first, &mut second) } else { (&mut second, &mut first) };
        at_once(other, window, last);
        let mut parent = "s1".to_owned();
        for generation in 1..=generations {
            let out = forked(window, &parent, &format!("f{generation}"));
            let is_told = mark(&out, "fork")["rehydrate"] == true;
            assert_eq!(is_told, last.is_some(), "{last:?} {is_first} {generation}");
            parent = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
        }
        let told = told(window, &parent);
        // Where the other window's branch was written to last, an agent that keeps branches has forked that one.
        assert_eq!(told.contains("Mine"), last.is_some(), "{last:?} {is_first} {generations}: {told}");
        assert!(!told.contains("Hi"), "{told}");
    }
}

#[test]
fn a_fork_that_another_window_opens_is_told_what_its_agent_does_not_tell() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut first, mut second) = both_open(&store, &world, &forks(), &[("Hi", "Ho")]);
    at_once(&mut first, &mut second, None);
    let out = forked(&mut second, "s1", "s2");
    let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    leave(second);
    let mut third = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    let params = json!({"sessionId": fork, "cwd": crate::scenes::CWD});
    let out = third.client(json!({"id": "resume", "method": "session/resume", "params": params}));
    third.reply(&out.request("session/resume"), json!({}));
    let told = told(&mut third, &fork);
    assert!(told.contains("Mine"), "its program need not have it: {told}");
}

#[test]
fn a_window_that_is_opened_anew_is_told_another_windows_turn_without_its_own_behind_it() {
    let loads = json!({"loadSession": true});
    for is_at_work in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut first, mut second) = both_open(&store, &world, &loads, &[("Hi", "Ho")]);
        prompt_until_sent(&mut first, "theirs", &text("Theirs"));
        first.agent(says("Wait"));
        let out = prompt_until_sent(&mut second, "mine", &text("Mine"));
        let prompt = out.request("session/prompt")["params"]["prompt"].clone();
        second.agent(says("Yes"));
        second.agent(answers("mine"));
        second.wait(LONG);
        first.agent(answers("theirs"));
        first.wait(LONG);
        if is_at_work {
            prompt_until_sent(&mut first, "more", &text("More"));
        }
        leave(second);
        let mut third = Desk::ready(&store, &world, &loads);
        let users = prompt.as_array().unwrap().iter();
        let users = users.map(|block| json!({"sessionUpdate": "user_message_chunk", "content": block}));
        let before = [chunk("user_message_chunk", "Hi"), chunk("agent_message_chunk", "Ho")];
        // The branch of the first window's program has its turn.
        let branch: Vec<Value> = before.into_iter().chain(users).chain([chunk("agent_message_chunk", "Yes")]).collect();
        load_told(&mut third, &branch).answer("load");
        let told = told(&mut third, "s1");
        assert!(told.contains("User: Theirs\n\nAssistant: Wait"), "{is_at_work}: {told}");
        assert!(!told.contains("Mine") && !told.contains("Yes"), "{is_at_work}: {told}");
        assert_eq!(told.contains("More"), is_at_work, "{told}");
    }
}

#[test]
fn a_turn_that_goes_on_behind_what_the_agent_has_told_of_it_is_told() {
    let loads = json!({"loadSession": true});
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut first, mut second) = both_open(&store, &world, &loads, &[("Hi", "Ho")]);
    prompt_until_sent(&mut first, "theirs", &text("Theirs"));
    first.agent(says("Wait"));
    prompt_until_sent(&mut second, "mine", &text("Mine"));
    second.agent(says("Yes"));
    second.wait(LONG);
    let mut third = Desk::ready(&store, &world, &loads);
    let branch = [
        chunk("user_message_chunk", "Hi"),
        chunk("agent_message_chunk", "Ho"),
        chunk("user_message_chunk", "Mine"),
        chunk("agent_message_chunk", "Yes"),
    ];
    load_told(&mut third, &branch).answer("load");
    second.agent(update("s1", chunk("agent_message_chunk", " and more")));
    second.agent(answers("mine"));
    second.wait(LONG);
    let told = told(&mut third, "s1");
    assert!(told.contains("Theirs") && told.contains("and more"), "{told}");
}
