//! An instance is lost; a fresh one carries on with what the host kept.

use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::{Bounds, Memory, Storage as _, StorageError};
use acp_sessions_guest::transcript::{Entry, Kind};
use serde_json::json;

use crate::desk::{Desk, Faulty, World, chunk, envelope, text_of, update};
use crate::scenes::{
    CWD, LONG, TOLD, account, answers, ask_load, ask_prompt, leave, lines, load, oblige, said, says, told,
};

#[test]
fn a_turn_goes_on_after_the_instance_was_lost() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", "/");
    desk.client(json!({"id": 1, "method": "session/prompt", "params": {"sessionId": id, "prompt": [{"type": "text", "text": "Go"}]}}));
    desk.agent(update("s1", chunk("agent_message_chunk", "before ")));
    world.now.set(500);
    desk.engine.idle();
    desk.pull();
    let lost = [
        r#"{"jsonrpc":"2.0","id":2,"method":"session/list"}"#,
        r#"{"jsonrpc":"2.0","method":"session/cancel","params":{"sessionId":"s1"}}"#,
    ];
    let lost = lost.map(|line| Arrival { peer: Peer::Client, content: Content::Line(line.to_owned()) });
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, lost.to_vec());
    let out = desk.pull();
    assert_eq!((out.client[0]["id"].as_i64(), out.client[0]["error"]["code"].as_i64()), (Some(2), Some(-32603)));
    desk.agent(update("s1", chunk("agent_message_chunk", "after")));
    let out = desk.agent(json!({"id": 1, "result": {"stopReason": "end_turn"}}));
    assert_eq!(out.client.last().unwrap()["result"]["stopReason"], "end_turn");
    let out = desk
        .client(json!({"id": 3, "method": "session/load", "params": {"sessionId": id, "cwd": "/", "mcpServers": []}}));
    assert_eq!(text_of(&out.client, "agent_message_chunk"), "before after");
    assert!(desk.memos.keys().all(|key| !key.starts_with("q/")), "{:?}", desk.memos);
}

#[test]
fn a_turn_whose_instance_was_lost_comes_back_whole_though_another_window_had_one_meanwhile() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", &id, "One");
    desk.agent(update("s1", chunk("agent_message_chunk", "one-a ")));
    world.now.set(500);
    desk.wait(0);
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    desk.pull();
    let mut other = Desk::ready(&store, &world, &json!({}));
    load(&mut other, &id, &[]);
    other.turn(&id, "Two", &["two"]);
    desk.agent(update("s1", chunk("agent_message_chunk", "one-b")));
    desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert_eq!(said(&load(&mut desk, &id, &[]).client), ["> One", "one-a one-b", "> Two", "two"]);
}

#[test]
fn a_load_that_was_under_way_is_answered_with_an_error() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", "/");
    drop(desk);
    let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    let out = desk
        .client(json!({"id": 7, "method": "session/load", "params": {"sessionId": id, "cwd": "/", "mcpServers": []}}));
    let asked = out.agent[0]["id"].clone();
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    assert_eq!(desk.pull().client[0]["error"]["code"], -32603);
    assert!(desk.agent(json!({"id": asked, "result": {}})).client.is_empty());
}

#[test]
fn a_session_goes_on_though_the_store_could_not_be_read_when_its_instance_was_lost() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", CWD);
    let mode = json!({"sessionId": id, "modeId": "code"});
    let asked = desk.client(json!({"id": "mode", "method": "session/set_mode", "params": mode}));
    desk.reply(&asked.request("session/set_mode"), json!({}));
    ask_prompt(&mut desk, "turn", &id, "Go");
    store.is_unreadable.set(true);
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    desk.pull();
    store.is_unreadable.set(false);
    let out = desk.agent(update("s1", chunk("agent_message_chunk", "Still here")));
    assert_eq!(said(&out.client), ["Still here"]);
    let model = json!({"sessionId": id, "modelId": "large"});
    let asked = desk.client(json!({"id": "model", "method": "session/set_model", "params": model}));
    desk.reply(&asked.request("session/set_model"), json!({}));
    let out = desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
    assert_eq!(out.answer("turn")["result"]["_meta"], json!(null), "the turn is recorded");
    desk.ask("session/close", json!({"sessionId": id}));
    assert_eq!(desk.memos.keys().collect::<Vec<_>>(), ["agent", "client"]);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = load(&mut desk, &id, &[]);
    assert_eq!(said(&out.client), ["> Go", "Still here"]);
    assert_eq!(out.request("session/set_mode")["params"]["modeId"], "code", "set before the loss");
    assert_eq!(out.request("session/set_model")["params"]["modelId"], "large", "set after it");
}

