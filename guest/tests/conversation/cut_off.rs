//! Turns that a killed process cut off: their tool calls do not run for ever, and those of others go on.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    CWD, UNTIL_FORGOTTEN, account, answers, ask_fork, ask_load, ask_prompt, begun, both_open, leave, lines, load, mark,
    oblige, said, says,
};

/// What the client is told last of a tool call.
fn call_status(out: &Out, call: &str) -> Option<String> {
    let updates = out.client.iter().map(|message| &message["params"]["update"]);
    let of_call = updates.filter(|update| update["toolCallId"] == call);
    of_call.filter_map(|update| update["status"].as_str()).next_back().map(str::to_owned)
}

fn tool_call(id: &str) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": "Run", "status": "pending"})
}

#[test]
fn a_tool_call_that_was_cut_off_has_failed() {
    for later in ["in_progress", "pending"] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let id = desk.new_session("s1", CWD);
        ask_prompt(&mut desk, "prompt", &id, "Go");
        for call in ["done", "cut"] {
            desk.agent(update("s1", tool_call(call)));
        }
        let now = |call: &str, status: &str| json!({"sessionUpdate": "tool_call_update", "toolCallId": call, "status": status});
        desk.agent(update("s1", now("done", "completed")));
        desk.agent(update("s1", now("cut", later)));
        desk.wait(300);
        drop(desk);
        world.now.set(world.now.get() + UNTIL_FORGOTTEN);
        for time in ["next", "after that"] {
            let mut desk = Desk::ready(&store, &world, &json!({}));
            let out = load(&mut desk, &id, &[]);
            assert_eq!(call_status(&out, "done").as_deref(), Some("completed"));
            assert_eq!(call_status(&out, "cut").as_deref(), Some("failed"), "{time}");
            assert_eq!(said(&out.client), ["> Go"], "{time}");
            leave(desk);
        }
    }
}

#[test]
fn a_tool_call_of_a_turn_that_failed_has_failed_though_the_agent_is_at_the_next_prompt() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", CWD);
    let [one, two] = ["One", "Two"].map(|text| ask_prompt(&mut desk, text, &id, text).request("session/prompt"));
    desk.agent(update("s1", tool_call("cut")));
    desk.refuse(&one, -32603);
    desk.agent(says("Two is done."));
    desk.reply(&two, json!({"stopReason": "end_turn"}));
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = ask_load(&mut desk, "load", &id);
    assert_eq!(call_status(&out, "cut").as_deref(), Some("failed"));
}

#[test]
fn a_tool_call_that_runs_in_another_window_has_not_failed() {
    let (store, world) = (Memory::new(), World::default());
    let mut running = Desk::ready(&store, &world, &json!({}));
    let id = running.new_session("s1", CWD);
    ask_prompt(&mut running, "prompt", &id, "Go");
    running.agent(update("s1", tool_call("runs")));
    for _ in 0..30 {
        running.wait(1000);
    }
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert_eq!(call_status(&load(&mut desk, &id, &[]), "runs").as_deref(), Some("pending"));
}

/// A turn in which a tool call is under way, written as far as it is.
fn begin_call(desk: &mut Desk<'_>, id: &str) {
    let prompt = ask_prompt(desk, "prompt", id, "Go").request("session/prompt");
    let agent_id = prompt["params"]["sessionId"].as_str().unwrap().to_owned();
    desk.agent(update(&agent_id, chunk("agent_message_chunk", "Wait")));
    desk.agent(update(&agent_id, tool_call("cut")));
    desk.wait(300);
}

#[test]
fn a_turn_that_was_cut_off_is_ended_though_another_window_ended_later_ones() {
    // The second window may be there before the turn begins, come during it, or be there with the first gone already.
    for comes in ["before", "during", "after"] {
        let (store, world) = (Memory::new(), World::default());
        let mut first = Desk::ready(&store, &world, &json!({}));
        let id = first.new_session("s1", CWD);
        first.turn(&id, "Hi", &["Ho"]);
        let mut second = Desk::ready(&store, &world, &json!({}));
        if comes == "before" {
            load(&mut second, &id, &[]);
        }
        begin_call(&mut first, &id);
        let first = Some(first).filter(|_| comes != "after");
        if comes != "before" {
            load(&mut second, &id, &[]);
        }
        for turn in ["One", "Two"] {
            second.turn(&id, turn, &["Yes"]);
        }
        leave(second);
        drop(first);
        world.now.set(world.now.get() + UNTIL_FORGOTTEN);
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let out = load(&mut desk, &id, &[]);
        assert_eq!(call_status(&out, "cut").as_deref(), Some("failed"), "{comes}");
        assert_eq!(said(&out.client), ["> Hi", "Ho", "> Go", "Wait", "> One", "Yes", "> Two", "Yes"], "{comes}");
    }
}

