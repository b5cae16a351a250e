//! A store that can be read and not written: what is in it is listed, found and opened behind any agent, and whatever is said
//! then says that it is not stored.

use acp_sessions_guest::storage::StorageError;
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, World};
use crate::scenes::{CWD, Turns, leave, lines, load, mark, oblige, said};

const FIRST: Turns<'static> = &[("First question", "First answer")];
const CUT_OFF: Turns<'static> = &[("Second question", "Second")];

/// What agents can do, besides nothing.
fn agents() -> [Value; 5] {
    [
        json!({}),
        json!({"loadSession": true}),
        json!({"sessionCapabilities": {"resume": {}}}),
        json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "close": {}}}),
        json!({"loadSession": true, "sessionCapabilities": {"fork": {}, "delete": {}}}),
    ]
}

#[test]
fn a_session_is_listed_found_and_loaded_behind_any_agent() {
    for capabilities in agents() {
        for is_cut_off in [false, true] {
            let (store, world) = (Faulty::default(), World::default());
            let mut desk = Desk::ready(&store, &world, &capabilities);
            desk.new_session("s1", CWD);
            desk.turn("s1", FIRST[0].0, &[FIRST[0].1]);
            let mut history = lines(&[FIRST]);
            if is_cut_off {
                // Its turn has no end, and cannot be given one.
                crate::scenes::ask_prompt(&mut desk, "cut", "s1", CUT_OFF[0].0);
                desk.agent(crate::desk::update("s1", crate::desk::chunk("agent_message_chunk", CUT_OFF[0].1)));
                desk.wait(1000);
                history.extend(lines(&[CUT_OFF]));
                drop(desk);
                world.now.set(world.now.get() + 120_000);
            } else {
                leave(desk);
            }
            store.fail(0, usize::MAX, StorageError::ReadOnly);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            assert_eq!(desk.listed(), ["s1"], "{capabilities}");
            let found = desk.ask("session/list", json!({"_meta": {"acp-sessions": {"search": "answer"}}}));
            assert_eq!(found["result"]["sessions"][0]["sessionId"], "s1", "{capabilities}: {found}");
            let out = load(&mut desk, "s1", FIRST);
            assert!(out.answer("load")["error"].is_null(), "{capabilities}, {is_cut_off}: {:?}", out.client);
            assert_eq!(said(&out.client), history, "{capabilities}, {is_cut_off}");
            let prompt = json!({"sessionId": "s1", "prompt": [{"type": "text", "text": "Another question"}]});
            let asked = desk.client(json!({"id": "turn", "method": "session/prompt", "params": prompt}));
            let id = asked.request("session/prompt")["id"].clone();
            let out = desk.agent(json!({"id": id, "result": {"stopReason": "end_turn"}}));
            assert_eq!(mark(&out, "turn")["stored"], false, "{capabilities}: {:?}", out.client);
            let reason = mark(&out, "turn")["reason"].as_str().unwrap();
            assert!(reason.contains("read-only"), "{reason}");
            // Resumed it is as well.
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let out = crate::scenes::ask_resume(&mut desk, "resume", "s1");
            let out = oblige(&mut desk, out, FIRST, "fresh");
            assert!(out.answer("resume")["error"].is_null(), "{capabilities}: {:?}", out.client);
        }
    }
}

#[test]
fn a_session_is_loaded_behind_any_agent_from_whichever_write_on_the_store_takes_nothing() {
    let all = [FIRST, CUT_OFF].concat();
    for capabilities in agents() {
        for error in [StorageError::Full, StorageError::Unavailable("busy".to_owned())] {
            for good in 0..16 {
                for is_told_more in [false, true] {
                    let (store, world) = (Faulty::default(), World::unrecorded());
                    let mut desk = Desk::ready(&store, &world, &capabilities);
                    desk.new_session("s1", CWD);
                    desk.turn("s1", FIRST[0].0, &[FIRST[0].1]);
                    leave(desk);
                    world.now.set(world.now.get() + 60_000);
                    let mut desk = Desk::ready(&store, &world, &capabilities);
                    store.fail(good, usize::MAX, error.clone());
                    let why = format!("{capabilities}, {error}, {good}, {is_told_more}");
                    let out = load(&mut desk, "s1", if is_told_more { &all } else { FIRST });
                    assert!(out.answer("load")["error"].is_null(), "{why}: {:?}", out.client);
                    let (history, shown) = (lines(&[FIRST]), said(&out.client));
                    assert!(shown == history || is_told_more && shown == lines(&[&all]), "{why}: {shown:?}");
                    store.fail(0, usize::MAX, error.clone());
                    let asked = crate::scenes::ask_prompt(&mut desk, "turn", "s1", "Another question");
                    let out = oblige(&mut desk, asked, &[], "fresh");
                    assert_eq!(mark(&out, "turn")["stored"], false, "{why}: {:?}", out.client);
                    // Once there is room, all of it is there.
                    assert!(store.mend());
                    desk.wait(60_000);
                    leave(desk);
                    let mut desk = Desk::ready(&store, &world, &json!({}));
                    let mut later = shown;
                    later.push("> Another question".to_owned());
                    assert_eq!(said(&load(&mut desk, "s1", &[]).client), later, "{why}");
                }
            }
        }
    }
}

#[test]
fn what_would_have_to_be_written_is_refused_with_the_reason() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    desk.turn("s1", FIRST[0].0, &[FIRST[0].1]);
    leave(desk);
    store.fail(0, usize::MAX, StorageError::ReadOnly);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for (method, params) in [
        ("session/delete", json!({"sessionId": "s1"})),
        ("session/archive", json!({"sessionId": "s1"})),
        ("session/set_title", json!({"sessionId": "s1", "title": "Another"})),
    ] {
        let answer = desk.ask(method, params);
        assert!(
            answer["error"]["message"].as_str().is_some_and(|text| text.contains("read-only")),
            "{method}: {answer}"
        );
    }
    assert_eq!(desk.listed(), ["s1"]);
}
