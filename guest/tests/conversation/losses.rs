//! An instance is lost amid something: what was asked is answered once, and nothing is believed that did not happen.

use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, account, ask_load, ask_prompt, converse, leave, lines, load, mark, oblige, replay, said, told,
};

fn arrival(peer: Peer, content: Content) -> Arrival {
    Arrival { peer, content }
}

/// A fresh instance with what the host kept, and what it says at once.
fn fresh<'a>(store: &'a Memory, world: &'a World, old: Desk<'_>, lost: Vec<Arrival>) -> (Desk<'a>, Out) {
    let mut desk = Desk::carry_on(store, world, &[], old.memos, lost);
    let out = desk.pull();
    (desk, out)
}

fn kinds() -> [(Value, &'static str); 3] {
    [
        (json!({}), "session/new"),
        (json!({"loadSession": true}), "session/load"),
        (json!({"sessionCapabilities": {"resume": {}, "close": {}}}), "session/resume"),
    ]
}

#[test]
fn a_session_whose_opening_was_lost_is_not_taken_for_an_open_one() {
    for (capabilities, method) in kinds() {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &capabilities);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let asked = ask_load(&mut desk, "load", &id).request(method);
        ask_prompt(&mut desk, "behind", &id, "Third");
        let (mut desk, out) = fresh(&store, &world, desk, Vec::new());
        assert_eq!(out.answer("load")["error"]["code"], -32603);
        assert_eq!(out.answer("behind")["error"]["code"], -32603);
        let out = ask_prompt(&mut desk, "prompt", &id, "Third");
        assert!(out.asked("session/prompt").is_none(), "the agent has not opened it");
        assert_eq!(out.answer("prompt")["error"]["code"], -32002);
        let mut out = ask_load(&mut desk, "again", &id);
        assert!(out.is_open("again"), "{method}: {:?}", out.client);
        out.extend(desk.agent(json!({"id": asked["id"], "result": {"sessionId": "late"}})));
        assert!(out.is_open("again"), "{method}: the late answer is to another request");
        let out = oblige(&mut desk, out, TOLD, "s2");
        assert_ne!(mark(&out, "again")["attached"], "live");
        assert_eq!(said(&out.client), lines(&[TOLD]));
        let out = ask_prompt(&mut desk, "prompt", &id, "Third");
        assert_eq!(
            out.request("session/prompt")["params"]["sessionId"],
            if method == "session/new" { "s2" } else { "s1" }
        );
    }
}

#[test]
fn an_adoption_that_was_lost_can_be_done_again() {
    for is_answered in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let capabilities = json!({"loadSession": true});
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let asked = ask_load(&mut desk, "load", "o1").request("session/load");
        replay(&mut desk, "o1", &TOLD[..1]);
        desk.wait(300);
        let (mut desk, out) = fresh(&store, &world, desk, Vec::new());
        assert_eq!(out.answer("load")["error"]["code"], -32603);
        let out = load(&mut desk, "o1", TOLD);
        assert!(out.is_open("load") && said(&out.client).is_empty(), "what was lost may be told in it, too");
        let out = if is_answered { desk.reply(&asked, json!({})) } else { desk.wait(5_000) };
        let out = oblige(&mut desk, out, TOLD, "fresh");
        assert!(out.answer("load")["error"].is_null());
        assert_eq!(said(&out.client), lines(&[TOLD]), "on this connection: {is_answered}");
        leave(desk);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        assert_eq!(said(&load(&mut desk, "o1", TOLD).client), lines(&[TOLD]), "on the next: {is_answered}");
    }
}

#[test]
fn a_fork_that_was_lost_is_an_error_and_no_session() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let params = json!({"sessionId": id, "cwd": CWD});
    let out = desk.client(json!({"id": "fork", "method": "session/fork", "params": params}));
    let asked = out.request("session/new");
    let (mut desk, out) = fresh(&store, &world, desk, Vec::new());
    assert_eq!(out.answer("fork")["error"]["code"], -32603);
    assert!(desk.reply(&asked, json!({"sessionId": "f1"})).client.is_empty());
    assert_eq!(desk.listed(), [id]);
    assert!(desk.memos.keys().all(|key| !key.starts_with("q/")), "{:?}", desk.memos);
}

