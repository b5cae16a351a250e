//! Two windows on one session, each with an agent of its own: what is said in one is shown in the other, whole turns
//! between its own.

use acp_sessions_guest::engine::{Arrival, Content, Output, Peer};
use acp_sessions_guest::storage::{Memory, Storage, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World, chunk, envelope, update};
use crate::scenes::{
    CWD, account, ask_fork, ask_load, ask_prompt, ask_resume, leave, load, oblige, said, says, updates,
};

/// How long it may take until what is said elsewhere is shown, in milliseconds.
const SOON: i64 = 1000;

/// A window on `s1` with another agent than the first has, which knows it as `b1`.
fn other<'a, S: Storage>(store: &'a S, world: &'a World) -> Desk<'a, S> {
    with_agent(store, world, "b", "b1")
}

/// A window on `s1` with this agent, which knows it by this id.
fn with_agent<'a, S: Storage>(store: &'a S, world: &'a World, agent: &str, agent_id: &str) -> Desk<'a, S> {
    let mut desk = Desk::open(store, world, &[]);
    desk.greet(Some(agent), &json!({}));
    let out = ask_load(&mut desk, "load", "s1");
    oblige(&mut desk, out, &[], agent_id).answer("load");
    desk
}

/// Two windows that have `s1` open, in which one turn was had.
fn two_windows<'a, S: Storage>(store: &'a S, world: &'a World) -> (Desk<'a, S>, Desk<'a, S>) {
    let mut first = Desk::ready(store, world, &json!({"sessionCapabilities": {"resume": {}}}));
    first.new_session("s1", CWD);
    first.turn("s1", "Hi", &["Ho"]);
    (first, other(store, world))
}

fn ends<S: Storage>(desk: &mut Desk<'_, S>, prompt: &Out) -> Out {
    desk.reply(&prompt.request("session/prompt"), json!({"stopReason": "end_turn"}))
}

/// What a client is told of a turn elsewhere, and nothing of it is taken for its own agent's.
fn shown(out: &Out) -> Vec<String> {
    let updates = out.client.iter().filter(|message| message["method"] == "session/update");
    for message in updates.filter(|message| message["params"]["update"]["sessionUpdate"] != "session_info_update") {
        assert_eq!(message["params"]["_meta"]["acp-sessions"]["elsewhere"], true, "{message}");
    }
    said(&out.client)
}

#[test]
fn a_turn_in_another_window_is_shown_once_and_soon() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    for at in 0..3 {
        second.turn("s1", &format!("Theirs {at}"), &["Their ", "answer"]);
        let out = first.wait(SOON);
        assert_eq!(shown(&out), [&format!("> Theirs {at}"), "Their answer"]);
        assert_eq!(updates(&out, "session_info_update").len(), 1);
        assert_eq!(said(&second.wait(SOON).client), [""; 0]);
        assert_eq!(said(&first.wait(SOON).client), [""; 0]);
        first.turn("s1", &format!("Mine {at}"), &["My answer"]);
        assert_eq!(shown(&second.wait(SOON)), [&format!("> Mine {at}"), "My answer"]);
        assert_eq!(said(&first.wait(SOON).client), [""; 0]);
    }
}

#[test]
fn a_turn_is_shown_when_it_has_ended_and_between_the_windows_own() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    let mine = ask_prompt(&mut first, "mine", "s1", "Mine");
    let theirs = ask_prompt(&mut second, "theirs", "s1", "Theirs");
    for at in 0..3 {
        first.agent(says(&format!("m{at} ")));
        second.agent(update("b1", chunk("agent_message_chunk", &format!("t{at} "))));
        for desk in [&mut first, &mut second] {
            assert_eq!(said(&desk.wait(SOON).client), [""; 0]);
        }
    }
    ends(&mut second, &theirs);
    assert_eq!(said(&first.wait(SOON).client), [""; 0], "its own is under way");
    let out = ends(&mut first, &mine);
    assert_eq!(out.client[0]["id"], "mine", "the answer comes first");
    assert_eq!(shown(&out), ["> Theirs", "t0 t1 t2 "]);
    assert_eq!(shown(&second.wait(SOON)), ["> Mine", "m0 m1 m2 "]);
}

