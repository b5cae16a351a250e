//! A store that fails while something is said: the conversation goes on, and says what is missing.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::StorageError;
use acp_sessions_guest::time;
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World, update};
use crate::scenes::{CWD, Turns, ask_prompt, ask_resume, leave, lines, listing, load, mark, oblige, row, said};

const FIRST: Turns<'static> = &[("First question", "First answer")];
const SECOND: Turns<'static> = &[("Second question", "Second answer")];
const THIRD: Turns<'static> = &[("Third question", "Third answer")];

fn turn(desk: &mut Desk<'_, Faulty>, turn: Turns<'_>) -> Out {
    desk.turn("s1", turn[0].0, &[turn[0].1])
}

fn stored(out: &Out) -> &Value {
    &out.answer("turn")["result"]["_meta"]["acp-sessions"]["stored"]
}

#[test]
fn a_turn_that_could_not_be_stored_is_marked_and_stored_later() {
    for error in [StorageError::Full, StorageError::ReadOnly, StorageError::Unavailable("busy".to_owned())] {
        let (store, world) = (Faulty::default(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", CWD);
        assert_eq!(*stored(&turn(&mut desk, FIRST)), Value::Null);
        store.fail(0, usize::MAX, error.clone());
        let out = turn(&mut desk, SECOND);
        assert_eq!(said(&out.client), ["Second answer"], "the client sees it all the same");
        assert_eq!(*stored(&out), false, "{error}");
        assert_eq!(out.answer("turn")["result"]["stopReason"], "end_turn");
        assert!(!desk.warnings.is_empty(), "the host is told: {error}");
        assert!(store.mend());
        assert_eq!(*stored(&turn(&mut desk, THIRD)), Value::Null);
        let mut desk = Desk::ready(&store, &world, &json!({}));
        assert_eq!(said(&load(&mut desk, "s1", &[]).client), lines(&[FIRST, SECOND, THIRD]), "{error}");
    }
}

#[test]
fn it_is_told_in_which_sessions_something_is_lost() {
    for (count, expected) in [
        (1, "one session could not be stored until the end, and is lost: s1"),
        (2, "2 sessions could not be stored until the end, and is lost: s1, s2"),
        (5, "5 sessions could not be stored until the end, and is lost: s1, s2, s3, s4, s5"),
        (7, "7 sessions could not be stored until the end, and is lost: s1, s2, s3, s4, s5 and 2 more"),
    ] {
        let (store, world) = (Faulty::default(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let ids: Vec<String> = (0..=count).map(|nth| desk.new_session(&format!("s{nth}"), CWD)).collect();
        desk.turn(&ids[0], "Hello", &["Good day"]);
        store.fail(0, usize::MAX, StorageError::Full);
        for id in &ids[1..] {
            desk.turn(id, "What I say", &["Lost"]);
        }
        desk.warnings.clear();
        desk.engine.peer_closed(Peer::Client);
        desk.pull();
        let told: Vec<&String> = desk.warnings.iter().filter(|told| told.contains("lost")).collect();
        assert_eq!(told, [&format!("what was said last in {expected}")]);
    }
}

#[test]
fn what_was_said_outside_before_a_turn_could_be_stored_is_found() {
    let (store, world) = (Faulty::default(), World::default());
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"list": {}}});
    let mut desk = listing(&store, &world, "a", &capabilities, &[]);
    desk.new_session("s1", CWD);
    turn(&mut desk, FIRST);
    store.fail(0, usize::MAX, StorageError::Full);
    assert_eq!(*stored(&turn(&mut desk, SECOND)), false);
    desk.wait(1000);
    let outside = time::format(world.time());
    desk.wait(1000);
    assert!(store.mend());
    desk.wait(60_000);
    leave(desk);
    let mut desk = listing(&store, &world, "a", &capabilities, &[row("s1", "First question", &outside)]);
    let all = [FIRST, SECOND, THIRD].concat();
    assert_eq!(said(&load(&mut desk, "s1", &all).client), lines(&[&all]));
}

#[test]
fn a_turn_that_is_cut_off_by_a_close_is_marked_where_it_could_not_be_stored() {
    for method in ["session/close", "session/archive"] {
        for is_stored in [true, false] {
            let (store, world) = (Faulty::default(), World::default());
            let mut desk = Desk::ready(&store, &world, &json!({}));
            desk.new_session("s1", CWD);
            let prompt = json!([{"type": "text", "text": "Question"}]);
            desk.client(
                json!({"id": "turn", "method": "session/prompt", "params": {"sessionId": "s1", "prompt": prompt}}),
            );
            desk.client(json!({"id": "away", "method": method, "params": {"sessionId": "s1"}}));
            if !is_stored {
                store.fail(0, usize::MAX, StorageError::Full);
            }
            desk.engine.peer_closed(Peer::Agent);
            let out = desk.pull();
            assert_eq!(out.answer("turn")["result"]["stopReason"], "cancelled");
            assert_eq!(*stored(&out) == false, !is_stored, "{method}: {:?}", out.client);
        }
    }
}

/// A session of two turns, of which the second waits for room in a store that is full since the first.
fn filled_up<'a>(store: &'a Faulty, world: &'a World, capabilities: &Value) -> Desk<'a, Faulty> {
    let mut desk = Desk::ready(store, world, capabilities);
    desk.new_session("s1", CWD);
    turn(&mut desk, FIRST);
    store.fail(0, usize::MAX, StorageError::Full);
    assert_eq!(*stored(&turn(&mut desk, SECOND)), false);
    desk
}

#[test]
fn what_waits_for_a_full_store_outlives_a_close_that_cannot_write_it() {
    let closing = json!({"loadSession": true, "sessionCapabilities": {"close": {}, "resume": {}}});
    for capabilities in [json!({}), json!({"loadSession": true}), closing] {
        for method in ["session/close", "session/archive", "session/delete"] {
            for is_closed_again in [true, false] {
                let (store, world) = (Faulty::default(), World::unrecorded());
                let mut desk = filled_up(&store, &world, &capabilities);
                let away = json!({"id": "away", "method": method, "params": {"sessionId": "s1"}});
                let asked = desk.client(away.clone());
                let out = oblige(&mut desk, asked, &[], "fresh");
                let why = format!("{capabilities}, {method}, {is_closed_again}: {:?}", out.client);
                assert_eq!(out.answer("away")["error"]["code"], -32603, "{why}");
                // It is still open.
                let asked = ask_prompt(&mut desk, "turn", "s1", THIRD[0].0);
                let out = oblige(&mut desk, asked, &[FIRST, SECOND].concat(), "fresh");
                assert_eq!(*stored(&out), false, "{why}: {:?}", out.client);
                assert!(store.mend());
                if is_closed_again {
                    let asked =
                        desk.client(json!({"id": "again", "method": "session/close", "params": {"sessionId": "s1"}}));
                    let out = oblige(&mut desk, asked, &[], "fresh");
                    assert_eq!(out.answer("again")["result"], json!({}), "{why}");
                } else {
                    desk.wait(60_000);
                }
                drop(desk);
                world.now.set(world.now.get() + 60_000);
                let mut desk = Desk::ready(&store, &world, &json!({}));
                let all = [FIRST, SECOND, &[(THIRD[0].0, "")][..]].concat();
                assert_eq!(said(&load(&mut desk, "s1", &[]).client), shown(&all), "{why}");
                // What is deleted while something waits is gone.
                assert_eq!(desk.ask("session/delete", json!({"sessionId": "s1"}))["result"], json!({}));
            }
        }
    }
}

#[test]
fn what_waits_for_a_full_store_outlives_the_end_of_the_agent_during_a_close() {
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"close": {}, "resume": {}}});
    let (store, world) = (Faulty::default(), World::unrecorded());
    let mut desk = filled_up(&store, &world, &capabilities);
    desk.client(json!({"id": "away", "method": "session/close", "params": {"sessionId": "s1"}}));
    let out = desk.revive(&capabilities);
    assert_eq!(out.answer("away")["error"]["code"], -32603, "{:?}", out.client);
    assert!(store.mend());
    desk.wait(60_000);
    drop(desk);
    world.now.set(world.now.get() + 60_000);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert_eq!(said(&load(&mut desk, "s1", &[]).client), lines(&[FIRST, SECOND]));
}

