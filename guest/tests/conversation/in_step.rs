//! Two windows on one session, each with an agent of its own: what is said in one is shown in the other, whole turns
//! between its own. What their agents hear of it: `hearsay`.

use acp_sessions_guest::storage::{Memory, Storage, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World, chunk, update};
use crate::scenes::{account, ask_fork, ask_load, ask_prompt, ask_resume, leave, load, oblige, said, says, updates};
use crate::side_by_side::{SOON, ends, shown, two_windows, with_agent};

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

fn set_title<S: Storage>(desk: &mut Desk<'_, S>, title: &str) {
    let answer = desk.ask("session/set_title", json!({"sessionId": "s1", "title": title}));
    assert_eq!(answer["result"]["title"], title, "{answer}");
}

/// The titles that a client is told.
fn titles(out: &Out) -> Vec<&str> {
    updates(out, "session_info_update").iter().map(|update| update["title"].as_str().unwrap()).collect()
}

#[test]
fn a_title_that_is_set_in_one_window_is_told_to_the_other_soon_and_once() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut first, mut second) = two_windows(&store, &world);
    for title in ["One", "Two"] {
        set_title(&mut first, title);
        assert_eq!(titles(&second.wait(SOON)), [title]);
        for desk in [&mut first, &mut second] {
            assert_eq!(desk.wait(SOON).client, [Value::Null; 0]);
        }
    }
    set_title(&mut second, "Theirs");
    assert_eq!(titles(&first.wait(SOON)), ["Theirs"]);
    assert_eq!(second.wait(SOON).client, [Value::Null; 0]);
    // Who has it open with a history that ends with the title knows it.
    set_title(&mut first, "Last");
    assert_eq!(titles(&ask_load(&mut second, "load", "s1")), ["Last"]);
    assert_eq!(second.wait(SOON).client, [Value::Null; 0]);
    set_title(&mut first, "Prompt");
    second.turn("s1", "Go", &["Gone"]);
    assert_eq!(titles(&second.wait(SOON)), ["Prompt"]);
    first.wait(SOON);
    assert_eq!(second.wait(SOON).client, [Value::Null; 0]);
}

/// What the agent answers to being asked to open `s1`.
fn opens<S: Storage>(desk: &mut Desk<'_, S>, out: Out) -> Out {
    oblige(desk, out, &[("Hi", "Ho")], "f1")
}

#[test]
fn a_title_that_is_set_elsewhere_while_the_session_is_opened_is_told_once_though_a_turn_ends_there_afterwards() {
    let capabilities = [
        json!({}),
        json!({"loadSession": true}),
        json!({"sessionCapabilities": {"resume": {}}}),
        json!({"loadSession": true, "sessionCapabilities": {"resume": {}}}),
    ];
    for capabilities in capabilities {
        for is_resume in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let (first, mut second) = two_windows(&store, &world);
            leave(first);
            let theirs = ask_prompt(&mut second, "theirs", "s1", "Theirs");
            second.wait(SOON);
            let mut third = Desk::ready(&store, &world, &capabilities);
            let asked =
                if is_resume { ask_resume(&mut third, "open", "s1") } else { ask_load(&mut third, "open", "s1") };
            third.wait(SOON);
            set_title(&mut second, "Mine");
            let mut out = opens(&mut third, asked);
            out.extend(third.wait(SOON));
            out.answer("open");
            second.agent(update("b1", chunk("agent_message_chunk", "Their answer")));
            ends(&mut second, &theirs);
            let shown = third.wait(SOON);
            assert_eq!(said(&shown.client), ["Their answer"], "{capabilities}");
            out.extend(shown);
            out.extend(third.wait(SOON));
            assert_eq!(titles(&out), ["Mine"], "{capabilities}, resumed: {is_resume}");
        }
    }
}

#[test]
fn a_title_is_told_once_to_who_resumes_what_is_open_and_is_then_shown_what_was_said_elsewhere() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut first, mut second) = two_windows(&store, &world);
    second.turn("s1", "Theirs", &["Their answer"]);
    set_title(&mut second, "Mine");
    let asked = ask_resume(&mut first, "resume", "s1");
    let mut out = opens(&mut first, asked);
    out.extend(first.wait(SOON));
    assert_eq!(said(&out.client), ["> Theirs", "Their answer"]);
    assert_eq!(titles(&out), ["Mine"]);
    // Another one is told all the same.
    second.turn("s1", "More", &["More of it"]);
    set_title(&mut second, "Another");
    let mut out = first.wait(SOON);
    out.extend(first.wait(SOON));
    assert_eq!(titles(&out), ["Another"]);
}

#[test]
fn a_title_that_is_set_elsewhere_is_told_in_the_midst_of_a_turn_too() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut first, mut second) = two_windows(&store, &world);
    let mine = ask_prompt(&mut second, "mine", "s1", "Mine");
    set_title(&mut first, "Theirs");
    assert_eq!(titles(&second.wait(SOON)), ["Theirs"]);
    second.agent(update("b1", chunk("agent_message_chunk", "answer")));
    assert_eq!(titles(&second.wait(SOON)), [""; 0]);
    let out = ends(&mut second, &mine);
    assert_eq!(titles(&out), [""; 0]);
    assert_eq!(titles(&second.wait(SOON)), [""; 0]);
}

