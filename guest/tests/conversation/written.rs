//! An instance is lost around a write to the log: what was said stands there once, whether the lost one had written it or
//! not.

use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::{Storage, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World, chunk, envelope, update};
use crate::scenes::{LONG, answers, asked, asked_while_full, load, said, says};

fn arrival(message: Value) -> Arrival {
    Arrival { peer: Peer::Agent, content: Content::Line(envelope(message)) }
}

/// The agent says this, and the instance is lost before anything of what follows is pulled: a fresh one, and what it says
/// at once.
fn lost<'a, S: Storage>(
    store: &'a S,
    world: &'a World,
    mut desk: Desk<'_, S>,
    said: impl IntoIterator<Item = Value>,
) -> (Desk<'a, S>, Out) {
    let arrivals: Vec<Arrival> = said.into_iter().map(arrival).collect();
    desk.engine.receive(arrivals.clone());
    let mut desk = Desk::carry_on(store, world, &[], desk.memos, arrivals);
    let out = desk.pull();
    (desk, out)
}

fn replayed<S: Storage>(store: &S, world: &World) -> Vec<String> {
    let mut desk = Desk::ready(store, world, &json!({}));
    said(&load(&mut desk, "s1", &[]).client)
}

fn pass(world: &World, milliseconds: i64) {
    world.now.set(world.now.get() + milliseconds);
}

#[test]
fn a_message_stands_in_the_log_once_whether_or_not_the_lost_instance_had_written_it() {
    for (passed, is_written) in [(0, false), (LONG, true)] {
        let (store, world) = (Faulty::default(), World::default());
        let mut desk = asked(&store, &world);
        desk.agent(says("before "));
        desk.wait(LONG);
        pass(&world, passed);
        let (mut desk, out) = lost(&store, &world, desk, [says("amid ")]);
        assert_eq!(said(&out.client), ["amid "], "the client was not shown it before");
        desk.agent(says("after"));
        desk.agent(answers("turn")).answer("turn");
        assert_eq!(replayed(&store, &world), ["> Go", "before amid after"], "written: {is_written}");
    }
}

#[test]
fn of_what_arrived_together_just_that_is_written_again_which_came_behind_the_last_write() {
    let (store, world) = (Faulty::default(), World::default());
    let desk = asked(&store, &world);
    // The end of the turn is written at once; what comes behind it waits.
    let (mut desk, out) = lost(&store, &world, desk, [says("amid "), answers("turn"), says("late")]);
    assert_eq!(said(&out.client), ["amid late"]);
    desk.wait(LONG);
    assert_eq!(replayed(&store, &world), ["> Go", "amid late"]);
}

#[test]
fn two_losses_in_a_row_double_nothing_either() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = asked(&store, &world);
    for text in ["one ", "two ", "three "] {
        pass(&world, LONG);
        (desk, _) = lost(&store, &world, desk, [says(text)]);
    }
    desk.agent(answers("turn")).answer("turn");
    assert_eq!(replayed(&store, &world), ["> Go", "one two three "]);
}

#[test]
fn a_prompt_that_the_store_did_not_take_is_not_lost_with_the_instance() {
    for is_taken_later in [false, true] {
        let (store, world) = (Faulty::default(), World::default());
        let mut desk = asked_while_full(&store, &world, 2);
        store.mend();
        if is_taken_later {
            desk.wait(LONG);
        }
        let (mut desk, _) = lost(&store, &world, desk, []);
        desk.agent(says("Gone"));
        desk.agent(answers("turn")).answer("turn");
        let rows = desk.ask("session/list", json!({}))["result"]["sessions"].clone();
        assert_eq!(rows[0]["title"], "Go", "taken later: {is_taken_later}");
        assert_eq!(replayed(&store, &world), ["> Go", "Gone"], "taken later: {is_taken_later}");
    }
}

#[test]
fn a_prompt_that_was_written_with_its_answer_is_not_written_again() {
    let (store, world) = (Faulty::default(), World::default());
    let desk = asked_while_full(&store, &world, usize::MAX);
    // The fresh instance cannot mark the session as open, and the next knows of no mark.
    let (desk, _) = lost(&store, &world, desk, []);
    store.mend();
    let (desk, out) = lost(&store, &world, desk, [answers("turn")]);
    out.answer("turn");
    drop(desk);
    assert_eq!(replayed(&store, &world), ["> Go"]);
}