#[test]
fn what_was_said_elsewhere_comes_before_the_next_prompt_for_the_client_and_its_agent() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    second.turn("s1", "Theirs", &["Their answer"]);
    let out = ask_prompt(&mut first, "mine", "s1", "Mine");
    assert_eq!(shown(&out), ["> Theirs", "Their answer"]);
    let account = account(&out).unwrap();
    assert!(account.contains("Their answer") && !account.contains("Hi"), "{account}");
    first.agent(says("My answer"));
    let out = ends(&mut first, &out);
    assert_eq!(out.client.len(), 1, "{:?}", out.client);
    leave(first);
    leave(second);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let whole = ["> Hi", "Ho", "> Theirs", "Their answer", "> Mine", "My answer"];
    assert_eq!(said(&load(&mut desk, "s1", &[]).client), whole);
}

#[test]
fn an_account_of_a_turn_in_the_midst_of_its_own_tells_of_that_one_alone() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    for nth in 0..2 {
        let own = ask_prompt(&mut second, "own", "s1", "Own");
        second.agent(update("b1", chunk("agent_message_chunk", "early ")));
        second.wait(SOON);
        first.turn("s1", &format!("Theirs {nth}"), &["short"]);
        second.agent(update("b1", chunk("agent_message_chunk", "late")));
        second.wait(SOON);
        ends(&mut second, &own);
    }
    second.wait(SOON);
    let told = account(&ask_prompt(&mut second, "next", "s1", "Next")).unwrap();
    assert!(told.contains("User: Theirs 1\n\nAssistant: short"), "{told}");
    assert!(!told.contains("early") && !told.contains("late") && !told.contains("Own"), "{told}");
}

#[test]
fn what_an_agent_has_heard_is_stored_though_turns_overlap_all_the_time() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    let mut theirs = ask_prompt(&mut second, "theirs", "s1", "Theirs 0");
    for nth in 1..6 {
        let mine = ask_prompt(&mut first, "mine", "s1", &format!("Mine {nth}"));
        second.agent(update("b1", chunk("agent_message_chunk", "They answer")));
        ends(&mut second, &theirs);
        theirs = ask_prompt(&mut second, "theirs", "s1", &format!("Theirs {nth}"));
        first.agent(says("I answer"));
        ends(&mut first, &mine);
    }
    ends(&mut second, &theirs);
    leave(first);
    leave(second);
    let mut first = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    let out = ask_resume(&mut first, "resume", "s1");
    oblige(&mut first, out, &[], "s1").answer("resume");
    let told = account(&ask_prompt(&mut first, "next", "s1", "Next")).unwrap();
    assert!(told.contains("Theirs 5"), "{told}");
    for heard in ["Hi", "Mine 1", "Theirs 0", "Mine 2", "Theirs 1", "Theirs 2"] {
        assert!(!told.contains(heard), "{heard}: {told}");
    }
}

#[test]
fn of_a_turn_that_was_under_way_as_the_session_was_opened_the_rest_is_shown() {
    for (before, after) in [(1, 0), (1, 1), (1, 3), (3, 1), (0, 2)] {
        let (store, world) = (Memory::new(), World::default());
        let (first, mut second) = two_windows(&store, &world);
        drop(first);
        let theirs = ask_prompt(&mut second, "theirs", "s1", "Theirs");
        let say = |second: &mut Desk<'_>, pieces: std::ops::Range<i32>| {
            for at in pieces {
                second.agent(update("b1", chunk("agent_message_chunk", &format!("piece {at}, "))));
                second.wait(150);
            }
        };
        say(&mut second, 0..before);
        let mut third = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
        let mut seen = said(&load(&mut third, "s1", &[]).client);
        say(&mut second, before..before + after);
        assert_eq!(said(&third.wait(SOON).client), [""; 0]);
        ends(&mut second, &theirs);
        seen.extend(shown(&third.wait(SOON)));
        let all: Vec<String> = (0..before + after).map(|at| format!("piece {at}, ")).collect();
        assert_eq!(seen[..3], ["> Hi", "Ho", "> Theirs"], "{before}, {after}");
        assert_eq!(seen[3..].concat(), all.concat(), "{before}, {after}");
    }
}

