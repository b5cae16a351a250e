//! An agent that loads a session which another window is at a turn of, or was until it was killed a moment ago: what it tells
//! becomes no part of the history until the next load, and it is not told it again.

use acp_sessions_guest::storage::{Memory, Storage, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, World, chunk, update};
use crate::scenes::{
    CWD, LONG, TOLD, Turns, UNTIL_FORGOTTEN, account, answers, ask_load, ask_prompt, begun, leave, lines, load, oblige,
    replay, said, says,
};

fn loads() -> Value {
    json!({"loadSession": true})
}

/// A window on a session `s1` of two turns that is in the midst of a third one.
fn at_work<'a, S: Storage>(store: &'a S, world: &'a World) -> Desk<'a, S> {
    let mut desk = begun(store, world, &loads(), TOLD);
    ask_prompt(&mut desk, "third", "s1", "Third question");
    desk.agent(says("Third"));
    desk.wait(LONG);
    desk
}

/// Another one, whose agent tells these turns as it loads the session, which its client is shown out of the log.
fn opened<'a>(store: &'a Memory, world: &'a World, turns: Turns<'_>) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, &loads());
    let shown = said(&load(&mut desk, "s1", turns).client);
    assert_eq!(shown, lines(&[TOLD, &[("Third question", "Third")]]));
    desk
}

/// What the agent is told with the next prompt.
fn told(desk: &mut Desk<'_>) -> Option<String> {
    let told = account(&ask_prompt(desk, "next", "s1", "On"));
    desk.agent(answers("next"));
    told
}

#[test]
fn what_an_agent_tells_right_after_its_window_was_killed_it_is_not_told_again() {
    for has_kept in
        [&[][..], &[("Third question", "Thi")], &[("Third question", "Third")], &[("Third question", "Third answer")]]
    {
        let (store, world) = (Memory::new(), World::unrecorded());
        drop(at_work(&store, &world));
        let mut desk = opened(&store, &world, &[TOLD, has_kept].concat());
        let told = told(&mut desk);
        let is_told_all = has_kept.iter().any(|(_, answer)| answer.starts_with("Third"));
        assert_eq!(told.is_none(), is_told_all, "{has_kept:?}: {told:?}");
        let tells = |text| told.as_ref().is_none_or(|told| told.contains(text));
        assert!(tells("User: Third question\n\nAssistant: Third") && told.is_none_or(|told| !told.contains("First")));
        // It has heard it from then on, and all that it has more of it is found once nobody can be at it.
        leave(desk);
        world.now.set(world.now.get() + UNTIL_FORGOTTEN);
        let mut desk = Desk::ready(&store, &world, &loads());
        let all = [TOLD, has_kept, &[("On", "")]].concat();
        let out = load(&mut desk, "s1", &all);
        let third = has_kept.first().map_or("Third", |(_, answer)| if *answer == "Thi" { "Third" } else { answer });
        let expected = [lines(&[TOLD]), vec!["> Third question".to_owned(), third.to_owned(), "> On".to_owned()]];
        assert_eq!(said(&out.client), expected.concat(), "{has_kept:?}");
    }
}

#[test]
fn what_its_window_adds_to_the_last_that_it_has_told_an_agent_is_told() {
    for is_lost in [false, true] {
        for adds in ["nothing", "to it", "the end"] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut first = at_work(&store, &world);
            let mut desk = opened(&store, &world, &[TOLD, &[("Third question", "Third")]].concat());
            if adds != "nothing" {
                first.agent(says(" answer"));
                first.wait(LONG);
            }
            if adds == "the end" {
                first.agent(answers("third"));
            }
            if is_lost {
                desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
                desk.pull();
            }
            let told = told(&mut desk);
            assert_eq!(told.is_some(), is_lost || adds != "nothing", "{adds}: {told:?}");
            assert!(told.is_none_or(|told| adds == "nothing" || told.contains("Third answer")), "{adds}");
        }
    }
}

#[test]
fn an_agent_that_goes_away_before_it_is_prompted_has_not_heard_what_was_added() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = at_work(&store, &world);
    leave(opened(&store, &world, &[TOLD, &[("Third question", "Third")]].concat()));
    first.agent(says(" answer"));
    first.wait(LONG);
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true, "sessionCapabilities": {"resume": {}}}));
    let out = ask_load(&mut desk, "load", "s1");
    oblige(&mut desk, out, &[], "fresh");
    let told = told(&mut desk).unwrap_or_default();
    assert!(told.contains("Third answer"), "{told}");
}

