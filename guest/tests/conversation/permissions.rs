//! What permission was asked for, and who answered what.

use acp_sessions_corpus::Call;
use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::{Bounds, Memory, Storage, Write};
use acp_sessions_guest::store::Store;
use acp_sessions_guest::transcript::{Entry, Kind};
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, envelope, update};
use crate::follower::state;
use crate::scenes::{
    CWD, LONG, answers, ask_fork, ask_load, ask_prompt, leave, listing, load, mark, oblige, row, said, says,
};

/// A connection of a client that calls itself so.
fn called<'a>(store: &'a Memory, world: &'a World, client: Option<&str>) -> Desk<'a> {
    let mut desk = Desk::open(store, world, &[]);
    let mut params = json!({"protocolVersion": 1});
    if let Some(name) = client {
        params["clientInfo"] = json!({"name": name, "version": "1"});
    }
    desk.client(json!({"id": 0, "method": "initialize", "params": params}));
    let info = json!({"name": "a", "version": "1"});
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"fork": {}}});
    desk.agent(
        json!({"id": 0, "result": {"protocolVersion": 1, "agentInfo": info, "agentCapabilities": capabilities}}),
    );
    desk
}

/// The agent asks for a tool call.
fn asks(desk: &mut Desk<'_>, request: &str, call: &str) -> Out {
    asks_in(desk, "s1", request, call)
}

fn asks_in(desk: &mut Desk<'_>, session: &str, request: &str, call: &str) -> Out {
    let options = json!([
        {"optionId": "y", "name": "Yes", "kind": "allow_once"},
        {"optionId": "a", "name": "Always", "kind": "allow_always"},
        {"optionId": "n", "name": "No", "kind": "reject_once"},
    ]);
    let call = json!({"toolCallId": call, "title": format!("Write {call}")});
    let params = json!({"sessionId": session, "toolCall": call, "options": options});
    desk.agent(json!({"id": request, "method": "session/request_permission", "params": params}))
}

fn chooses(request: &str, option: &str) -> Value {
    json!({"id": request, "result": {"outcome": {"outcome": "selected", "optionId": option}}})
}

fn page<S: Storage>(store: &S, world: &World, session: &str, after: Option<String>, limit: u32) -> Value {
    let call = Call::ReadPermissions { session_id: session.to_owned(), after, limit };
    world.recorder.typed(store, world.time(), call)
}

/// All that was asked, as the tool call, the client and the outcome, read so many at a time.
fn kept<S: Storage>(store: &S, world: &World, session: &str, limit: u32) -> Vec<String> {
    let (mut kept, mut after) = (Vec::new(), None);
    loop {
        let page = page(store, world, session, after, limit);
        let asked = page["ok"]["permissions"].as_array().unwrap();
        assert!(asked.len() <= limit as usize);
        kept.extend(asked.iter().map(|asked| {
            let answer = &asked["answer"];
            let outcome = match &answer["outcome"] {
                Value::Object(outcome) => match outcome.get("selected") {
                    Some(option) => option["kind"].as_str().unwrap().to_owned(),
                    None => format!("failed: {}", outcome["failed"].as_str().unwrap()),
                },
                Value::String(cancelled) => cancelled.clone(),
                _ => "-".to_owned(),
            };
            let client = answer["client"].as_str().unwrap_or("-");
            format!("{} {client} {outcome}", asked["tool-call-id"].as_str().unwrap_or("-"))
        }));
        after = page["ok"]["next-cursor"].as_str().map(str::to_owned);
        if after.is_none() {
            return kept;
        }
    }
}

#[test]
fn agents_of_two_windows_may_ask_by_the_same_ids() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = called(&store, &world, Some("one"));
    first.new_session("s1", CWD);
    first.turn("s1", "Hi", &["Ho"]);
    let mut second = called(&store, &world, Some("two"));
    let out = ask_load(&mut second, "load", "s1");
    oblige(&mut second, out, &[("Hi", "Ho")], "never").answer("load");
    for (desk, call) in [(&mut second, "theirs"), (&mut first, "ours")] {
        ask_prompt(desk, "turn", "s1", "Go");
        asks(desk, "0", call);
        desk.agent(answers("turn"));
        desk.wait(500);
    }
    // Each is answered where it was asked, after its turn.
    second.client(chooses("0", "n"));
    second.wait(500);
    first.client(chooses("0", "y"));
    first.wait(500);
    assert_eq!(kept(&store, &world, "s1", 10), ["theirs two reject_once", "ours one allow_once"]);
}