#[test]
fn of_a_resumed_session_what_is_said_from_then_on_is_shown() {
    let (store, world) = (Memory::new(), World::default());
    let (first, mut second) = two_windows(&store, &world);
    drop(first);
    let theirs = ask_prompt(&mut second, "theirs", "s1", "Theirs");
    second.agent(update("b1", chunk("agent_message_chunk", "before ")));
    second.wait(150);
    let mut third = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    let out = ask_resume(&mut third, "resume", "s1");
    assert_eq!(said(&oblige(&mut third, out, &[], "never").client), [""; 0]);
    second.agent(update("b1", chunk("agent_message_chunk", "after")));
    ends(&mut second, &theirs);
    assert_eq!(shown(&third.wait(SOON)), ["after"]);
}

#[test]
fn what_a_load_of_the_open_session_has_shown_is_not_shown_again() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    second.turn("s1", "Theirs", &["Their answer"]);
    assert_eq!(said(&ask_load(&mut first, "load", "s1").client), ["> Hi", "Ho", "> Theirs", "Their answer"]);
    assert_eq!(said(&first.wait(SOON).client), [""; 0]);
    let out = ask_prompt(&mut first, "mine", "s1", "Mine");
    assert!(account(&out).unwrap().contains("Their answer"));
    assert_eq!(said(&out.client), [""; 0]);
}

#[test]
fn of_a_window_that_was_killed_in_its_turn_what_it_had_written_is_shown() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    ask_prompt(&mut second, "theirs", "s1", "Theirs");
    second.agent(update("b1", chunk("agent_message_chunk", "Their answ")));
    second.wait(150);
    drop(second);
    let (mut seen, mut waited) = (Vec::new(), 0);
    while seen.is_empty() {
        seen = shown(&first.wait(SOON));
        waited += SOON;
        assert!(waited < 20_000, "nothing was shown");
    }
    assert_eq!(seen, ["> Theirs", "Their answ"]);
    assert_eq!(said(&first.wait(SOON).client), [""; 0]);
}

/// What a tool call of another window's is shown to have come to.
fn statuses(out: &Out) -> Vec<&Value> {
    let updates = out.client.iter().map(|message| &message["params"]["update"]);
    updates.filter(|update| update["toolCallId"] == "c").map(|update| &update["status"]).collect()
}

fn calls(agent_id: &str) -> Value {
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "Build", "status": "in_progress"});
    update(agent_id, call)
}

#[test]
fn of_a_window_that_was_killed_all_is_shown_in_each_of_several_others() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    ask_prompt(&mut second, "theirs", "s1", "Theirs");
    second.agent(update("b1", chunk("agent_message_chunk", "Their answ")));
    second.agent(calls("b1"));
    second.wait(150);
    drop(second);
    // The user opens it anew where it was killed, before that is known, and elsewhere a turn goes on.
    let mut third = with_agent(&store, &world, "c", "c1");
    let mut fourth = with_agent(&store, &world, "d", "d1");
    ask_prompt(&mut fourth, "fourth", "s1", "Fourth");
    let mut outs = [Out::default(), Out::default()];
    for _ in 0..20 {
        fourth.agent(update("d1", chunk("agent_message_chunk", "at it ")));
        fourth.wait(SOON / 2);
        for (desk, out) in [&mut first, &mut third].into_iter().zip(&mut outs) {
            out.extend(desk.wait(SOON / 4));
        }
    }
    let [at_first, at_third] = &outs;
    assert_eq!(shown(at_first), ["> Theirs", "Their answ"]);
    assert_eq!(statuses(at_first), ["in_progress", "failed"]);
    // It has seen the rest as it opened the session.
    assert_eq!(shown(at_third), [""; 0]);
    assert_eq!(statuses(at_third), ["failed"]);
}