#[test]
fn a_session_that_is_open_can_be_loaded_and_resumed_while_the_store_is_full() {
    for capabilities in [json!({}), json!({"loadSession": true}), json!({"sessionCapabilities": {"resume": {}}})] {
        for error in [StorageError::Full, StorageError::ReadOnly, StorageError::Unavailable("busy".to_owned())] {
            for is_quiet in [true, false] {
                let (store, world) = (Faulty::default(), World::unrecorded());
                let mut desk = Desk::ready(&store, &world, &capabilities);
                desk.new_session("s1", CWD);
                turn(&mut desk, FIRST);
                store.fail(0, usize::MAX, error.clone());
                assert_eq!(*stored(&turn(&mut desk, SECOND)), false);
                if is_quiet {
                    // The agent may have been used without the layer meanwhile.
                    desk.wait(60_000);
                }
                let why = format!("{capabilities}, {error}, {is_quiet}");
                let out = load(&mut desk, "s1", &[FIRST, SECOND].concat());
                assert!(out.answer("load")["error"].is_null(), "{why}: {:?}", out.client);
                assert_eq!(said(&out.client), lines(&[FIRST]), "{why}");
                assert!(mark(&out, "load")["notice"].as_str().is_some_and(|text| text.contains("not shown")), "{why}");
                let asked = ask_resume(&mut desk, "resume", "s1");
                let out = oblige(&mut desk, asked, &[FIRST, SECOND].concat(), "fresh");
                assert!(out.answer("resume")["error"].is_null(), "{why}: {:?}", out.client);
                // With other servers.
                let params = json!({"sessionId": "s1", "cwd": CWD, "mcpServers": [{"name": "n", "command": "c", "args": [], "env": []}]});
                let asked = desk.client(json!({"id": "other", "method": "session/load", "params": params}));
                let out = oblige(&mut desk, asked, &[FIRST, SECOND].concat(), "fresh");
                assert!(out.answer("other")["error"].is_null(), "{why}: {:?}", out.client);
                let out = turn(&mut desk, THIRD);
                assert_eq!(*stored(&out), false, "{why}: {:?}", out.client);
                assert!(store.mend());
                let out = desk.wait(60_000);
                assert!(said(&out.client).is_empty(), "nothing is said twice: {why}: {:?}", out.client);
                leave(desk);
                let mut desk = Desk::ready(&store, &world, &json!({}));
                assert_eq!(said(&load(&mut desk, "s1", &[]).client), lines(&[FIRST, SECOND, THIRD]), "{why}");
            }
        }
    }
}