#[test]
fn a_tool_call_that_was_cut_off_has_failed_in_a_window_that_was_open_meanwhile() {
    for capabilities in [json!({}), json!({"sessionCapabilities": {"resume": {}}}), json!({"loadSession": true})] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut first = Desk::ready(&store, &world, &capabilities);
        let id = first.new_session("s1", CWD);
        first.turn(&id, "Hi", &["Ho"]);
        begin_call(&mut first, &id);
        drop(first);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let told = [("Hi", "Ho"), ("Go", "Wait")];
        assert_eq!(call_status(&load(&mut desk, &id, &told), "cut").as_deref(), Some("pending"));
        let mut later = Out::default();
        while call_status(&later, "cut").is_none() {
            later.extend(desk.wait(1000));
        }
        assert_eq!(call_status(&later, "cut").as_deref(), Some("failed"));
        let mut told = told.to_vec();
        for time in ["once", "behind a turn"] {
            let out = load(&mut desk, &id, &told);
            assert_eq!(call_status(&out, "cut").as_deref(), Some("failed"), "{capabilities}, {time}");
            assert_eq!(said(&out.client), lines(&[&told]), "{capabilities}, {time}");
            let failed = out.client.iter().filter(|message| message["params"]["update"]["status"] == "failed").count();
            assert_eq!(failed, 1, "{capabilities}, {time}");
            let shown = (0..3)
                .flat_map(|_| desk.wait(1000).client)
                .filter(|message| message["params"]["update"]["toolCallId"] == "cut");
            assert_eq!(shown.count(), 0, "{capabilities}, {time}: it is not shown again");
            desk.turn(&id, "On", &["Yes"]);
            told.push(("On", "Yes"));
        }
    }
}

#[test]
fn a_turn_that_another_window_has_cut_short_for_a_process_that_slept_is_ended_once() {
    let (store, world) = (Memory::new(), World::default());
    let mut asleep = Desk::ready(&store, &world, &json!({}));
    let id = asleep.new_session("s1", CWD);
    begin_call(&mut asleep, &id);
    world.now.set(world.now.get() + UNTIL_FORGOTTEN);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    load(&mut desk, &id, &[]);
    begin_call(&mut desk, &id);
    asleep.agent(update("s1", chunk("agent_message_chunk", "Done")));
    asleep.agent(json!({"id": "prompt", "result": {"stopReason": "end_turn"}}));
    leave(asleep);
    drop(desk);
    world.now.set(world.now.get() + UNTIL_FORGOTTEN);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = load(&mut desk, &id, &[]);
    assert_eq!(call_status(&out, "cut").as_deref(), Some("failed"));
}

#[test]
fn a_turn_whose_window_was_killed_and_that_its_agent_tells_whole_behind_another_is_there_once() {
    let capabilities = json!({"loadSession": true});
    // What of the answer was written, and whether the other window was open before.
    for (written, is_open) in [("One ", true), ("One ", false), ("", true), ("", false)] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut first, mut second) =
            (Desk::ready(&store, &world, &capabilities), Desk::ready(&store, &world, &capabilities));
        let id = first.new_session("s1", CWD);
        first.turn(&id, "Hi", &["Ho"]);
        if is_open {
            load(&mut second, &id, &[("Hi", "Ho")]);
        }
        ask_prompt(&mut first, "prompt", &id, "Go");
        if !written.is_empty() {
            first.agent(update("s1", chunk("agent_message_chunk", written)));
        }
        first.wait(300);
        drop(first);
        if !is_open {
            load(&mut second, &id, &[("Hi", "Ho")]);
        }
        second.turn(&id, "Next", &["Yes"]);
        second.wait_awake(UNTIL_FORGOTTEN);
        let told = [("Hi", "Ho"), ("Next", "Yes"), ("Go", "One two")];
        let out = load(&mut second, &id, &told);
        assert_eq!(said(&out.client), lines(&[&told]), "{written}, open: {is_open}");
        leave(second);
        for capabilities in [json!({}), capabilities.clone()] {
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let out = load(&mut desk, &id, &told);
            assert_eq!(said(&out.client), lines(&[&told]), "{written}, open: {is_open}, {capabilities}");
            leave(desk);
        }
    }
}