#[test]
fn a_fork_of_a_session_in_the_midst_of_a_turn_is_not_in_the_midst_of_it() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut first, mut second) = two_windows(&store, &world);
    let theirs = ask_prompt(&mut second, "theirs", "s1", "Theirs");
    second.agent(calls("b1"));
    second.wait(150);
    let out = ask_fork(&mut first, "s1");
    oblige(&mut first, out, &[], "forked").answer("fork");
    for _ in 0..3 {
        assert_eq!(first.wait(SOON).client, [Value::Null; 0]);
    }
    ends(&mut second, &theirs);
    assert_eq!(shown(&first.wait(SOON)), ["> Theirs"]);
}

#[test]
fn a_window_that_has_lost_an_instance_is_still_at_its_turn() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    let mut third = with_agent(&store, &world, "c", "c1");
    let theirs = ask_prompt(&mut second, "theirs", "s1", "Theirs");
    second.agent(update("b1", chunk("agent_message_chunk", "Their ")));
    second.wait(150);
    let mut second = Desk::carry_on(&store, &world, &[], second.memos, Vec::new());
    for _ in 0..20 {
        second.wait(SOON / 2);
        for desk in [&mut first, &mut third] {
            assert_eq!(said(&desk.wait(SOON / 4).client), [""; 0]);
        }
    }
    second.agent(update("b1", chunk("agent_message_chunk", "answer")));
    ends(&mut second, &theirs);
    for desk in [&mut first, &mut third] {
        assert_eq!(shown(&desk.wait(SOON)), ["> Theirs", "Their answer"]);
    }
}

#[test]
fn what_another_windows_agent_says_between_turns_is_shown_once_something_follows_it() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    second.agent(update("b1", chunk("agent_message_chunk", "By the way")));
    second.wait(150);
    assert_eq!(said(&first.wait(SOON).client), [""; 0]);
    second.turn("s1", "Theirs", &["Their answer"]);
    assert_eq!(shown(&first.wait(SOON)), ["By the way", "> Theirs", "Their answer"]);
    // What its own agent says is not shown twice.
    first.agent(says("My own"));
    second.turn("s1", "More", &["Yes"]);
    assert_eq!(shown(&first.wait(SOON)), ["> More", "Yes"]);
}

#[test]
fn what_another_windows_agent_says_between_turns_is_shown_once_it_has_been_silent_for_a_while() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    for piece in ["By the ", "way"] {
        second.agent(update("b1", chunk("agent_message_chunk", piece)));
        second.wait(150);
        assert_eq!(said(&first.wait(SOON).client), [""; 0], "it has just been said");
        assert_eq!(shown(&first.wait(SOON)), [piece]);
        for _ in 0..3 {
            assert_eq!(said(&first.wait(SOON).client), [""; 0]);
        }
    }
    second.turn("s1", "Theirs", &["Their answer"]);
    assert_eq!(shown(&first.wait(SOON)), ["> Theirs", "Their answer"]);
}