#[test]
fn a_close_or_delete_that_was_lost_is_answered_and_can_be_done_again() {
    for method in ["session/close", "session/delete", "session/archive"] {
        let (store, world) = (Memory::new(), World::default());
        let capabilities = json!({"sessionCapabilities": {"resume": {}, "close": {}}});
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let id = desk.new_session("s1", CWD);
        converse(&mut desk, &id, TOLD);
        let params = json!({"sessionId": id});
        let out = desk.client(json!({"id": "first", "method": method, "params": params}));
        let asked = out.request("session/close");
        let (mut desk, mut out) = fresh(&store, &world, desk, Vec::new());
        out.extend(desk.reply(&asked, json!({})));
        assert_eq!(out.answer("first")["error"]["code"], -32603, "{method}");
        let out = load(&mut desk, &id, TOLD);
        assert!(out.answer("load")["error"].is_null(), "{method}: {}", out.answer("load"));
        assert_eq!(said(&out.client), lines(&[TOLD]));
        let out = desk.client(json!({"id": "second", "method": method, "params": params}));
        let out = oblige(&mut desk, out, &[], "never");
        assert_eq!(out.answer("second")["result"], json!({}), "{method}");
    }
}

#[test]
fn an_initialize_whose_answer_was_lost_can_be_sent_again() {
    let (store, world) = (Memory::new(), World::default());
    let result = json!({"protocolVersion": 1, "agentInfo": {"name": "a", "version": "1"}, "agentCapabilities": {}});
    let mut desk = Desk::open(&store, &world, &[]);
    desk.client(json!({"id": "init", "method": "initialize", "params": {"protocolVersion": 1}}));
    desk.client(json!({"id": "behind", "method": "session/list", "params": {}}));
    let answer = json!({"jsonrpc": "2.0", "id": "init", "result": result});
    let lost = arrival(Peer::Agent, Content::Line(answer.to_string()));
    let (mut desk, out) = fresh(&store, &world, desk, vec![lost]);
    assert_eq!(out.answer("init")["error"]["code"], -32603);
    assert!(out.answer("behind")["error"].is_object());
    let out = desk.client(json!({"id": "again", "method": "initialize", "params": {"protocolVersion": 1}}));
    let asked = out.request("initialize");
    let out = desk.reply(&asked, result);
    assert_eq!(out.answer("again")["result"]["agentCapabilities"]["loadSession"], true);
    assert!(desk.listed().is_empty());
}

#[test]
fn an_initialize_that_was_under_way_is_answered_once() {
    let (store, world) = (Memory::new(), World::default());
    let result = json!({"protocolVersion": 1, "agentCapabilities": {}});
    let mut desk = Desk::open(&store, &world, &[]);
    let out = desk.client(json!({"id": "init", "method": "initialize", "params": {"protocolVersion": 1}}));
    let asked = out.request("initialize");
    let (mut desk, mut out) = fresh(&store, &world, desk, Vec::new());
    out.extend(desk.reply(&asked, result.clone()));
    if out.answer("init")["error"].is_object() {
        let out = desk.client(json!({"id": "again", "method": "initialize", "params": {"protocolVersion": 1}}));
        let asked = out.request("initialize");
        let out = desk.reply(&asked, result);
        assert_eq!(out.answer("again")["result"]["protocolVersion"], 1);
    }
    assert!(desk.listed().is_empty());
}

#[test]
fn a_list_that_waited_for_the_agents_is_answered() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    desk.greet(Some("a"), &json!({"sessionCapabilities": {"list": {}}})).request("session/list");
    let mut out = desk.client(json!({"id": "list", "method": "session/list", "params": {}}));
    let (mut desk, later) = fresh(&store, &world, desk, Vec::new());
    out.extend(later);
    out.extend(desk.wait(1100));
    out.answer("list");
}

