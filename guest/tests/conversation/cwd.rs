//! The directory of a session that is opened again.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::scenes::{CWD, TOLD, oblige, told};

const ELSEWHERE: &str = "/home/y";

fn agents() -> [Value; 4] {
    [
        json!({}),
        json!({"loadSession": true}),
        json!({"sessionCapabilities": {"resume": {}}}),
        json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "fork": {}}}),
    ]
}

fn open(desk: &mut Desk<'_>, method: &str, cwd: Option<&Value>) -> Out {
    let mut params = json!({"sessionId": "s1", "mcpServers": []});
    if let Some(cwd) = cwd {
        params["cwd"] = cwd.clone();
    }
    let out = desk.client(json!({"id": "open", "method": method, "params": params}));
    oblige(desk, out, TOLD, "fresh")
}

/// Where the agent was asked to open it.
fn asked_in(out: &Out) -> &Value {
    let steps = ["session/load", "session/resume", "session/fork", "session/new"];
    let asked = steps.iter().find_map(|method| out.asked(method)).expect("the agent is asked");
    &asked["params"]["cwd"]
}

fn listed_in(desk: &mut Desk<'_>, cwd: &str) -> Vec<(String, String)> {
    let answer = desk.ask("session/list", json!({ "cwd": cwd }));
    let rows = answer["result"]["sessions"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    rows.map(|row| (text(&row["sessionId"]), text(&row["cwd"]))).collect()
}

const METHODS: [&str; 3] = ["session/load", "session/resume", "session/fork"];

#[test]
fn a_session_that_is_opened_without_a_directory_is_opened_in_its_own() {
    for agent in agents() {
        for method in METHODS {
            for cwd in [None, Some(Value::Null)] {
                let (store, world) = (Memory::new(), World::default());
                told(&store, &world, &agent);
                let mut desk = Desk::ready(&store, &world, &agent);
                let out = open(&mut desk, method, cwd.as_ref());
                assert!(out.answer("open")["error"].is_null(), "{method} {agent}: {}", out.answer("open"));
                assert_eq!(asked_in(&out), CWD, "{method} {agent}");
                let rows = if method == "session/fork" { 2 } else { 1 };
                assert_eq!(listed_in(&mut desk, CWD).len(), rows, "{method} {agent}");
            }
        }
    }
}

#[test]
fn a_session_that_is_opened_in_another_directory_is_listed_there() {
    for agent in agents() {
        for method in ["session/load", "session/resume"] {
            let (store, world) = (Memory::new(), World::default());
            told(&store, &world, &agent);
            let mut desk = Desk::ready(&store, &world, &agent);
            let out = open(&mut desk, method, Some(&json!(ELSEWHERE)));
            assert!(out.answer("open")["error"].is_null());
            assert_eq!(asked_in(&out), ELSEWHERE, "{method} {agent}");
            assert_eq!(listed_in(&mut desk, ELSEWHERE), [("s1".to_owned(), ELSEWHERE.to_owned())], "{method} {agent}");
            assert_eq!(listed_in(&mut desk, CWD), [], "{method} {agent}");
        }
    }
}

#[test]
fn a_fork_in_another_directory_leaves_its_parent_where_it_was() {
    for agent in agents() {
        let (store, world) = (Memory::new(), World::default());
        told(&store, &world, &agent);
        let mut desk = Desk::ready(&store, &world, &agent);
        open(&mut desk, "session/fork", Some(&json!(ELSEWHERE)));
        assert_eq!(listed_in(&mut desk, CWD), [("s1".to_owned(), CWD.to_owned())], "{agent}");
        assert_eq!(listed_in(&mut desk, ELSEWHERE).len(), 1, "{agent}");
    }
}

#[test]
fn a_history_that_is_fetched_to_be_forked_is_fetched_where_it_was() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"list": {}}});
    let mut desk = Desk::open(&store, &world, &[]);
    let out = desk.greet(Some("a"), &capabilities);
    let row =
        json!({"sessionId": "s1", "cwd": CWD, "additionalDirectories": ["/z"], "updatedAt": "2025-01-01T00:00:00Z"});
    desk.reply(&out.request("session/list"), json!({"sessions": [row]}));
    desk.wait(0);
    let out = open(&mut desk, "session/fork", Some(&json!(ELSEWHERE)));
    assert!(out.answer("open")["error"].is_null());
    assert_eq!(out.request("session/load")["params"]["cwd"], CWD);
    assert_eq!(out.request("session/new")["params"]["cwd"], ELSEWHERE);
    let answer = desk.ask("session/list", json!({ "cwd": CWD }));
    assert_eq!(answer["result"]["sessions"][0]["additionalDirectories"], json!(["/z"]));
}

#[test]
fn another_spelling_of_a_directory_is_no_other_directory() {
    let (store, world) = (Memory::new(), World::default());
    told(&store, &world, &json!({}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    open(&mut desk, "session/load", Some(&json!("/home/./x/")));
    assert_eq!(listed_in(&mut desk, CWD), [("s1".to_owned(), CWD.to_owned())]);
}

#[test]
fn an_opening_that_fails_leaves_the_session_where_it_was() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true});
    told(&store, &world, &capabilities);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let params = json!({"sessionId": "s1", "cwd": ELSEWHERE, "mcpServers": []});
    let mut out = desk.client(json!({"id": "open", "method": "session/load", "params": params}));
    for method in ["session/load", "session/new"] {
        out = desk.refuse(&out.request(method), -32602);
    }
    assert!(!out.answer("open")["error"].is_null());
    assert_eq!(listed_in(&mut desk, CWD).len(), 1);
    desk.engine.peer_closed(Peer::Client);
}

#[test]
fn a_session_that_nobody_knows_has_no_directory() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
    for (method, code) in [("session/load", -32602), ("session/resume", -32602), ("session/fork", -32002)] {
        let out = open(&mut desk, method, None);
        assert_eq!(out.answer("open")["error"]["code"], code, "{method}");
        assert!(out.agent.is_empty(), "{method}");
    }
    for wrong in [json!(5), json!("home"), json!("")] {
        told(&store, &world, &json!({}));
        let out = open(&mut desk, "session/load", Some(&wrong));
        assert_eq!(out.answer("open")["error"]["code"], -32602, "{wrong}");
    }
}
