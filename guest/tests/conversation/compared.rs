//! What an agent replays of a conversation that is here: it is written where some of it is new, or where it is too long to be held
//! in memory.

use acp_sessions_guest::storage::StorageError;
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World};
use crate::scenes::{A_WRITE, Turns, ask_load, ask_prompt, begun, both_open, leave, lines, load, oblige, replay, said};
use crate::side_by_side::shown;

const FIRST: Turns<'static> = &[("Old question", "Old answer"), ("Older question", "Older answer")];
const OUTSIDE: Turns<'static> = &[("Said outside", "Answered outside")];

/// Loads the session in a new window of an agent without a list, so that each load compares; what was said, how often entries were written meanwhile, and how many bytes.
fn loaded(store: &Faulty, world: &World, turns: Turns<'_>) -> (Vec<String>, usize, usize) {
    world.now.set(world.now.get() + 100_000);
    let mut desk = Desk::ready(store, world, &json!({"loadSession": true}));
    store.recordings.set(0);
    store.recorded.set(0);
    let shown = said(&load(&mut desk, "o1", turns).client);
    let written = (store.recordings.get(), store.recorded.get());
    leave(desk);
    (shown, written.0, written.1)
}

fn found(store: &Faulty, world: &World, words: &str) -> usize {
    let mut desk = Desk::ready(store, world, &json!({}));
    let answer = desk.ask("session/list", json!({"_meta": {"acp-sessions": {"search": words}}}));
    answer["result"]["sessions"].as_array().map_or(0, Vec::len)
}

#[test]
fn what_an_agent_replays_is_written_only_where_some_of_it_is_new() {
    let (store, world) = (Faulty::default(), World::default());
    let all = [FIRST, OUTSIDE].concat();
    assert_eq!(loaded(&store, &world, FIRST).0, lines(&[FIRST]));
    assert_eq!(loaded(&store, &world, FIRST), (lines(&[FIRST]), 0, 0));
    let (shown, times, _) = loaded(&store, &world, &all);
    assert_eq!((shown, times), (lines(&[FIRST, OUTSIDE]), 1));
    assert_eq!(loaded(&store, &world, &all), (lines(&[FIRST, OUTSIDE]), 0, 0));
    assert_eq!(found(&store, &world, "answered outside"), 1);
}

#[test]
fn what_is_new_is_taken_over_whole_or_not_at_all_over_a_store_that_fails() {
    let all = [FIRST, OUTSIDE].concat();
    for nth in 0..20 {
        let (store, world) = (Faulty::default(), World::unrecorded());
        loaded(&store, &world, FIRST);
        world.now.set(world.now.get() + 100_000);
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        store.fail(nth, 1, StorageError::Full);
        let out = ask_load(&mut desk, "load", "o1");
        let mut out = oblige(&mut desk, out, &all, "never");
        out.extend(desk.wait(300));
        out.answer("load");
        store.mend();
        drop(desk);
        for time in ["next", "after that"] {
            assert_eq!(loaded(&store, &world, &all).0, lines(&[&all]), "{nth}, {time}");
        }
        assert_eq!(found(&store, &world, "answered outside"), 1, "{nth}");
    }
}

#[test]
fn what_is_too_long_to_be_held_is_written_as_it_comes_and_nothing_of_it_stays() {
    let (store, world) = (Faulty::default(), World::unrecorded());
    let answer = |n: usize| format!("{n} {}", "long words ".repeat(50_000));
    let answers: Vec<String> = (0..20).map(answer).collect();
    let turns: Vec<(&str, &str)> = answers.iter().map(|answer| ("Tell me", answer.as_str())).collect();
    let size: usize = answers.iter().map(String::len).sum();
    assert_eq!(loaded(&store, &world, &turns).0, lines(&[&turns]));
    let mut remaining = store.counts();
    for time in ["once", "again"] {
        let (shown, times, written) = loaded(&store, &world, &turns);
        assert_eq!(shown, lines(&[&turns]), "{time}");
        assert!(times > 1 && written > size, "{time}: {times}, {written} of {size}");
        let mut desk = Desk::ready(&store, &world, &json!({}));
        (0..100).for_each(|_| drop(desk.wait(1000)));
        leave(desk);
        let counts = store.counts();
        assert_eq!((counts.1, counts.2), (remaining.1, remaining.2), "{time}");
        remaining = counts;
    }
}

/// A session that was said something in outside, loaded in a new window by a request that is taken back, and by another behind
/// it: the window, what the agent was asked, and all that came out since the second request.
fn loaded_behind_a_cancelled_load<'a>(store: &'a Faulty, world: &'a World) -> (Desk<'a, Faulty>, [Value; 2], Out) {
    assert_eq!(loaded(store, world, FIRST).0, lines(&[FIRST]));
    let mut desk = Desk::ready(store, world, &json!({"loadSession": true}));
    let first = ask_load(&mut desk, "first", "o1").request("session/load");
    desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "first"}})).answer("first");
    let out = ask_load(&mut desk, "second", "o1");
    let second = out.request("session/load");
    (desk, [first, second], out)
}