#[test]
fn lines_that_could_not_be_read_are_answered_though_the_instance_was_lost() {
    let too_long = |head: &str| Content::TooLong(head.to_owned());
    for (content, id) in [
        (too_long(r#"{"jsonrpc":"2.0","id":9,"method":"session/prompt","params":{"prompt":["#), json!(9)),
        (too_long(r#"{"jsonrpc":"2.0","method":"session/prompt","params":{"prompt":["#), Value::Null),
        (Content::NotText("\u{fffd}{}".to_owned()), Value::Null),
        (Content::Line("{".to_owned()), Value::Null),
        (Content::Line("[]".to_owned()), Value::Null),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let desk = Desk::ready(&store, &world, &json!({}));
        let what = format!("{content:?}");
        let (mut desk, out) = fresh(&store, &world, desk, vec![arrival(Peer::Client, content)]);
        assert_eq!(out.client.len(), 1, "{what}: {:?}", out.client);
        assert_eq!(out.client[0]["id"], id, "{what}");
        assert!(out.client[0]["error"].is_object(), "{what}");
        assert!(desk.listed().is_empty());
    }
}

#[test]
fn an_answer_that_was_too_long_and_lost_is_an_error() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "prompt", &id, "Go");
    let head = r#"{"jsonrpc":"2.0","id":"prompt","result":{"stopReason":"end_turn","_meta":{"#.to_owned();
    let (mut desk, out) = fresh(&store, &world, desk, vec![arrival(Peer::Agent, Content::TooLong(head))]);
    assert_eq!(out.answer("prompt")["error"]["code"], -32603);
    assert!(desk.turn(&id, "Again", &["Yes"]).answer("turn")["error"].is_null());
}

#[test]
fn late_updates_of_a_deleted_session_stay_dropped() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", CWD);
    desk.turn(&id, "Hi", &["Ho"]);
    assert_eq!(desk.ask("session/delete", json!({"sessionId": id}))["result"], json!({}));
    let (mut desk, _) = fresh(&store, &world, desk, Vec::new());
    let out = desk.agent(update("s1", chunk("agent_message_chunk", "late")));
    assert!(out.client.is_empty(), "{:?}", out.client);
    assert!(desk.listed().is_empty());
}

#[test]
fn memos_are_only_kept_for_what_is_open() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let before = desk.memos.len();
    load(&mut desk, &id, TOLD).answer("load");
    desk.turn(&id, "Third", &["Yes"]);
    assert!(desk.memos.len() > before);
    desk.ask("session/close", json!({"sessionId": id}));
    let most = desk.memos.len();
    for _ in 0..20 {
        load(&mut desk, &id, TOLD).answer("load");
        desk.ask("session/close", json!({"sessionId": id}));
        desk.ask("session/list", json!({}));
    }
    // The ids of sessions that are gone may be kept, each once; every load here made one.
    assert!(desk.memos.keys().all(|key| !key.starts_with("q/") && !key.starts_with("s/")), "{:?}", desk.memos);
    assert!(desk.memos.len() <= most + 1, "{:?}", desk.memos);
}

#[test]
fn a_request_under_an_id_in_use_is_answered_besides_the_one_that_uses_it() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let params = json!({"cwd": CWD, "mcpServers": []});
    desk.client(json!({"id": "same", "method": "session/new", "params": params})).request("session/new");
    let again = json!({"jsonrpc": "2.0", "id": "same", "method": "session/list", "params": {}});
    let answer = json!({"jsonrpc": "2.0", "id": "same", "result": {"sessionId": "s1"}});
    let lost = [(Peer::Client, again), (Peer::Agent, answer)];
    let lost = lost.map(|(peer, line)| arrival(peer, Content::Line(line.to_string())));
    let (_, out) = fresh(&store, &world, desk, lost.into());
    let codes: Vec<_> = out.answers(&json!("same")).iter().map(|answer| &answer["error"]["code"]).collect();
    assert_eq!(codes, [-32600, -32603], "the second is refused, the first was lost");
}

#[test]
fn an_account_that_is_echoed_to_a_fresh_instance_is_not_shown_and_not_given_again() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = ask_load(&mut desk, "load", &id);
    oblige(&mut desk, out, &[], "s2").answer("load");
    let out = ask_prompt(&mut desk, "prompt", &id, "Third");
    let text = account(&out).unwrap();
    let (mut desk, _) = fresh(&store, &world, desk, Vec::new());
    let mut told = desk.agent(update("s2", chunk("user_message_chunk", &text)));
    told.extend(desk.agent(update("s2", chunk("agent_message_chunk", "Answer"))));
    assert_eq!(said(&told.client), ["Answer"]);
    desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"})).answer("prompt");
    assert_eq!(account(&ask_prompt(&mut desk, "prompt", &id, "Fourth")), None);
}