#[test]
fn what_is_answered_in_a_turn_that_another_window_took_for_cut_off_is_kept() {
    for limit in [1, 2, 10] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut first = called(&store, &world, Some("one"));
        first.new_session("s1", CWD);
        ask_prompt(&mut first, "turn", "s1", "Go");
        first.agent(says("On it"));
        for (request, call) in [("p1", "c1"), ("p2", "c2"), ("p3", "c3")] {
            asks(&mut first, request, call);
        }
        first.wait(LONG);
        // It is stopped for so long that nobody believes that it is there.
        world.now.set(world.now.get() + 20_000);
        let mut second = called(&store, &world, Some("two"));
        let out = ask_load(&mut second, "load", "s1");
        oblige(&mut second, out, &[("Go", "On it")], "never").answer("load");
        assert_eq!(kept(&store, &world, "s1", limit), ["c1 - -", "c2 - -", "c3 - -"], "{limit}");
        first.client(chooses("p1", "y"));
        first.wait(LONG);
        first.client(chooses("p2", "n"));
        first.agent(answers("turn"));
        first.wait(LONG);
        assert_eq!(kept(&store, &world, "s1", limit), ["c1 one allow_once", "c2 one reject_once", "c3 - -"], "{limit}");
    }
}

#[test]
fn who_answered_what_is_kept_and_never_replayed() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = called(&store, &world, Some("zed"));
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    for (request, call) in [("p1", "c1"), ("p2", "c2"), ("p3", "c3"), ("p4", "c4"), ("p5", "c5")] {
        asks(&mut desk, request, call);
    }
    world.now.set(1000);
    // They are answered in another order than they were asked in, and one not at all.
    desk.client(chooses("p2", "a"));
    desk.client(chooses("p1", "y"));
    desk.client(json!({"id": "p3", "error": {"code": -32603, "message": "no window"}}));
    desk.client(json!({"id": "p4", "result": {"outcome": {"outcome": "cancelled"}}}));
    desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
    let expected =
        ["c1 zed allow_once", "c2 zed allow_always", "c3 zed failed: no window", "c4 zed cancelled", "c5 - -"];
    for limit in [1, 2, 4, 100] {
        assert_eq!(kept(&store, &world, "s1", limit), expected, "{limit}");
    }
    let first = page(&store, &world, "s1", None, 1)["ok"]["permissions"][0].clone();
    assert_eq!(first["asked-at"], "2025-10-09T08:53:20.000Z");
    assert_eq!(first["answer"]["answered-at"], "2025-10-09T08:53:21.000Z");
    assert_eq!((&first["title"], &first["options"][2]["name"]), (&json!("Write c1"), &json!("No")));
    assert_eq!(first["tool-call"], r#"{"toolCallId":"c1","title":"Write c1"}"#);
    let out = load(&mut desk, "s1", &[]);
    assert_eq!(said(&out.client), ["> Go"]);
    assert!(out.client.iter().all(|message| message["method"] != "session/request_permission"));
}

#[test]
fn who_answered_what_a_lost_instance_was_asked_is_kept_once() {
    for is_lost_too in [false, true] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = called(&store, &world, Some("zed"));
        desk.new_session("s1", CWD);
        ask_prompt(&mut desk, "turn", "s1", "Go");
        asks(&mut desk, "p1", "c1");
        let memos = desk.memos.clone();
        if is_lost_too {
            // What the lost instance has written of it stays.
            desk.client(chooses("p1", "y"));
        }
        let answer = Arrival { peer: Peer::Client, content: Content::Line(envelope(chooses("p1", "y"))) };
        let lost = if is_lost_too { vec![answer] } else { Vec::new() };
        let mut desk = Desk::carry_on(&store, &world, &[], memos, lost);
        let out = if is_lost_too { desk.pull() } else { desk.client(chooses("p1", "y")) };
        assert!(out.agent.iter().any(|message| message["id"] == "p1"), "{is_lost_too}");
        desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
        assert_eq!(kept(&store, &world, "s1", 9), ["c1 zed allow_once"], "{is_lost_too}");
        let log = store.read_log("s1", 1, Bounds { limit: 100, max_bytes: u32::MAX }).expect("the log can be read");
        let kinds = log.entries.iter().filter_map(|entry| Some(Entry::parse(&entry.value)?.kind));
        assert_eq!(kinds.filter(|kind| *kind == Kind::PermissionAnswered).count(), 1, "{is_lost_too}");
    }
}