#[test]
fn what_another_windows_agent_says_between_turns_is_shown_before_the_prompt_that_follows_it() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    second.agent(update("b1", chunk("agent_message_chunk", "By the ")));
    second.wait(150);
    let mine = ask_prompt(&mut first, "mine", "s1", "Mine");
    assert_eq!(shown(&mine), ["By the "]);
    assert!(account(&mine).unwrap().contains("By the"));
    // What comes to it behind that prompt is shown behind the turn.
    second.agent(update("b1", chunk("agent_message_chunk", "way")));
    second.wait(150);
    assert_eq!(shown(&ends(&mut first, &mine)), ["way"]);
    assert_eq!(said(&first.wait(SOON).client), [""; 0]);
    second.turn("s1", "Theirs", &["Their answer"]);
    assert_eq!(shown(&first.wait(SOON)), ["> Theirs", "Their answer"]);
    assert_eq!(said(&first.wait(SOON).client), [""; 0]);
}

#[test]
fn what_comes_to_words_between_turns_behind_a_load_is_shown() {
    let (store, world) = (Memory::new(), World::default());
    let (first, mut second) = two_windows(&store, &world);
    drop(first);
    second.agent(update("b1", chunk("agent_message_chunk", "By the ")));
    second.wait(150);
    let mut third = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    assert_eq!(said(&load(&mut third, "s1", &[]).client), ["> Hi", "HoBy the "]);
    second.agent(update("b1", chunk("agent_message_chunk", "way")));
    second.wait(150);
    second.turn("s1", "Theirs", &["Their answer"]);
    assert_eq!(shown(&third.wait(SOON)), ["way", "> Theirs", "Their answer"]);
}

#[test]
fn what_another_program_of_one_agent_says_between_turns_is_shown_and_told_like_its_turns() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let mut first = Desk::ready(&store, &world, &capabilities);
    first.new_session("s1", CWD);
    first.turn("s1", "Hi", &["Ho"]);
    // The same session of the agent's is open in both of its programs.
    let mut second = Desk::ready(&store, &world, &capabilities);
    let out = ask_resume(&mut second, "resume", "s1");
    second.reply(&out.request("session/resume"), json!({}));
    second.agent(says("By the way"));
    second.wait(150);
    second.turn("s1", "Theirs", &["Their answer"]);
    assert_eq!(shown(&first.wait(SOON)), ["By the way", "> Theirs", "Their answer"]);
    assert_eq!(said(&second.wait(SOON).client), [""; 0], "its own words");
    let prompt = ask_prompt(&mut first, "mine", "s1", "Mine");
    let told = account(&prompt).unwrap();
    assert!(told.contains("By the way") && told.contains("Their answer"), "{told}");
    ends(&mut first, &prompt);
    // Nobody is told what it has said itself, nor the same twice.
    first.agent(says("My own"));
    first.wait(150);
    let prompt = ask_prompt(&mut first, "more", "s1", "More");
    assert_eq!(account(&prompt), None);
    ends(&mut first, &prompt);
    let told = account(&ask_prompt(&mut second, "theirs", "s1", "And theirs")).unwrap();
    assert!(told.contains("My own") && !told.contains("By the way"), "{told}");
}

#[test]
fn a_fresh_instance_goes_on_showing_where_the_lost_one_was() {
    // Whether the lost one knew of the turn elsewhere, whether one was under way there, and whether it had one of its own.
    for (knew, under_way, had_one) in (0..8).map(|bits| (bits & 1 > 0, bits & 2 > 0, bits & 4 > 0)) {
        let what = format!("knew: {knew}, under way: {under_way}, had one: {had_one}");
        let (store, world) = (Memory::new(), World::default());
        let (mut first, mut second) = two_windows(&store, &world);
        let mine = had_one.then(|| ask_prompt(&mut first, "mine", "s1", "Mine"));
        let theirs = ask_prompt(&mut second, "theirs", "s1", "Theirs");
        second.agent(update("b1", chunk("agent_message_chunk", "Their ")));
        second.wait(150);
        if knew {
            assert_eq!(said(&first.wait(SOON).client), [""; 0], "{what}");
        }
        if !under_way {
            second.agent(update("b1", chunk("agent_message_chunk", "answer")));
            ends(&mut second, &theirs);
        }
        let mut first = Desk::carry_on(&store, &world, &[], first.memos, Vec::new());
        first.pull();
        if let Some(mine) = &mine {
            assert_eq!(said(&first.wait(SOON).client), [""; 0], "{what}");
            first.agent(says("My answer"));
            let out = ends(&mut first, mine);
            assert_eq!(shown(&out).is_empty(), under_way, "{what}");
            if !under_way {
                assert_eq!(shown(&out), ["> Theirs", "Their answer"], "{what}");
            }
        }
        if under_way {
            second.agent(update("b1", chunk("agent_message_chunk", "answer")));
            ends(&mut second, &theirs);
        }
        let expected: &[&str] = if had_one && !under_way { &[] } else { &["> Theirs", "Their answer"] };
        assert_eq!(shown(&first.wait(SOON)), expected, "{what}");
        assert_eq!(said(&first.wait(SOON).client), [""; 0], "{what}");
    }
}