#[test]
fn what_another_agent_has_said_and_this_one_does_not_tell_it_is_told() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = Desk::ready(&store, &world, &loads());
    first.new_session("s1", CWD);
    first.turn("s1", "First question", &["First answer"]);
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    let out = ask_load(&mut other, "load", "s1");
    oblige(&mut other, out, &[], "b1").answer("load");
    other.turn("s1", "Theirs", &["Their answer"]);
    ask_prompt(&mut first, "mine", "s1", "Mine").request("session/prompt");
    first.agent(says("My answer"));
    first.wait(LONG);
    ask_prompt(&mut other, "last", "s1", "Last").request("session/prompt");
    other.agent(update("b1", chunk("agent_message_chunk", "Last answer")));
    other.wait(LONG);
    drop((first, other));
    let mut desk = Desk::ready(&store, &world, &loads());
    load(&mut desk, "s1", &[("First question", "First answer"), ("Mine", "My answer")]);
    let told = told(&mut desk).unwrap_or_default();
    assert!(told.contains("Their answer") && told.contains("Last answer"), "{told}");
    assert!(!told.contains("First"), "{told}");
}

#[test]
fn a_session_is_opened_though_the_store_takes_nothing_of_what_the_agent_tells() {
    for good in 0..12 {
        let (store, world) = (Faulty::default(), World::unrecorded());
        let first = at_work(&store, &world);
        let mut desk = Desk::ready(&store, &world, &loads());
        let asked = ask_load(&mut desk, "load", "s1").request("session/load");
        store.fail(good, usize::MAX, StorageError::Full);
        let long = "x".repeat(300_000);
        let mut out = replay(&mut desk, "s1", &[("Third question", &long), ("Fourth question", &long)]);
        store.mend();
        out.extend(desk.reply(&asked, json!({})));
        assert!(out.answer("load")["error"].is_null(), "{good}: {:?}", out.answer("load"));
        assert!(account(&ask_prompt(&mut desk, "next", "s1", "On")).is_some());
        drop(first);
    }
}

#[test]
fn what_an_agent_tells_whose_user_had_to_log_in_is_shown_out_of_the_log() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let first = at_work(&store, &world);
    let mut desk = Desk::ready(&store, &world, &loads());
    let params = json!({"cwd": CWD, "mcpServers": []});
    let out = desk.client(json!({"id": "new", "method": "session/new", "params": params}));
    desk.refuse(&out.request("session/new"), -32000);
    let all = [TOLD, &[("Third question", "Third")]].concat();
    assert_eq!(said(&load(&mut desk, "s1", &all).client), lines(&[&all]));
    assert_eq!(told(&mut desk), None);
    drop(first);
}

#[test]
fn all_that_a_killed_window_did_not_write_is_found_once_nobody_can_be_at_its_turn() {
    let whole = [TOLD, &[("Third question", "Third answer")]].concat();
    for is_open in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        drop(at_work(&store, &world));
        // It is opened again at once, and stays open.
        let mut first = opened(&store, &world, &whole);
        first.wait_awake(UNTIL_FORGOTTEN);
        if is_open {
            let out = load(&mut first, "s1", &whole);
            assert_eq!(said(&out.client), lines(&[&whole]));
            assert_eq!(told(&mut first), None);
        } else {
            let mut second = Desk::ready(&store, &world, &loads());
            let out = load(&mut second, "s1", &whole);
            assert_eq!(said(&out.client), lines(&[&whole]));
            assert_eq!(told(&mut second), None);
            leave(second);
        }
        leave(first);
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let expected = [lines(&[&whole]), vec!["> On".to_owned()]].concat();
        assert_eq!(said(&load(&mut desk, "s1", &[]).client), expected, "open: {is_open}");
    }
}

#[test]
fn a_window_is_shown_what_is_in_the_log_though_its_agent_does_not_load_once_more() {
    let whole = [TOLD, &[("Third question", "Third answer")]].concat();
    let (store, world) = (Memory::new(), World::unrecorded());
    drop(at_work(&store, &world));
    let mut desk = opened(&store, &world, &whole);
    desk.wait_awake(UNTIL_FORGOTTEN);
    for time in ["once", "again"] {
        let mut out = ask_load(&mut desk, "load", "s1");
        let asked = out.asked("session/load").cloned();
        assert_eq!(asked.is_some(), time == "once", "{:?}", out.agent);
        if let Some(asked) = asked {
            out.extend(desk.refuse(&asked, -32603));
        }
        assert!(out.answer("load")["error"].is_null(), "{:?}", out.answer("load"));
        assert_eq!(said(&out.client), lines(&[TOLD, &[("Third question", "Third")]]), "{time}");
    }
    ask_prompt(&mut desk, "next", "s1", "On").request("session/prompt");
}