#[test]
fn of_several_questions_the_answered_ones_are_not_answered_again_after_a_loss() {
    for in_turn in [true, false] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = called(&store, &world, None);
        desk.new_session("s1", CWD);
        if in_turn {
            ask_prompt(&mut desk, "turn", "s1", "Go");
        }
        for (request, call) in [("p1", "c1"), ("p2", "c2"), ("p3", "c3")] {
            asks(&mut desk, request, call);
        }
        desk.client(chooses("p1", "y"));
        desk.client(chooses("p3", "n"));
        let memos = desk.memos.clone();
        let mut desk = Desk::carry_on(&store, &world, &[], memos, Vec::new());
        desk.pull();
        let out = desk.client(json!({"id": "c", "method": "session/close", "params": {"sessionId": "s1"}}));
        let answered: Vec<_> = out.agent.iter().filter(|message| message.get("result").is_some()).collect();
        assert_eq!(answered.len(), 1, "{in_turn}: {answered:?}");
        assert_eq!(answered[0]["id"], "p2", "{in_turn}");
    }
}

#[test]
fn an_answer_is_taken_as_it_comes() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = called(&store, &world, None);
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    asks(&mut desk, "p1", "c1");
    // An option that was not to choose from, and members that are the layer's.
    let outcome = json!({"outcome": "selected", "optionId": "x"});
    desk.client(json!({"id": "p1", "result": {"outcome": outcome, "client": "me", "toolCallId": "c9"}}));
    let asked = json!({"sessionId": "s1", "options": 5});
    desk.agent(json!({"id": "p2", "method": "session/request_permission", "params": asked}));
    desk.client(json!({"id": "p2", "result": null}));
    desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
    let told = page(&store, &world, "s1", None, 10)["ok"]["permissions"].clone();
    let option = json!({"id": "x", "name": "", "kind": ""});
    assert_eq!(told[0]["answer"]["outcome"]["selected"], option);
    assert_eq!(told[0]["answer"]["client"], Value::Null);
    assert_eq!((&told[1]["tool-call-id"], &told[1]["answer"]["outcome"]), (&Value::Null, &json!("cancelled")));
    assert!(page(&store, &world, "s1", Some("x".to_owned()), 1)["error"]["invalid"].is_string());
    assert_eq!(page(&store, &world, "s9", None, 1)["error"]["not-found"], "s9");
}

#[test]
fn of_two_questions_about_one_tool_call_each_has_its_own_answer() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = called(&store, &world, Some("editor"));
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    for request in ["p1", "p2", "p3"] {
        asks(&mut desk, request, "c");
    }
    for (request, option) in [("p3", "n"), ("p1", "y"), ("p2", "a")] {
        desk.client(chooses(request, option));
    }
    desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
    assert_eq!(
        kept(&store, &world, "s1", 10),
        ["c editor allow_once", "c editor allow_always", "c editor reject_once"]
    );
}

#[test]
fn what_is_asked_for_by_the_id_of_a_tool_call_alone_is_called_as_the_agent_has_called_it_before() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = called(&store, &world, None);
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    let ask = |desk: &mut Desk<'_>, request: &str, call: Value| {
        let params = json!({"sessionId": "s1", "toolCall": call, "options": []});
        desk.agent(json!({"id": request, "method": "session/request_permission", "params": params}));
    };
    let told = |name: &str, call: &str, title: &str| {
        update("s1", json!({"sessionUpdate": name, "toolCallId": call, "title": title}))
    };
    desk.agent(told("tool_call", "c1", "Run"));
    desk.agent(told("tool_call", "c2", "Write"));
    ask(&mut desk, "p1", json!({"toolCallId": "c1"}));
    desk.agent(told("tool_call_update", "c1", "Run tests"));
    ask(&mut desk, "p2", json!({"toolCallId": "c1", "title": null}));
    ask(&mut desk, "p3", json!({"toolCallId": "c2", "title": "Write all"}));
    ask(&mut desk, "p4", json!({"toolCallId": "c3"}));
    ask(&mut desk, "p5", json!({"toolCallId": "c2"}));
    desk.agent(answers("turn"));
    for limit in [1, 2, 10] {
        let (mut titles, mut after) = (Vec::new(), None);
        loop {
            let page = page(&store, &world, "s1", after, limit)["ok"].clone();
            titles.extend(page["permissions"].as_array().unwrap().iter().map(|asked| asked["title"].clone()));
            after = page["next-cursor"].as_str().map(str::to_owned);
            if after.is_none() {
                break;
            }
        }
        assert_eq!(json!(titles), json!(["Run", "Run tests", "Write all", null, "Write"]), "{limit}");
    }
}