#[test]
fn a_turn_of_its_own_that_an_instance_was_lost_with_is_not_taken_for_anothers() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    let memos = first.memos.clone();
    first.turn("s1", "Mine", &["My answer"]);
    // The host has not been given what the instance wanted kept of it.
    let mut first = Desk::carry_on(&store, &world, &[], memos, Vec::new());
    first.pull();
    second.turn("s1", "Theirs", &["Their answer"]);
    assert_eq!(shown(&first.wait(SOON)), ["> Theirs", "Their answer"]);
}

/// A client that has no room for what is shown sends this: no prompt goes to the agent yet. What the client is sent.
fn sends_without_room<const N: usize>(desk: &mut Desk<'_>, lines: [Value; N]) -> Vec<String> {
    desk.engine.idle();
    let content = |line| Content::Line(envelope(line));
    desk.engine.receive(lines.map(|line| Arrival { peer: Peer::Client, content: content(line) }));
    let sent = desk.engine.pull(0).into_iter().filter_map(|output| match output {
        Output::ToClient(line) => Some(line),
        Output::ToAgent(line) if line.contains("session/prompt") => panic!("{line}"),
        _ => None,
    });
    sent.collect()
}

#[test]
fn a_prompt_waits_while_a_long_turn_is_shown_for_which_the_client_has_no_room() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    let long = "x".repeat(400_000);
    second.turn("s1", "Theirs", &[&long, " end"]);
    let prompt = json!([{"type": "text", "text": "Mine"}]);
    let params = json!({"sessionId": "s1", "prompt": prompt});
    let sent = sends_without_room(&mut first, [json!({"id": "mine", "method": "session/prompt", "params": params})]);
    assert_eq!(sent, [""; 0]);
    let out = first.pull();
    assert_eq!(shown(&out), ["> Theirs".to_owned(), format!("{long} end")]);
    assert!(out.asked("session/prompt").is_some());
    ends(&mut first, &out).answer("mine");
}

/// One pull, for a client that has room for so much.
fn pulls_with_room(desk: &mut Desk<'_>, room: u32) -> Vec<Value> {
    let mut sent = Vec::new();
    for output in desk.engine.pull(room) {
        match output {
            Output::ToClient(line) => sent.push(serde_json::from_str(&line).unwrap()),
            Output::Keep { key, value: Some(value) } => drop(desk.memos.insert(key, value)),
            Output::Keep { key, value: None } => drop(desk.memos.remove(&key)),
            Output::ToAgent(_) | Output::Warn(_) => {}
        }
    }
    sent
}