#[test]
fn a_turn_that_was_cancelled_and_whose_prompt_its_agent_tells_behind_another_windows_is_there_once() {
    let capabilities = json!({"loadSession": true});
    let before = ("Hi", "Ho");
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut first, mut second) = both_open(&store, &world, &capabilities, &[before]);
    let asked = ask_prompt(&mut first, "prompt", "s1", "Go").request("session/prompt");
    first.agent(update("s1", chunk("agent_message_chunk", "One")));
    first.wait(300);
    second.turn("s1", "Next", &["Yes"]);
    first.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
    first.reply(&asked, json!({"stopReason": "cancelled"}));
    first.wait(2000);
    leave(second);
    leave(first);
    for more in [&[][..], &[("On", "Well")], &[("On", "Well")]] {
        world.now.set(world.now.get() + 60_000);
        let told = [&[before, ("Next", "Yes"), ("Go", "")], more].concat();
        let out = load(&mut Desk::ready(&store, &world, &capabilities), "s1", &told);
        let (mut shown, expected) = (said(&out.client), lines(&[&[before, ("Next", "Yes"), ("Go", "One")], more]));
        let mut sorted = expected.clone();
        shown.sort();
        sorted.sort();
        assert_eq!(shown, sorted, "each once");
    }
}

#[test]
fn what_a_fork_has_of_a_turn_under_way_is_ended_in_the_fork() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"fork": {}}}));
    let id = desk.new_session("s1", CWD);
    begin_call(&mut desk, &id);
    let asked = ask_fork(&mut desk, &id);
    let out = oblige(&mut desk, asked, &[], "f1");
    let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    desk.turn(&fork, "On", &["Yes"]);
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = load(&mut desk, &fork, &[]);
    assert_eq!(call_status(&out, "cut").as_deref(), Some("failed"));
    assert_eq!(said(&out.client), ["> Go", "Wait", "> On", "Yes"]);
}

#[test]
fn an_agent_that_has_refused_a_prompt_which_was_cancelled_is_told_of_it_when_it_opens_the_session_again() {
    let (store, world) = (Memory::new(), World::default());
    let resumes = json!({"sessionCapabilities": {"resume": {}}});
    let mut desk = Desk::ready(&store, &world, &resumes);
    let id = desk.new_session("s1", CWD);
    let asked = ask_prompt(&mut desk, "prompt", &id, "First question").request("session/prompt");
    desk.client(json!({"method": "session/cancel", "params": {"sessionId": id}}));
    let out = desk.agent(json!({"id": asked["id"], "error": {"code": -32002, "message": "no such session"}}));
    assert_eq!(out.answer("prompt")["result"]["stopReason"], "cancelled");
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &resumes);
    load(&mut desk, &id, &[]);
    let account = account(&ask_prompt(&mut desk, "prompt", &id, "Second question")).unwrap_or_default();
    assert!(account.contains("First question"), "{account}");
}

#[test]
fn a_prompt_that_fails_before_its_answer_and_again_behind_it_is_there_as_often_as_it_was_sent() {
    let answered = ("Go on", "All tests pass now.");
    for had in [
        &[("Go on", ""), answered, ("Go on", "")][..],
        &[("Go on", ""), ("Go on", ""), answered, ("Go on", ""), ("Go on", "")],
        &[("Why?", ""), answered, ("Why?", "")],
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = begun(&store, &world, &json!({"loadSession": true}), &[("Fix", "It is fixed.")]);
        let mut replay = vec![("Fix".to_owned(), "It is fixed.")];
        let mut asked = String::new();
        for (prompt, answer) in had {
            let out = ask_prompt(&mut desk, "turn", "s1", prompt);
            asked += prompt;
            if answer.is_empty() {
                desk.refuse(&out.request("session/prompt"), -32603);
                continue;
            }
            desk.agent(says(answer));
            desk.agent(answers("turn"));
            // It gives prompts that nobody has answered with the next one.
            replay.push((std::mem::take(&mut asked), answer));
        }
        leave(desk);
        replay.push((asked, ""));
        let replay: Vec<(&str, &str)> = replay.iter().map(|(prompt, answer)| (prompt.as_str(), *answer)).collect();
        for time in ["first", "second"] {
            let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
            let out = load(&mut desk, "s1", &replay);
            assert_eq!(said(&out.client).concat(), lines(&[&replay]).concat(), "{had:?}, {time}");
            assert!(mark(&out, "load")["setAside"].is_null());
            leave(desk);
        }
    }
}