#[test]
fn forks_remember_and_the_next_window_may_be_another_client() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = called(&store, &world, Some("zed"));
    desk.new_session("s1", CWD);
    for (client, call) in [("zed", "c1"), ("emacs", "c2")] {
        ask_prompt(&mut desk, "turn", "s1", "Go");
        asks(&mut desk, "p", call);
        desk.client(chooses("p", "n"));
        desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
        if client == "zed" {
            leave(desk);
            desk = called(&store, &world, Some("emacs"));
            let out = ask_load(&mut desk, "load", "s1");
            oblige(&mut desk, out, &[("Go", "")], "fresh");
        }
    }
    let expected = ["c1 zed reject_once", "c2 emacs reject_once"];
    assert_eq!(kept(&store, &world, "s1", 1), expected);
    let out = ask_fork(&mut desk, "s1");
    oblige(&mut desk, out, &[], "f1");
    assert_eq!(kept(&store, &world, "f1", 10), expected);
}

#[test]
fn what_earlier_versions_kept_is_read_in_the_order_in_which_it_was_asked() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = called(&store, &world, Some("zed"));
    desk.new_session("s1", CWD);
    leave(desk);
    let asked = |call: &str| {
        let option = json!({"optionId": "y", "name": "Yes", "kind": "allow_once"});
        (Kind::PermissionAsked, json!({"toolCall": {"toolCallId": call}, "options": [option]}))
    };
    let answered = |answer: Value| (Kind::PermissionAnswered, answer);
    let entries = [
        asked("c1"),
        asked("c2"),
        answered(json!({"outcome": {"outcome": "selected", "optionId": "y"}})),
        answered(json!({"code": -32603, "message": "no window"})),
    ];
    let write = |((kind, json), seq): ((Kind, Value), u32)| {
        let value = Entry::tagged(kind, 1_760_000_000_000, Some("t1"), &json.to_string());
        Write::Append { log: "s1".to_owned(), seq, value }
    };
    let writes = entries.into_iter().zip(1..).map(write).collect();
    Store::new(&store).commit(&[], writes, acp_sessions_guest::storage::Durability::Relaxed).unwrap();
    assert_eq!(kept(&store, &world, "s1", 10), ["c1 - allow_once", "c2 - failed: no window"]);
}

const AWAY: [&str; 3] = ["session/close", "session/delete", "session/archive"];

/// That nobody answers any more.
fn not_answered(request: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": request, "result": {"outcome": {"outcome": "cancelled"}}})
}

/// What the client is told to take back.
fn taken_back(out: &Out) -> Vec<&Value> {
    let told = out.client.iter().filter(|message| message["method"] == "$/cancel_request");
    told.map(|message| &message["params"]["requestId"]).collect()
}

fn put_away(desk: &mut Desk<'_>, method: &str) -> Out {
    desk.client(json!({"id": "away", "method": method, "params": {"sessionId": "s1"}}))
}

