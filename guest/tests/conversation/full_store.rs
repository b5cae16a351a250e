//! A store that is full for long: what it costs, and what the user is told.

use acp_sessions_guest::storage::StorageError;
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World, chunk, update};
use crate::scenes::{CWD, ask_prompt, load, met, said, updates};

/// Bytes of an answer.
const LONG: usize = 20_000;

fn notices() -> Value {
    json!({"session": {"notices": {}}})
}

fn opened<'a>(store: &'a Faulty, world: &'a World, client: &Value) -> Desk<'a, Faulty> {
    let mut desk = met(store, world, client, &json!({}));
    desk.new_session("s1", CWD);
    desk
}

fn answer(nth: usize) -> String {
    format!("{nth} {}", "words ".repeat(LONG / 6))
}

/// A turn as it goes: the answer comes in pieces, and time passes.
fn turn(desk: &mut Desk<'_, Faulty>, nth: usize) -> Out {
    let mut all = ask_prompt(desk, "turn", "s1", &format!("Question {nth}"));
    let answer = answer(nth);
    let (first, last) = answer.split_at(answer.len() / 2);
    for piece in [first, last] {
        all.extend(desk.agent(update("s1", chunk("agent_message_chunk", piece))));
        all.extend(desk.wait(150));
    }
    all.extend(desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}})));
    all
}

fn mark(out: &Out) -> &Value {
    &out.answer("turn")["result"]["_meta"]["acp-sessions"]
}

fn titles(out: &Out) -> Vec<&str> {
    updates(out, "notice").iter().map(|update| update["title"].as_str().unwrap()).collect()
}

#[test]
fn what_a_turn_costs_does_not_grow_with_what_waits() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = opened(&store, &world, &json!({}));
    store.fail(0, usize::MAX, StorageError::Full);
    for nth in 0..40 {
        store.recorded.set(0);
        assert_eq!(mark(&turn(&mut desk, nth))["stored"], false);
        let bytes = store.recorded.get();
        assert!(bytes < 12 * LONG, "the store was given {bytes} bytes in turn {nth}");
    }
    // The last ones end with an attempt each, of a piece.
    store.recordings.set(0);
    store.recorded.set(0);
    for nth in 40..50 {
        turn(&mut desk, nth);
    }
    assert!(store.recordings.get() <= 12, "{} attempts in ten turns", store.recordings.get());
    assert!(store.recorded.get() < 10 * 5 * LONG, "{} bytes in ten turns", store.recorded.get());
}

#[test]
fn a_store_that_stays_full_is_asked_less_and_less_often_and_has_everything_soon_after() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = opened(&store, &world, &json!({}));
    store.fail(0, usize::MAX, StorageError::Full);
    turn(&mut desk, 0);
    store.recordings.set(0);
    // Ten minutes.
    for _ in 0..6000 {
        desk.wait(100);
    }
    assert!((5..40).contains(&store.recordings.get()), "{} attempts in ten minutes", store.recordings.get());
    assert!(store.mend());
    for _ in 0..301 {
        desk.wait(100);
    }
    // The process dies.
    drop(desk);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = load(&mut desk, "s1", &[]);
    assert_eq!(said(&out.client), ["> Question 0".to_owned(), answer(0)]);
}

#[test]
fn a_short_failure_is_over_soon() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = opened(&store, &world, &json!({}));
    ask_prompt(&mut desk, "turn", "s1", "Question");
    desk.agent(update("s1", chunk("agent_message_chunk", "Answer")));
    store.fail(0, 1, StorageError::Unavailable("busy".to_owned()));
    desk.wait(150);
    desk.wait(150);
    drop(desk);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert_eq!(said(&load(&mut desk, "s1", &[]).client), ["> Question", "Answer"]);
}

#[test]
fn the_user_is_told_once_and_when_it_is_over() {
    for client in [notices(), json!({})] {
        let has_asked = client["session"]["notices"].is_object();
        let (store, world) = (Faulty::default(), World::default());
        let mut desk = opened(&store, &world, &client);
        assert!(titles(&turn(&mut desk, 0)).is_empty());
        for round in 0..2 {
            store.fail(0, usize::MAX, StorageError::Full);
            let mut told = Out::default();
            for nth in 0..5 {
                let out = turn(&mut desk, nth);
                assert_eq!(mark(&out)["stored"], false, "each turn says so of itself");
                told.extend(out);
                told.extend(desk.wait(60_000));
            }
            let notices = updates(&told, "notice");
            assert_eq!(notices.len(), usize::from(has_asked), "{round}: {notices:?}");
            if let [notice] = notices[..] {
                assert_eq!(notice["severity"], "warning");
                assert!(notice["description"].as_str().unwrap().contains("the store is full"), "{notice}");
                assert!(!notice["title"].as_str().unwrap().is_empty());
            }
            assert!(store.mend());
            let mut after = desk.wait(60_000);
            after.extend(desk.wait(200));
            let out = turn(&mut desk, 9);
            assert_eq!(mark(&out)["storedAgain"], true, "{round}");
            after.extend(out);
            let notices = updates(&after, "notice");
            assert_eq!(notices.len(), usize::from(has_asked), "{round}: {notices:?}");
            assert!(notices.iter().all(|notice| notice["severity"] == "info"), "{notices:?}");
            let out = turn(&mut desk, 10);
            assert!(mark(&out).is_null() && titles(&out).is_empty(), "{round}");
        }
        // It is no part of the conversation.
        assert!(titles(&load(&mut desk, "s1", &[])).is_empty());
    }
}

#[test]
fn with_several_sessions_open_one_of_them_tells() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = opened(&store, &world, &notices());
    for agent_id in ["s2", "s3"] {
        desk.new_session(agent_id, CWD);
    }
    store.fail(0, usize::MAX, StorageError::Full);
    let mut told = Out::default();
    for id in ["s1", "s2", "s3"] {
        told.extend(desk.turn(id, "Question", &["Answer"]));
        told.extend(desk.wait(1000));
    }
    assert_eq!(titles(&told).len(), 1, "{:?}", titles(&told));
    assert!(store.mend());
    let mut told = Out::default();
    for _ in 0..70 {
        told.extend(desk.wait(500));
    }
    assert_eq!(titles(&told).len(), 1, "{:?}", titles(&told));
    assert_eq!(updates(&told, "notice")[0]["severity"], "info");
}

#[test]
fn an_error_that_comes_between_keeps_nobody_from_being_told_that_turns_are_stored_again() {
    for is_mended_before in [true, false] {
        let (store, world) = (Faulty::default(), World::unrecorded());
        let mut desk = opened(&store, &world, &json!({}));
        store.fail(0, usize::MAX, StorageError::Full);
        if is_mended_before {
            assert_eq!(mark(&turn(&mut desk, 0))["stored"], false);
            store.mend();
            desk.wait(60_000);
        }
        ask_prompt(&mut desk, "refused", "s1", "Question");
        let out = desk.agent(json!({"id": "refused", "error": {"code": -32603, "message": "Out of order"}}));
        let message = out.answer("refused")["error"]["message"].as_str().unwrap().to_owned();
        assert_eq!(message.contains("the store is full"), !is_mended_before, "{message}");
        store.mend();
        desk.wait(60_000);
        assert_eq!(mark(&turn(&mut desk, 1))["storedAgain"], true, "{message}");
    }
}