#[test]
fn nothing_is_kept_of_a_session_that_was_deleted_when_its_instance_was_lost() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", CWD);
    let mut other = Desk::ready(&store, &world, &json!({}));
    assert_eq!(other.ask("session/delete", json!({"sessionId": id}))["result"], json!({}));
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    desk.pull();
    assert_eq!(desk.memos.keys().collect::<Vec<_>>(), ["agent", "client"]);
}

#[test]
fn what_another_window_said_before_the_instance_was_lost_the_agent_is_told() {
    let (store, world) = (Memory::new(), World::default());
    let mut other = Desk::ready(&store, &world, &json!({}));
    let id = other.new_session("o1", CWD);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = ask_load(&mut desk, "load", &id);
    oblige(&mut desk, out, &[], "s1").answer("load");
    other.turn(&id, "Elsewhere", &["Other answer"]);
    // What is written now stands behind that.
    desk.agent(says("By the way"));
    desk.wait(LONG);
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    desk.pull();
    let account = account(&ask_prompt(&mut desk, "turn", &id, "Go on")).unwrap_or_default();
    assert!(account.contains("Other answer") && !account.contains("By the way"), "{account}");
}

#[test]
fn the_turn_of_a_prompt_that_was_lost_with_its_instance_ends_in_the_log() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", CWD);
    desk.turn(&id, "One", &["one"]);
    let memos = desk.memos.clone();
    ask_prompt(&mut desk, "lost", &id, "Lost");
    let params = json!({"sessionId": id, "prompt": [{"type": "text", "text": "Lost"}]});
    let line = json!({"jsonrpc": "2.0", "id": "lost", "method": "session/prompt", "params": params}).to_string();
    let lost = Arrival { peer: Peer::Client, content: Content::Line(line) };
    let mut desk = Desk::carry_on(&store, &world, &[], memos, vec![lost]);
    assert_eq!(desk.pull().answer("lost")["error"]["code"], -32603);
    desk.wait(LONG);
    let tags = |kind: Kind| {
        let log = store.read_log(&id, 1, Bounds { limit: 100, max_bytes: u32::MAX }).unwrap().entries;
        let entries = log.iter().map(|entry| Entry::parse(&entry.value).unwrap());
        entries.filter(|entry| entry.kind == kind).map(|entry| entry.turn.unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(tags(Kind::Prompt).len(), 2);
    assert_eq!(tags(Kind::Prompt), tags(Kind::TurnEnd), "each turn has ended, once");
    ask_prompt(&mut desk, "turn", &id, "Two");
    desk.agent(says("two"));
    desk.agent(answers("turn"));
    assert_eq!(said(&ask_load(&mut desk, "load", &id).client), ["> One", "one", "> LostTwo", "two"]);
    assert_eq!(tags(Kind::Prompt), tags(Kind::TurnEnd));
}

#[test]
fn prompts_that_the_store_has_not_taken_come_back_in_the_order_in_which_they_were_given() {
    for requests in [["b", "a"], ["9", "10"]] {
        let (store, world) = (Faulty::default(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let id = desk.new_session("s1", CWD);
        store.fail(0, 2, StorageError::Full);
        let asked = requests.map(|request| ask_prompt(&mut desk, request, &id, &format!("{request}. ")));
        store.mend();
        let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
        desk.pull();
        for asked in &asked {
            desk.reply(&asked.request("session/prompt"), json!({"stopReason": "end_turn"}));
        }
        leave(desk);
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let whole = format!("> {}", requests.map(|request| format!("{request}. ")).concat());
        assert_eq!(said(&load(&mut desk, &id, &[]).client), [whole]);
    }
}

#[test]
fn what_is_written_first_in_a_session_that_could_not_be_marked_as_open_is_there_once() {
    let (store, world) = (Faulty::default(), World::default());
    told(&store, &world, &json!({}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    store.fail(0, 100, StorageError::ReadOnly);
    load(&mut desk, "s1", &[]).answer("load");
    assert!(store.mend());
    world.now.set(world.now.get() + 3_000_000);
    let memos = desk.memos.clone();
    let line = envelope(update("fresh", chunk("agent_message_chunk", "By the way")));
    desk.line(Peer::Agent, &line);
    desk.wait(LONG);
    let lost = vec![Arrival { peer: Peer::Agent, content: Content::Line(line) }];
    let mut desk = Desk::carry_on(&store, &world, &[], memos, lost);
    desk.pull();
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let mut whole = lines(&[TOLD]);
    whole.last_mut().unwrap().push_str("By the way");
    assert_eq!(said(&load(&mut desk, "s1", &[]).client), whole);
}