#[test]
fn what_its_agent_says_while_a_long_turn_from_elsewhere_is_shown_comes_behind_that() {
    for is_lost in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut first, mut second) = two_windows(&store, &world);
        assert_eq!(said(&first.agent(says("Before. ")).client), ["Before. "]);
        first.wait(SOON);
        let long = "x".repeat(400_000);
        second.turn("s1", "Theirs", &[&long, " end"]);
        world.now.set(world.now.get() + SOON);
        first.engine.idle();
        let mut sent = pulls_with_room(&mut first, 20_000);
        for words in ["By ", "the way. "] {
            let line = Content::Line(envelope(says(words)));
            first.engine.receive([Arrival { peer: Peer::Agent, content: line }]);
            sent.extend(pulls_with_room(&mut first, 0));
        }
        assert_eq!(said(&sent), ["> Theirs", long.as_str()], "{is_lost}");
        if is_lost {
            first = Desk::carry_on(&store, &world, &[], first.memos, Vec::new());
        }
        let mut out = first.wait(SOON);
        out.client.splice(0..0, sent);
        let is_elsewhere = |message: &&Value| message["params"]["_meta"]["acp-sessions"]["elsewhere"] == true;
        let theirs: Vec<Value> = out.client.iter().filter(is_elsewhere).cloned().collect();
        assert_eq!(said(&theirs), ["> Theirs".to_owned(), format!("{long} end")], "{is_lost}");
        assert_eq!(said(&out.client), ["> Theirs".to_owned(), format!("{long} endBy the way. ")], "{is_lost}");
        // From then on it is shown as it comes.
        assert_eq!(said(&first.agent(says("Indeed. ")).client), ["Indeed. "], "{is_lost}");
        assert_eq!(said(&first.wait(SOON).client), [""; 0], "{is_lost}");
        leave(first);
        leave(second);
        let mut third = other(&store, &world);
        let history = said(&load(&mut third, "s1", &[]).client);
        let theirs = history.iter().position(|said| said == "> Theirs").unwrap();
        assert_eq!(history[theirs..], ["> Theirs".to_owned(), format!("{long} endBy the way. Indeed. ")], "{is_lost}");
    }
}

#[test]
fn a_store_that_cannot_be_read_keeps_no_prompt_waiting_and_what_was_said_elsewhere_comes_later() {
    let (store, world) = (Faulty::default(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    second.turn("s1", "Theirs", &["Their answer"]);
    store.fail(0, 1000, StorageError::Unavailable("busy".to_owned()));
    let out = ask_prompt(&mut first, "mine", "s1", "Mine");
    assert!(out.asked("session/prompt").is_some());
    store.mend();
    let mut seen = said(&out.client);
    seen.extend(said(&ends(&mut first, &out).client));
    seen.extend(said(&first.wait(2 * SOON).client));
    assert_eq!(seen, ["> Theirs", "Their answer"]);
}

#[test]
fn nothing_is_shown_of_a_session_that_was_deleted_meanwhile() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    second.turn("s1", "Theirs", &["Their answer"]);
    assert_eq!(second.ask("session/delete", json!({"sessionId": "s1"}))["result"], json!({}));
    assert_eq!(said(&first.wait(SOON).client), [""; 0]);
    let answer = ask_prompt(&mut first, "mine", "s1", "Mine");
    assert_eq!(said(&answer.client), [""; 0]);
}

#[test]
fn a_prompt_that_the_client_takes_back_while_it_waits_is_answered_so() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    second.turn("s1", "Theirs", &[&"x".repeat(400_000)]);
    let lines = [
        json!({"id": "mine", "method": "session/prompt", "params": {"sessionId": "s1", "prompt": []}}),
        json!({"method": "session/cancel", "params": {"sessionId": "s1"}}),
    ];
    let [answer] = sends_without_room(&mut first, lines).try_into().unwrap();
    assert!(answer.contains("cancelled"), "{answer}");
    let out = first.pull();
    assert_eq!(out.asked("session/prompt"), None::<&Value>);
    assert_eq!(said(&out.client).len(), 2);
}