#[test]
fn what_the_agent_asks_in_a_session_that_is_put_away_is_answered_at_once() {
    for method in AWAY {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = called(&store, &world, Some("zed"));
        desk.new_session("s1", CWD);
        desk.new_session("s2", CWD);
        ask_prompt(&mut desk, "turn", "s1", "Go");
        asks(&mut desk, "p1", "c1");
        asks(&mut desk, "p2", "c2");
        asks_in(&mut desk, "s2", "other", "c3");
        desk.client(chooses("p1", "y"));
        assert_eq!(state(&mut desk, "s1"), "requires_action");
        let out = put_away(&mut desk, method);
        assert_eq!(out.agent[0]["method"], "session/cancel", "{:?}", out.agent);
        assert_eq!(out.agent[1..], [not_answered("p2")]);
        assert_eq!(taken_back(&out), ["p2"]);
        assert!(out.is_open("away"));
        assert_eq!(state(&mut desk, "s1"), "running", "lists say so at once");
        // What it asks since is not for the user either.
        let asked = asks(&mut desk, "p3", "c3");
        assert_eq!((asked.agent, asked.client.len()), (vec![not_answered("p3")], 0));
        // What the client says late, or to what it was told, is for nobody.
        assert!(desk.client(chooses("p2", "y")).agent.is_empty());
        let out = desk.agent(json!({"id": "turn", "result": {"stopReason": "cancelled"}}));
        assert_eq!(out.answer("turn")["result"]["stopReason"], "cancelled");
        assert_eq!(out.answer("away")["result"], json!({}));
        assert_eq!(desk.client(chooses("other", "y")).agent.len(), 1, "another session's is for its user");
        if method != "session/delete" {
            assert_eq!(kept(&store, &world, "s1", 10), ["c1 zed allow_once", "c2 - cancelled"]);
        }
    }
}

#[test]
fn a_question_that_is_answered_for_the_client_stays_so_when_the_instance_is_lost() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = called(&store, &world, Some("zed"));
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    asks(&mut desk, "p1", "c1");
    put_away(&mut desk, "session/close");
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    desk.pull();
    let refused = json!({"id": "p1", "error": {"code": -32800, "message": "Request cancelled"}});
    assert!(desk.client(refused).agent.is_empty());
    assert!(desk.memos.keys().all(|key| !key.starts_with("a/")), "{:?}", desk.memos);
    // By the same id it asks something else.
    asks(&mut desk, "p1", "c2");
    assert_eq!(desk.client(chooses("p1", "n")).agent.len(), 1);
    desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
    assert_eq!(kept(&store, &world, "s1", 10), ["c1 - cancelled", "c2 zed reject_once"]);
}

#[test]
fn what_a_sub_agent_asks_is_answered_as_its_parent_is_put_away() {
    for method in AWAY {
        for is_asked_before in [true, false] {
            let (store, world) = (Memory::new(), World::default());
            let mut desk = called(&store, &world, Some("zed"));
            desk.new_session("s1", CWD);
            ask_prompt(&mut desk, "turn", "s1", "Go");
            desk.agent(update("s1", json!({"sessionUpdate": "subagent_update", "sessionId": "sub"})));
            let mut out = Out::default();
            if is_asked_before {
                assert_eq!(asks_in(&mut desk, "sub", "p1", "c1").client.len(), 1);
            }
            out.extend(put_away(&mut desk, method));
            if !is_asked_before {
                out.extend(asks_in(&mut desk, "sub", "p1", "c1"));
            }
            assert!(out.agent.contains(&not_answered("p1")), "{method}: {:?}", out.agent);
            assert_eq!(taken_back(&out).len(), usize::from(is_asked_before));
            out.extend(desk.agent(json!({"id": "turn", "result": {"stopReason": "cancelled"}})));
            assert_eq!(out.answer("away")["result"], json!({}));
        }
    }
}

#[test]
fn what_sub_agents_ask_is_told_with_what_was_asked_in_their_parents() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = called(&store, &world, Some("zed"));
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    for (parent, child) in [("s1", "sub1"), ("sub1", "sub1/1"), ("s1", "sub2"), ("s1", "sub3")] {
        desk.agent(update(parent, json!({"sessionUpdate": "subagent_update", "sessionId": child})));
    }
    for (session, request, call) in
        [("sub1/1", "p1", "c1"), ("sub3", "p2", "c2"), ("s1", "p3", "c3"), ("sub1", "p4", "c4"), ("sub1", "p5", "c5")]
    {
        asks_in(&mut desk, session, request, call);
        desk.client(chooses(request, "y"));
    }
    desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
    leave(desk);
    for limit in [1, 2, 10] {
        for (session, calls) in [
            ("s1", &["c3", "c4", "c5", "c1", "c2"][..]),
            ("sub1", &["c4", "c5", "c1"]),
            ("sub1/1", &["c1"]),
            ("sub2", &[]),
        ] {
            let calls: Vec<String> = calls.iter().map(|call| format!("{call} zed allow_once")).collect();
            assert_eq!(kept(&store, &world, session, limit), calls, "{session} {limit}");
        }
    }
    let cursor = page(&store, &world, "s1", None, 10)["ok"]["next-cursor"].as_str().unwrap().to_owned();
    let asked = page(&store, &world, "s1", Some(cursor.clone()), 1)["ok"]["permissions"][0].clone();
    assert_eq!((&asked["session-id"], &asked["tool-call-id"]), (&json!("sub1"), &json!("c4")));
    let elsewhere = page(&store, &world, "sub2", Some(cursor), 1);
    assert!(elsewhere["error"]["invalid"].is_string(), "{elsewhere}");
}