#[test]
fn a_load_whose_replay_is_mixed_with_that_of_a_cancelled_one_is_asked_for_again() {
    let all = [FIRST, OUTSIDE].concat();
    for answered in [[0, 1], [1, 0]] {
        for is_refused in [false, true] {
            let (store, world) = (Faulty::default(), World::unrecorded());
            let (mut desk, asked, mut out) = loaded_behind_a_cancelled_load(&store, &world);
            for turn in all.iter().flat_map(|turn| [turn, turn]) {
                out.extend(replay(&mut desk, "o1", std::slice::from_ref(turn)));
            }
            let mut answers = Out::default();
            for which in answered {
                answers.extend(desk.reply(&asked[which], json!({})));
            }
            assert!(answers.is_open("second"), "{answered:?}");
            let again = answers.request("session/load");
            out.extend(answers);
            out.extend(replay(&mut desk, "o1", &all));
            out.extend(if is_refused { desk.refuse(&again, -32603) } else { desk.reply(&again, json!({})) });
            assert!(out.answer("second")["error"].is_null());
            let shown = if is_refused { lines(&[FIRST]) } else { lines(&[&all]) };
            assert_eq!(said(&out.client), shown, "{answered:?}, refused: {is_refused}");
            let prompt = ask_prompt(&mut desk, "turn", "o1", "Next").request("session/prompt");
            desk.reply(&prompt, json!({"stopReason": "end_turn"})).answer("turn");
        }
    }
}

#[test]
fn a_load_behind_a_cancelled_one_that_is_never_answered_shows_what_is_here() {
    let (store, world) = (Faulty::default(), World::unrecorded());
    let (mut desk, asked, mut out) = loaded_behind_a_cancelled_load(&store, &world);
    out.extend(replay(&mut desk, "o1", FIRST));
    out.extend(desk.reply(&asked[1], json!({})));
    assert!(out.is_open("second"));
    out.extend(desk.wait(5000));
    assert!(out.answer("second")["error"].is_null());
    assert_eq!(said(&out.client), lines(&[FIRST]));
}

#[test]
fn a_load_that_is_asked_for_again_can_be_cancelled_too() {
    let all = [FIRST, OUTSIDE].concat();
    let (store, world) = (Faulty::default(), World::unrecorded());
    let (mut desk, asked, _) = loaded_behind_a_cancelled_load(&store, &world);
    desk.reply(&asked[1], json!({}));
    let again = desk.reply(&asked[0], json!({})).request("session/load");
    desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "second"}})).answer("second");
    desk.reply(&again, json!({}));
    let out = ask_load(&mut desk, "third", "o1");
    let out = oblige(&mut desk, out, &all, "never");
    assert!(out.answer("third")["error"].is_null());
    assert_eq!(said(&out.client), lines(&[&all]));
}

#[test]
fn what_is_new_is_taken_over_also_where_something_else_is_disputed_that_another_window_may_go_on_with() {
    let (store, world) = (Faulty::default(), World::unrecorded());
    let loads = json!({"loadSession": true});
    let here = [FIRST[0], FIRST[1], ("Third question", "Third answer")];
    let mut first = begun(&store, &world, &loads, &here);
    let told = [FIRST[0], OUTSIDE[0], FIRST[1], ("Third question", "Another one altogether")];
    let known = [FIRST[0], OUTSIDE[0], FIRST[1], here[2]];
    for time in ["once", "again"] {
        world.now.set(world.now.get() + 100_000);
        first.wait(1000);
        let mut second = Desk::ready(&store, &world, &loads);
        let out = load(&mut second, "s1", &told);
        assert!(out.answer("load")["error"].is_null());
        assert_eq!(said(&out.client), lines(&[&known]), "{time}");
        leave(second);
    }
    assert_eq!(said(&load(&mut first, "s1", &told).client), lines(&[&told]), "nobody else goes on with it any more");
}

#[test]
fn a_history_that_only_its_agent_has_is_not_taken_over_mixed_with_that_for_a_cancelled_load() {
    for is_refused in [false, true] {
        let (store, world) = (Faulty::default(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        let first = ask_load(&mut desk, "first", "o1").request("session/load");
        desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "first"}})).answer("first");
        let mut out = ask_load(&mut desk, "second", "o1");
        let second = out.request("session/load");
        for turn in FIRST.iter().flat_map(|turn| [turn, turn]) {
            out.extend(replay(&mut desk, "o1", std::slice::from_ref(turn)));
        }
        out.extend(desk.reply(&second, json!({})));
        assert!(out.is_open("second"));
        let answered = desk.reply(&first, json!({}));
        let again = answered.request("session/load");
        out.extend(answered);
        out.extend(replay(&mut desk, "o1", FIRST));
        out.extend(if is_refused { desk.refuse(&again, -32603) } else { desk.reply(&again, json!({})) });
        let shown = if is_refused { Vec::new() } else { lines(&[FIRST]) };
        assert_eq!(out.answer("second")["error"].is_null(), !is_refused);
        assert_eq!(said(&out.client), shown);
        leave(desk);
        assert_eq!(loaded(&store, &world, FIRST).0, lines(&[FIRST]));
    }
}

#[test]
fn of_what_comes_in_the_place_of_a_turn_that_was_cut_off_other_windows_are_shown_whole_turns_that_are_new() {
    let (store, world) = (Faulty::default(), World::unrecorded());
    let loads = json!({"loadSession": true});
    let (mut killed, mut watching) = both_open(&store, &world, &loads, &FIRST[..1]);
    ask_prompt(&mut killed, "cut", "s1", FIRST[1].0).request("session/prompt");
    killed.wait(A_WRITE);
    drop(killed);
    let mut before = Vec::new();
    for _ in 0..30 {
        before.extend(shown(&watching.wait(1000)));
    }
    assert_eq!(before, lines(&[&[(FIRST[1].0, "")]])[..1]);
    let told = [FIRST, OUTSIDE].concat();
    let mut second = Desk::ready(&store, &world, &loads);
    assert_eq!(said(&load(&mut second, "s1", &told).client), lines(&[&told]));
    let seen: Vec<String> = (0..3).flat_map(|_| shown(&watching.wait(1000))).collect();
    assert_eq!(seen, lines(&[OUTSIDE]));
    assert_eq!(said(&load(&mut watching, "s1", &told).client), lines(&[&told]));
}
