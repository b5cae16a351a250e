//! An instance is lost with words that it had not written yet: the turn's answer and the log say that something is missing.

use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::{Bounds, Memory, Storage};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, World, envelope};
use crate::scenes::{CWD, LONG, answers, ask_prompt, asked, asked_while_full, load, said, says};

/// A fresh instance in the place of one that is lost between two calls.
fn lost<'a, S: Storage>(store: &'a S, world: &'a World, desk: Desk<'_, S>) -> Desk<'a, S> {
    let mut desk = Desk::carry_on(store, world, &[], desk.memos, Vec::new());
    desk.pull();
    desk
}

/// The kinds of the log's entries, a letter each: `p`rompts, `u`pdates, ends of turns and `g`aps.
fn kinds<S: Storage>(store: &S) -> String {
    let bounds = Bounds { limit: 100, max_bytes: u32::MAX };
    let entries = store.read_log("s1", 1, bounds).expect("the log can be read").entries;
    entries.iter().map(|entry| &entry.value[..1]).collect()
}

fn stored(answer: &Value) -> &Value {
    &answer["result"]["_meta"]["acp-sessions"]
}

#[test]
fn a_turn_part_of_which_was_lost_says_so_and_so_does_the_log() {
    for (is_written, expected) in [(true, "pue"), (false, "pgue")] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = asked(&store, &world);
        desk.agent(says("before "));
        if is_written {
            desk.wait(LONG);
        }
        let mut desk = lost(&store, &world, desk);
        desk.agent(says("after"));
        let out = desk.agent(answers("turn"));
        let answer = out.answer("turn");
        assert_eq!(stored(answer)["stored"], if is_written { Value::Null } else { json!(false) });
        assert_eq!(stored(answer)["reason"].is_string(), !is_written);
        assert_eq!(kinds(&store).replace("uu", "u"), expected);
        ask_prompt(&mut desk, "next", "s1", "On");
        let next = desk.agent(answers("next"));
        assert_eq!(stored(next.answer("next"))["storedAgain"], if is_written { Value::Null } else { json!(true) });
        let shown = if is_written { "before after" } else { "after" };
        let mut desk = Desk::ready(&store, &world, &json!({}));
        assert_eq!(said(&load(&mut desk, "s1", &[]).client), ["> Go", shown, "> On"]);
    }
}

#[test]
fn a_second_loss_says_it_no_less_and_the_log_no_more_often() {
    for is_written_between in [false, true] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = asked(&store, &world);
        desk.agent(says("gone"));
        let mut desk = lost(&store, &world, desk);
        if is_written_between {
            desk.wait(LONG);
        }
        let mut desk = lost(&store, &world, desk);
        let out = desk.agent(answers("turn"));
        assert_eq!(stored(out.answer("turn"))["stored"], false, "written between: {is_written_between}");
        assert_eq!(kinds(&store), "pge", "written between: {is_written_between}");
    }
}

#[test]
fn a_prompt_alone_that_the_store_did_not_take_is_kept_and_nothing_is_missing() {
    let (store, world) = (Faulty::default(), World::default());
    let desk = asked_while_full(&store, &world, 2);
    store.mend();
    let mut desk = lost(&store, &world, desk);
    let out = desk.agent(answers("turn"));
    assert_eq!((stored(out.answer("turn")), kinds(&store)), (&Value::Null, "pe".to_owned()));
}

#[test]
fn what_is_missing_between_turns_is_a_matter_of_the_log_alone() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = asked(&store, &world);
    desk.agent(answers("turn"));
    desk.agent(says("by the way"));
    let mut desk = lost(&store, &world, desk);
    ask_prompt(&mut desk, "next", "s1", "On");
    let out = desk.agent(answers("next"));
    assert_eq!((stored(out.answer("next")), kinds(&store)), (&Value::Null, "pegpe".to_owned()));
}

#[test]
fn a_turn_that_a_close_ends_is_answered_the_same() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = asked(&store, &world);
    desk.agent(says("gone"));
    let mut desk = lost(&store, &world, desk);
    desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": "s1"}}));
    let out = desk.agent(json!({"id": "turn", "result": {"stopReason": "cancelled"}}));
    assert_eq!(stored(out.answer("turn"))["stored"], false);
}

#[test]
fn an_update_that_cannot_be_taken_is_missing_in_its_session_alone() {
    for content in [Content::TooLong, Content::NotBearable] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = asked(&store, &world);
        desk.new_session("s2", CWD);
        ask_prompt(&mut desk, "other", "s2", "Go");
        let update = envelope(says(&"x".repeat(100)));
        desk.engine.receive(vec![Arrival { peer: Peer::Agent, content: content(update[..120].to_owned()) }]);
        desk.pull();
        desk.agent(says("after"));
        let out = desk.agent(answers("turn"));
        assert_eq!((&stored(out.answer("turn"))["stored"], kinds(&store)), (&json!(false), "pgue".to_owned()));
        let out = desk.agent(answers("other"));
        assert_eq!(stored(out.answer("other")), &Value::Null);
    }
}

#[test]
fn an_update_that_names_its_session_at_its_end_is_missing_in_it_all_the_same() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = asked(&store, &world);
    let beginning =
        r#"{"jsonrpc":"2.0","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":"xx"#;
    let end = r#"xx","type":"text"}},"sessionId":"s1"},"method":"session/update"}"#;
    let content = Content::TooLong(format!("{beginning}\n{end}"));
    desk.engine.receive(vec![Arrival { peer: Peer::Agent, content }]);
    desk.pull();
    let out = desk.agent(answers("turn"));
    assert_eq!((&stored(out.answer("turn"))["stored"], kinds(&store)), (&json!(false), "pge".to_owned()));
}

#[test]
fn a_request_at_which_instances_are_lost_fails_and_so_does_one_whose_answer_they_are_lost_at() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = asked(&store, &world);
    let head = |peer, text: &str| Arrival { peer, content: Content::NotBearable(text.to_owned()) };
    desk.engine.receive(vec![
        head(Peer::Client, r#"{"jsonrpc":"2.0","id":"asked","method":"session/prompt","params":{"#),
        head(Peer::Agent, r#"{"jsonrpc":"2.0","id":"turn","result":{"#),
    ]);
    let out = desk.pull();
    for id in ["asked", "turn"] {
        assert_eq!(out.answer(id)["error"]["code"], -32603, "{id}");
    }
}

#[test]
fn what_an_agent_tells_of_a_session_before_it_names_it_is_kept_as_far_as_there_is_room_and_the_log_says_so() {
    for (told, expected) in [(2, "uu"), (12, "uuuuuuug")] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
        for nth in 0..told {
            desk.agent(says(&format!("{nth}{}", "x".repeat(1100 * 1024))));
        }
        desk.agent(json!({"id": "new", "result": {"sessionId": "s1"}})).answer("new");
        desk.wait(LONG);
        assert_eq!(kinds(&store), expected);
    }
}