#[test]
fn of_a_window_that_was_killed_all_is_shown_though_another_turn_is_under_way_meanwhile() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    let mine = ask_prompt(&mut first, "mine", "s1", "Mine");
    ask_prompt(&mut second, "theirs", "s1", "Theirs");
    assert_eq!(said(&first.wait(SOON).client), [""; 0]);
    for piece in ["a ", "b ", "c"] {
        second.agent(update("b1", chunk("agent_message_chunk", piece)));
        second.wait(150);
        first.agent(says("mine "));
        first.wait(150);
    }
    drop(second);
    for _ in 0..20 {
        assert_eq!(said(&first.wait(SOON).client), [""; 0]);
    }
    assert_eq!(shown(&ends(&mut first, &mine)), ["> Theirs", "a b c"]);
}

#[test]
fn what_was_said_while_an_agent_that_was_started_again_did_not_open_the_session_is_shown() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    first.revive(&json!({}));
    let waits = ask_prompt(&mut first, "waits", "s1", "Waits");
    waits.request("session/new");
    second.turn("s1", "Theirs", &["Their answer"]);
    assert_eq!(said(&first.wait(SOON).client), [""; 0], "it is being opened");
    let mut out = first.revive(&json!({}));
    out.answer("waits");
    out.extend(first.wait(SOON));
    assert_eq!(shown(&out), ["> Theirs", "Their answer"]);
    assert_eq!(said(&first.wait(SOON).client), [""; 0]);
}

#[test]
fn what_was_said_elsewhere_is_shown_before_an_agent_that_was_started_again_is_made_to_open_the_session() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    let resumes = json!({"sessionCapabilities": {"resume": {}}});
    first.revive(&resumes);
    second.turn("s1", "Theirs", &["Their answer"]);
    let mut out = ask_prompt(&mut first, "mine", "s1", "Mine");
    assert_eq!(shown(&out), ["> Theirs", "Their answer"]);
    out = first.reply(&out.request("session/resume"), json!({}));
    assert_eq!(said(&out.client), [""; 0]);
    assert!(account(&out).unwrap().contains("Their answer"));
    ends(&mut first, &out).answer("mine");
}

#[test]
fn windows_stay_in_step_though_the_clock_was_set_forward_for_a_moment() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    let hour = 3_600_000;
    world.now.set(world.now.get() + hour);
    first.agent(update("s1", json!({"sessionUpdate": "plan", "entries": []})));
    world.now.set(world.now.get() - hour);
    second.turn("s1", "Theirs", &["Their answer"]);
    assert_eq!(shown(&first.wait(SOON)), ["> Theirs", "Their answer"]);
}

#[test]
fn what_is_asked_while_it_is_shown_before_an_agent_that_was_started_again_opens_the_session_waits() {
    let (store, world) = (Memory::new(), World::default());
    let (mut first, mut second) = two_windows(&store, &world);
    first.revive(&json!({"sessionCapabilities": {"resume": {}}}));
    let long = "x".repeat(400_000);
    second.turn("s1", "Theirs", &[&long]);
    let lines = [
        json!({"id": "mode", "method": "session/set_mode", "params": {"sessionId": "s1", "modeId": "code"}}),
        json!({"id": "mine", "method": "session/prompt", "params": {"sessionId": "s1", "prompt": []}}),
        json!({"method": "_note", "params": {"sessionId": "s1"}}),
    ];
    assert_eq!(sends_without_room(&mut first, lines), [""; 0]);
    let mut out = first.pull();
    assert_eq!(shown(&out), ["> Theirs", &long]);
    let asked: Vec<_> = out.agent.iter().map(|message| message["method"].clone()).collect();
    assert_eq!(asked, ["session/resume"]);
    out = first.reply(&out.request("session/resume"), json!({}));
    assert_eq!(said(&out.client), [""; 0]);
    let asked: Vec<_> = out.agent.iter().map(|message| message["method"].clone()).collect();
    assert_eq!(asked, ["session/set_mode", "session/prompt", "_note"]);
}