#[test]
fn a_title_that_is_set_elsewhere_is_told_once_though_an_instance_is_lost_or_the_agent_started_again() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut first, mut second) = two_windows(&store, &world);
    set_title(&mut second, "One");
    assert_eq!(titles(&first.wait(SOON)), ["One"]);
    let mut first = Desk::carry_on(&store, &world, &[], first.memos, Vec::new());
    first.pull();
    for _ in 0..3 {
        assert_eq!(first.wait(SOON).client, [Value::Null; 0]);
    }
    set_title(&mut second, "Two");
    assert_eq!(titles(&first.wait(SOON)), ["Two"]);
    // While the session is being opened once more nothing is told of it.
    first.revive(&json!({}));
    ask_prompt(&mut first, "waits", "s1", "Waits").request("session/new");
    set_title(&mut second, "Three");
    assert_eq!(titles(&first.wait(SOON)), [""; 0]);
    let mut out = first.revive(&json!({}));
    out.extend(first.wait(SOON));
    assert_eq!(titles(&out), ["Three"]);
    assert_eq!(titles(&first.wait(SOON)), [""; 0]);
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
    let at_it = ask_prompt(&mut fourth, "fourth", "s1", "Fourth");
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
    // Who opens it later ends the turn in the log, which they know; an instance that has taken over as well.
    let mut first = Desk::carry_on(&store, &world, &[], first.memos, Vec::new());
    ends(&mut fourth, &at_it);
    with_agent(&store, &world, "e", "e1");
    for desk in [&mut first, &mut third] {
        let out = desk.wait(SOON);
        assert_eq!(shown(&out)[0], "> Fourth");
        assert_eq!(statuses(&out), [&Value::Null; 0]);
    }
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
fn a_turn_under_way_is_not_shown_as_cut_off_where_the_clock_was_set_back() {
    let call = |kind: &str, status: &str| {
        update("s1", json!({"sessionUpdate": kind, "toolCallId": "c1", "title": "Reads", "status": status}))
    };
    for step in [40_000, 50_000, 3_600_000, 5 * 86_400_000] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut first, mut second) = two_windows(&store, &world);
        let asked = ask_prompt(&mut first, "one", "s1", "One");
        first.agent(call("tool_call", "in_progress"));
        first.wait(SOON);
        second.wait(SOON);
        world.now.set(world.now.get() - step);
        let mut out = second.wait(SOON);
        first.agent(call("tool_call_update", "completed"));
        first.agent(says("Done"));
        ends(&mut first, &asked);
        out.extend(second.wait(SOON));
        assert_eq!(shown(&out), ["> One", "Done"], "{step}");
        let failed: Vec<&Value> =
            out.client.iter().filter(|message| message["params"]["update"]["status"] == "failed").collect();
        assert!(failed.is_empty(), "{step}: {failed:?}");
    }
}

/// What an agent plans, as a client is told it.
fn plans(agent_id: &str, text: &str) -> Value {
    update(agent_id, json!({"sessionUpdate": "plan", "entries": [{"content": text}]}))
}

/// The plans that a client is told.
fn plans_in(out: &Out) -> Vec<String> {
    let entries = out.client.iter().map(|message| &message["params"]["update"]["entries"][0]["content"]);
    entries.filter_map(Value::as_str).map(str::to_owned).collect()
}

#[test]
fn the_plan_of_a_session_is_the_one_that_was_last_told_in_whichever_window() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut first, mut second) = two_windows(&store, &world);
    let usage = |id: &str, used: u32| update(id, json!({"sessionUpdate": "usage_update", "used": used, "size": 100}));
    let mut prompt = ask_prompt(&mut first, "one", "s1", "One");
    first.agent(plans("s1", "Before"));
    ends(&mut first, &prompt);
    second.wait(SOON);
    prompt = ask_prompt(&mut second, "two", "s1", "Two");
    second.agent(plans("b1", "After"));
    let mine = ends(&mut second, &prompt);
    let out = first.wait(SOON);
    assert_eq!(shown(&out), ["> Two"]);
    assert_eq!(plans_in(&out), ["After"]);
    assert_eq!(plans_in(&mine), [""; 0]);
    assert_eq!(plans_in(&second.wait(SOON)), [""; 0], "it is its own");
    prompt = ask_prompt(&mut first, "three", "s1", "Three");
    first.agent(usage("s1", 10));
    ends(&mut first, &prompt);
    assert_eq!(plans_in(&second.wait(SOON)), [""; 0], "it is as it was");
    leave(first);
    leave(second);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert_eq!(plans_in(&load(&mut desk, "s1", &[])), ["After"]);
}