#[test]
fn what_is_answered_behind_the_turn_it_was_asked_in_is_kept_and_waited_for_until_then() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = called(&store, &world, Some("zed"));
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    for (request, call) in [("p1", "c1"), ("p2", "c2"), ("p3", "c3")] {
        asks(&mut desk, request, call);
    }
    desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
    assert_eq!(state(&mut desk, "s1"), "requires_action");
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    assert_eq!(state(&mut desk, "s1"), "requires_action");
    assert_eq!(desk.client(chooses("p2", "n")).agent.len(), 1);
    assert_eq!(desk.client(chooses("p1", "y")).agent.len(), 1);
    desk.wait(1000);
    assert_eq!(state(&mut desk, "s1"), "requires_action");
    // With another prompt the user goes on, and answers the rest, or does not.
    ask_prompt(&mut desk, "more", "s1", "More");
    assert_eq!(state(&mut desk, "s1"), "running");
    assert_eq!(desk.client(chooses("p3", "a")).agent.len(), 1);
    desk.agent(json!({"id": "more", "result": {"stopReason": "end_turn"}}));
    assert_eq!(state(&mut desk, "s1"), "idle");
    for limit in [1, 2, 100] {
        let expected = ["c1 zed allow_once", "c2 zed reject_once", "c3 zed allow_always"];
        assert_eq!(kept(&store, &world, "s1", limit), expected, "{limit}");
    }
}

#[test]
fn nobody_is_waited_for_behind_a_turn_that_was_cancelled() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = called(&store, &world, Some("zed"));
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    asks(&mut desk, "p1", "c1");
    desk.agent(json!({"id": "turn", "result": {"stopReason": "cancelled"}}));
    assert_eq!(state(&mut desk, "s1"), "idle");
    assert_eq!(kept(&store, &world, "s1", 10), ["c1 - -"]);
}

#[test]
fn nobody_has_answered_what_a_turn_ended_over_that_was_cut_off_however_late_its_client_answers() {
    let failed = json!({"id": "turn", "error": {"code": -32603, "message": "Out of order"}});
    let cancelled = json!({"id": "turn", "result": {"stopReason": "cancelled"}});
    for (is_cancelled, end) in [(true, &cancelled), (true, &failed), (false, &cancelled), (false, &failed)] {
        for is_in_next_turn in [true, false] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = called(&store, &world, Some("zed"));
            desk.new_session("s1", CWD);
            // No turn's end ends what was asked before it.
            asks(&mut desk, "p0", "c0");
            ask_prompt(&mut desk, "turn", "s1", "Go");
            asks(&mut desk, "p1", "c1");
            if is_cancelled {
                desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
            }
            desk.agent(end.clone());
            if is_in_next_turn {
                ask_prompt(&mut desk, "next", "s1", "And now?");
            }
            desk.client(chooses("p1", "y"));
            desk.client(chooses("p0", "n"));
            desk.wait(LONG);
            for limit in [1, 10] {
                let kept = kept(&store, &world, "s1", limit);
                assert_eq!(kept, ["c0 zed reject_once", "c1 - -"], "{end}, cancelled: {is_cancelled}");
            }
        }
    }
}