#[test]
fn an_echo_of_the_prompt_is_told_from_something_new_by_a_fresh_instance_too() {
    let (store, world) = (Faulty::default(), World::default());
    let desk = asked(&store, &world);
    let (mut desk, out) = lost(&store, &world, desk, [update("s1", chunk("user_message_chunk", "Go"))]);
    assert_eq!(said(&out.client), ["> Go"]);
    desk.agent(says("Gone"));
    desk.agent(answers("turn"));
    assert_eq!(replayed(&store, &world), ["> Go", "Gone"]);
}

#[test]
fn a_tool_call_that_is_cancelled_after_its_instance_was_lost_does_not_run_for_ever() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = asked(&store, &world);
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "t", "status": "in_progress"});
    desk.agent(update("s1", call));
    desk.wait(LONG);
    let (mut desk, _) = lost(&store, &world, desk, []);
    desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
    desk.agent(json!({"id": "turn", "result": {"stopReason": "cancelled"}})).answer("turn");
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = load(&mut desk, "s1", &[]);
    let mut updates = out.client.iter().map(|message| &message["params"]["update"]);
    let last = updates.rfind(|update| update["toolCallId"] == "c").unwrap();
    assert_eq!(last["status"], "failed");
}

/// Longer than what goes into one commit, by two or three of them.
fn long_words(words: std::ops::Range<u32>) -> impl Iterator<Item = Value> {
    words.map(|word| says(&format!("{word} ").repeat(200_000)))
}

/// The words that were said at all, each time that another one follows, and how many there are.
fn words(said: &[String]) -> (Vec<&str>, usize) {
    let all = said.iter().skip(1).flat_map(|text| text.split_whitespace());
    let count = all.clone().count();
    let mut words: Vec<&str> = all.collect();
    words.dedup();
    (words, count)
}

#[test]
fn what_is_written_piece_by_piece_stands_in_the_log_once_wherever_the_instance_was_lost_between() {
    for commits in 0..8 {
        let (store, world) = (Faulty::default(), World::default());
        let mut desk = asked(&store, &world);
        store.fail(commits, usize::MAX, StorageError::Full);
        let arrivals: Vec<Arrival> = long_words(0..6).map(arrival).collect();
        desk.engine.receive(arrivals.clone());
        store.mend();
        let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, arrivals);
        desk.pull();
        let answer = desk.agent(answers("turn"));
        assert_eq!(answer.answer("turn")["result"]["_meta"], Value::Null, "lost after {commits} commits");
        let replayed = replayed(&store, &world);
        let expected = (vec!["0", "1", "2", "3", "4", "5"], 6 * 200_000);
        assert_eq!(words(&replayed), expected, "lost after {commits} commits");
    }
}

#[test]
fn an_earlier_backlog_that_was_written_in_part_is_told_to_lack_the_rest_and_nothing_is_doubled() {
    let mut lacking = 0;
    for commits in 0..10 {
        let (store, world) = (Faulty::default(), World::default());
        let mut desk = asked(&store, &world);
        store.fail(0, usize::MAX, StorageError::Full);
        for said in long_words(0..6) {
            desk.agent(said);
        }
        store.fail(commits, usize::MAX, StorageError::Full);
        pass(&world, 60_000);
        let arrivals: Vec<Arrival> = long_words(6..9).map(arrival).collect();
        desk.engine.receive(arrivals.clone());
        store.mend();
        let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, arrivals);
        desk.pull();
        let answer = desk.agent(answers("turn"));
        let is_stored = answer.answer("turn")["result"]["_meta"]["acp-sessions"]["stored"] != json!(false);
        let replayed = replayed(&store, &world);
        let (found, count) = words(&replayed);
        assert_eq!(count, found.len() * 200_000, "lost after {commits} commits: {found:?}");
        assert!(found.is_sorted() && found.ends_with(&["6", "7", "8"]), "lost after {commits} commits: {found:?}");
        assert_eq!(is_stored, found.len() == 9, "lost after {commits} commits: {found:?}");
        lacking += u32::from(!is_stored);
    }
    assert!((1..10).contains(&lacking), "{lacking}");
}
