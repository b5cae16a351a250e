//! An agent that wants its user logged in first: nothing is shown before that.

use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::scenes::{CWD, TOLD, ask_load, ask_resume, lines, oblige, said, told};

/// How the layer learns that the agent wants a login.
#[derive(Debug, Clone, Copy)]
enum Refused {
    List,
    New,
}

const REFUSED: [Refused; 2] = [Refused::List, Refused::New];

fn capabilities(refused: Refused) -> Value {
    let list = json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "list": {}}});
    match refused {
        Refused::List => list,
        Refused::New => json!({"loadSession": true, "sessionCapabilities": {"resume": {}}}),
    }
}

/// A connection to an agent that has just said that it wants a login.
fn refused<'a>(store: &'a Memory, world: &'a World, how: Refused) -> Desk<'a> {
    let mut desk = Desk::open(store, world, &[]);
    let out = desk.greet(Some("a"), &capabilities(how));
    let asked = match how {
        Refused::List => out.request("session/list"),
        Refused::New => {
            let params = json!({"cwd": CWD, "mcpServers": []});
            desk.client(json!({"id": "new", "method": "session/new", "params": params})).request("session/new")
        }
    };
    desk.refuse(&asked, -32000);
    desk
}

/// Authenticates or logs out, and the agent agrees; its list, should it be asked for it, is empty of news.
fn agrees(desk: &mut Desk<'_>, method: &str) {
    let out = desk.client(json!({"id": method, "method": method, "params": {"methodId": "m"}}));
    let out = desk.reply(&out.request(method), json!({}));
    assert_eq!(out.answer(method)["result"], json!({}));
    if let Some(list) = out.asked("session/list").cloned() {
        desk.reply(&list, json!({"sessions": [{"sessionId": "s1", "cwd": CWD}]}));
    }
}

/// Loads or resumes; whatever the agent is asked it refuses for want of a login.
fn opened_without_login(desk: &mut Desk<'_>, method: &str, id: &str) -> Out {
    let mut out = match method {
        "session/load" => ask_load(desk, "open", id),
        _ => ask_resume(desk, "open", id),
    };
    while let Some(asked) = out.agent.pop() {
        out.extend(desk.refuse(&asked, -32000));
    }
    out
}

#[test]
fn without_a_login_an_old_session_is_refused_before_any_of_it_is_shown() {
    for how in REFUSED {
        for method in ["session/load", "session/resume"] {
            let (store, world) = (Memory::new(), World::default());
            let id = told(&store, &world, &json!({}));
            let mut desk = refused(&store, &world, how);
            let out = opened_without_login(&mut desk, method, &id);
            assert_eq!(out.answer("open")["error"]["code"], -32000, "{how:?} {method}");
            assert_eq!(out.client.len(), 1, "{how:?} {method}: {:?}", out.client);
        }
    }
}

#[test]
fn after_a_login_old_sessions_open_and_after_a_logout_they_do_not() {
    for how in REFUSED {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &json!({}));
        let mut desk = refused(&store, &world, how);
        opened_without_login(&mut desk, "session/load", &id).answer("open");
        agrees(&mut desk, "authenticate");
        let out = ask_load(&mut desk, "load", &id);
        let out = oblige(&mut desk, out, TOLD, "s2");
        assert!(out.answer("load")["error"].is_null(), "{how:?}: {}", out.answer("load"));
        assert_eq!(said(&out.client), lines(&[TOLD]));
        desk.ask("session/close", json!({"sessionId": id}));
        agrees(&mut desk, "logout");
        let out = opened_without_login(&mut desk, "session/load", &id);
        assert_eq!(out.answer("open")["error"]["code"], -32000, "{how:?}");
        assert_eq!(out.client.len(), 1, "{how:?}: {:?}", out.client);
        agrees(&mut desk, "authenticate");
        let out = ask_load(&mut desk, "load", &id);
        assert_eq!(said(&oblige(&mut desk, out, TOLD, "s3").client), lines(&[TOLD]));
    }
}

#[test]
fn a_login_that_fails_changes_nothing() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = refused(&store, &world, Refused::New);
    let out = desk.client(json!({"id": "login", "method": "authenticate", "params": {"methodId": "m"}}));
    desk.refuse(&out.request("authenticate"), -32603);
    let out = opened_without_login(&mut desk, "session/load", &id);
    assert_eq!(out.answer("open")["error"]["code"], -32000);
    assert_eq!(out.client.len(), 1, "{:?}", out.client);
}

#[test]
fn without_a_login_new_sessions_and_lists_are_as_ever() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = refused(&store, &world, Refused::New);
    assert_eq!(desk.listed(), [id]);
    let params = json!({"cwd": CWD, "mcpServers": []});
    let out = desk.client(json!({"id": "new", "method": "session/new", "params": params}));
    let out = desk.refuse(&out.request("session/new"), -32000);
    assert_eq!(out.answer("new")["error"]["code"], -32000, "the agent is asked each time");
}

#[test]
fn an_answer_that_names_no_new_session_does_not_say_that_the_user_is_logged_in() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = Desk::open(&store, &world, &[]);
    let list = desk.greet(Some("a"), &json!({"sessionCapabilities": {"list": {}}})).request("session/list");
    desk.refuse(&list, -32000);
    let params = json!({"cwd": CWD, "mcpServers": []});
    let out = desk.client(json!({"id": "new", "method": "session/new", "params": params}));
    desk.reply(&out.request("session/new"), json!({})).answer("new");
    let out = opened_without_login(&mut desk, "session/load", &id);
    assert_eq!(out.answer("open")["error"]["code"], -32000);
    assert_eq!(out.client.len(), 1, "{:?}", out.client);
}

#[test]
fn an_agent_that_wants_a_login_is_not_forgotten_to_want_it_when_the_instance_is_lost_in_its_answer() {
    for method in ["session/load", "logout"] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &json!({}));
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let (mut answer, asked) = if method == "logout" {
            let out = desk.client(json!({"id": "first", "method": method, "params": {}}));
            (json!({"result": {}}), out.request("logout"))
        } else {
            let out = ask_load(&mut desk, "first", &id);
            (json!({"error": {"code": -32000, "message": "Log in"}}), out.request("session/new"))
        };
        (answer["jsonrpc"], answer["id"]) = ("2.0".into(), asked["id"].clone());
        let lost = Arrival { peer: Peer::Agent, content: Content::Line(answer.to_string()) };
        let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, vec![lost]);
        assert_eq!(desk.pull().answer("first")["error"]["code"], -32603, "{method}");
        let out = opened_without_login(&mut desk, "session/load", &id);
        assert_eq!(out.answer("open")["error"]["code"], -32000, "{method}");
        assert_eq!(out.client.len(), 1, "{method}: {:?}", out.client);
    }
}