#[test]
fn what_could_not_be_stored_until_the_end_is_told_of() {
    for has_room in [false, true] {
        let (store, world) = (Faulty::default(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", CWD);
        store.fail(0, usize::MAX, StorageError::Full);
        assert_eq!(*stored(&turn(&mut desk, FIRST)), false);
        if has_room {
            assert!(store.mend());
        }
        desk.engine.peer_closed(Peer::Client);
        desk.pull();
        let is_told =
            desk.warnings.iter().any(|warning| warning.contains("in one session") && warning.contains("is lost"));
        assert_eq!(is_told, !has_room, "{:?}", desk.warnings);
    }
}

/// As they are shown, where an answer may have no words.
fn shown(turns: Turns<'_>) -> Vec<String> {
    let lines = turns.iter().flat_map(|(user, agent)| [format!("> {user}"), (*agent).to_owned()]);
    lines.filter(|line| !line.is_empty()).collect()
}

#[test]
fn a_conflict_that_passes_is_no_failure() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    for nth in 0..4 {
        store.fail(nth, 1, StorageError::Conflict);
        assert_eq!(*stored(&turn(&mut desk, FIRST)), Value::Null, "{nth}");
        store.mend();
    }
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert_eq!(said(&load(&mut desk, "s1", &[]).client), lines(&[FIRST, FIRST, FIRST, FIRST]));
}

#[test]
fn a_turn_is_stored_whole_or_marked_wherever_the_store_fails() {
    for nth in 0..8 {
        let (store, world) = (Faulty::default(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", CWD);
        store.fail(nth, 1, StorageError::Full);
        let is_stored = stored(&turn(&mut desk, FIRST)).is_null();
        // The process dies at once.
        drop(desk);
        store.mend();
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let out = load(&mut desk, "s1", &[]);
        if is_stored {
            assert_eq!(said(&out.client), lines(&[FIRST]), "commit {nth} failed");
            assert_eq!(desk.ask("session/list", json!({}))["result"]["sessions"][0]["title"], "First question");
        } else {
            assert!(out.answer("load")["error"].is_null(), "commit {nth} failed");
        }
    }
}

#[test]
fn a_new_session_that_could_not_be_stored_is_an_error() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let params = json!({"cwd": CWD, "mcpServers": []});
    desk.client(json!({"id": "new", "method": "session/new", "params": params}));
    store.fail(0, usize::MAX, StorageError::Full);
    let out = desk.agent(json!({"id": "new", "result": {"sessionId": "s1"}}));
    assert_eq!(out.answer("new")["error"]["code"], -32603);
    assert!(store.mend());
    assert!(desk.listed().is_empty());
}

#[test]
fn what_waits_for_a_full_store_stays_in_order_and_comes_once() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    for round in 0..20 {
        store.fail(round % 3, 2, StorageError::Full);
        turn(&mut desk, &[("Question", &format!("answer {round}"))]);
        desk.wait(150);
        store.mend();
    }
    desk.wait(150);
    let answers: Vec<String> = (0..20).map(|round| format!("answer {round}")).collect();
    let turns: Vec<_> = answers.iter().map(|answer| ("Question", answer.as_str())).collect();
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert_eq!(said(&load(&mut desk, "s1", &[]).client), lines(&[&turns]));
}

#[test]
fn what_is_said_of_a_deleted_session_is_not_shown_while_nobody_can_look_it_up() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    turn(&mut desk, FIRST);
    assert_eq!(desk.ask("session/delete", json!({"sessionId": "s1"}))["result"], json!({}));
    for is_unreadable in [false, true] {
        store.is_unreadable.set(is_unreadable);
        let out = desk.agent(update("s1", json!({"sessionUpdate": "session_info_update", "title": "Back"})));
        assert!(out.client.is_empty(), "{is_unreadable}: {:?}", out.client);
    }
}