#[test]
fn what_is_answered_in_a_turn_that_is_set_aside_stays_answered() {
    for is_asked_again in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let loads = json!({"loadSession": true});
        let mut desk = listing(&store, &world, "a", &loads, &[]);
        desk.new_session("s1", CWD);
        ask_prompt(&mut desk, "turn", "s1", "First");
        asks(&mut desk, "p1", "c1");
        desk.agent(answers("turn"));
        ask_prompt(&mut desk, "turn", "s1", "Second");
        desk.wait(100);
        desk.client(chooses("p1", "n"));
        desk.agent(answers("turn"));
        leave(desk);
        let mut desk = listing(&store, &world, "a", &loads, &[row("s1", "Old", "2025-10-10T00:00:00Z")]);
        let out = ask_load(&mut desk, "load", "s1");
        let out = oblige(&mut desk, out, &[("First", ""), ("Another", "Answer")], "never");
        assert_ne!(mark(&out, "load")["setAside"], Value::Null, "{}", out.answer("load"));
        let mut expected = vec!["c1 - reject_once"];
        if is_asked_again {
            // An answer is to nothing that was asked since.
            ask_prompt(&mut desk, "turn", "s1", "Third");
            desk.wait(100);
            asks(&mut desk, "p1", "c2");
            desk.agent(answers("turn"));
            expected.push("c2 - -");
        }
        for limit in [1, 100] {
            assert_eq!(kept(&store, &world, "s1", limit), expected, "{limit}");
        }
    }
}

#[test]
fn answers_are_found_though_something_was_never_answered_long_before() {
    const LONG: usize = 1024 * 1024;
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = called(&store, &world, Some("zed"));
    desk.new_session("s1", CWD);
    leave(desk);
    let asked = |call: &str| {
        let option = json!({"optionId": "y", "name": "Yes", "kind": "allow_once"});
        (Kind::PermissionAsked, json!({"requestId": call, "toolCall": {"toolCallId": call}, "options": [option]}))
    };
    let chosen = json!({"outcome": "selected", "optionId": "y"});
    let answered = |call: &str| (Kind::PermissionAnswered, json!({"requestId": call, "outcome": chosen}));
    let update = json!({"update": {"sessionUpdate": "plan", "entries": [{"content": "x".repeat(LONG)}]}});
    let long = |count: usize| vec![(Kind::Update, update.clone()); count];
    let mut entries = vec![asked("c1")];
    entries.extend([long(15), vec![asked("c2")], long(2), vec![answered("c2")], long(20)].concat());
    let write = |((kind, json), seq): ((Kind, Value), u32)| {
        let value = Entry::tagged(kind, 1_760_000_000_000, Some("t1"), &json.to_string());
        Write::Append { log: "s1".to_owned(), seq, value }
    };
    for write in entries.into_iter().zip(1..).map(write) {
        Store::new(&store).commit(&[], vec![write], acp_sessions_guest::storage::Durability::Relaxed).unwrap();
    }
    for limit in [1, 10] {
        assert_eq!(kept(&store, &world, "s1", limit), ["c1 - -", "c2 - allow_once"], "{limit}");
    }
}

#[test]
fn what_was_asked_in_what_is_set_aside_is_shown_behind_what_was_asked_in_the_conversation() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let loads = json!({"loadSession": true});
    let mut desk = listing(&store, &world, "a", &loads, &[]);
    desk.new_session("s1", CWD);
    for (nth, prompt) in ["First", "Second"].into_iter().enumerate() {
        ask_prompt(&mut desk, "turn", "s1", prompt);
        asks(&mut desk, &format!("p{nth}"), &format!("c{nth}"));
        desk.client(chooses(&format!("p{nth}"), "y"));
        desk.agent(answers("turn"));
    }
    leave(desk);
    // The agent has gone back behind the first turn, and its list says that something has changed.
    let mut desk = listing(&store, &world, "a", &loads, &[row("s1", "Old", "2025-10-10T00:00:00Z")]);
    let out = ask_load(&mut desk, "load", "s1");
    let out = oblige(&mut desk, out, &[("First", ""), ("Another", "Answer")], "never");
    assert_eq!(mark(&out, "load")["setAside"], 6, "{}", out.answer("load"));
    ask_prompt(&mut desk, "turn", "s1", "Third");
    asks(&mut desk, "p2", "c2");
    desk.client(chooses("p2", "y"));
    desk.agent(answers("turn"));
    let expected = ["c0 - allow_once", "c2 - allow_once", "c1 - allow_once"];
    for limit in [1, 2, 100] {
        assert_eq!(kept(&store, &world, "s1", limit), expected, "{limit}");
    }
    let refused = page(&store, &world, "s1", Some("aside-nonsense".to_owned()), 1);
    assert!(refused.to_string().contains("invalid"), "{refused}");
}