/// How it comes that a session is forgotten that is open.
#[derive(Debug, Clone, Copy)]
enum Forgotten {
    /// The store does not take its open mark, and the window that has it open reads the list of the agent, which was
    /// started again.
    Unmarked,
    /// The same, and another window reads the list.
    UnmarkedForAnother,
    /// The clock was set back, so that another window cannot believe the mark.
    WithTheClockSetBack,
}

#[test]
fn what_is_said_in_a_session_is_there_though_it_was_forgotten_meanwhile_because_its_agents_list_lacks_it() {
    use Forgotten::{Unmarked, UnmarkedForAnother, WithTheClockSetBack};
    let capabilities = json!({"sessionCapabilities": {"list": {}, "resume": {}}});
    for how in [Unmarked, UnmarkedForAnother, WithTheClockSetBack] {
        let (store, world) = (Faulty::default(), World::default());
        let mut desk = listing(&store, &world, "a", &capabilities, &[row("o1", "One", "2025-01-01T00:00:00Z")]);
        let asked = ask_resume(&mut desk, "resume", "o1").request("session/resume");
        if !matches!(how, WithTheClockSetBack) {
            store.fail(1, usize::MAX, StorageError::Full);
        }
        desk.reply(&asked, json!({})).answer("resume");
        store.mend();
        match how {
            Unmarked => {
                let asked = desk.revive(&capabilities).request("session/list");
                desk.reply(&asked, json!({"sessions": []}));
                desk.wait(0);
            }
            UnmarkedForAnother => leave(listing(&store, &world, "a", &capabilities, &[])),
            WithTheClockSetBack => {
                world.now.set(world.now.get() - 3_600_000);
                leave(listing(&store, &world, "a", &capabilities, &[]));
            }
        }
        let out = ask_prompt(&mut desk, "turn", "o1", "Hello");
        let out = oblige(&mut desk, out, &[], "fresh");
        assert_eq!(*stored(&out), Value::Null, "{how:?}");
        leave(desk);
        let mut desk = listing(&store, &world, "a", &capabilities, &[]);
        let rows = desk.ask("session/list", json!({}));
        assert_eq!(rows["result"]["sessions"][0]["sessionId"], "o1", "{how:?}");
        assert_eq!(rows["result"]["sessions"][0]["cwd"], CWD, "{how:?}");
        assert_eq!(said(&load(&mut desk, "o1", &[]).client), ["> Hello"], "{how:?}");
    }
}
