//! The further directories of a session are in its row, whichever way the session came to be.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, update};
use crate::scenes::{CWD, TOLD, listing, oblige, row, told};

const LONG_AGO: &str = "2025-01-01T00:00:00Z";

fn loads() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "additionalDirectories": {}}})
}

/// What the row of a session says.
fn shown(desk: &mut Desk<'_>, id: &str) -> Value {
    let answer = desk.ask("session/list", json!({"_meta": {"acp-sessions": {"subagents": true}}}));
    let rows = answer["result"]["sessions"].as_array().unwrap();
    let row = rows.iter().find(|row| row["sessionId"] == id).unwrap_or_else(|| panic!("{id}: {rows:?}"));
    row.get("additionalDirectories").cloned().unwrap_or_default()
}

/// A request with these further directories, to an agent that does what it is asked.
fn ask(desk: &mut Desk<'_>, method: &str, session: Option<&str>, directories: &Value) -> String {
    let mut params = json!({"cwd": CWD, "mcpServers": [], "additionalDirectories": directories});
    if let Some(session) = session {
        params["sessionId"] = session.into();
    }
    let out = desk.client(json!({"id": "ask", "method": method, "params": params}));
    let out = oblige(desk, out, TOLD, "fresh");
    let result = &out.answer("ask")["result"];
    assert!(result.is_object(), "{method}: {:?}", out.answer("ask"));
    result["sessionId"].as_str().or(session).unwrap().to_owned()
}

fn listed(id: &str, directories: &Value) -> Value {
    let mut row = row(id, "Title", LONG_AGO);
    row["additionalDirectories"] = directories.clone();
    row
}

type Way = fn(&Memory, &World, &Value) -> String;

#[test]
fn however_a_session_came_to_be() {
    let ways: [(&str, Way); 12] = [
        ("made", |store, world, directories| {
            ask(&mut Desk::ready(store, world, &loads()), "session/new", None, directories)
        }),
        ("loaded", |store, world, directories| {
            let id = told(store, world, &loads());
            ask(&mut Desk::ready(store, world, &loads()), "session/load", Some(&id), directories)
        }),
        ("loaded by an agent that cannot", |store, world, directories| {
            let id = told(store, world, &json!({}));
            ask(&mut Desk::ready(store, world, &json!({})), "session/load", Some(&id), directories)
        }),
        ("resumed", |store, world, directories| {
            let id = told(store, world, &loads());
            ask(&mut Desk::ready(store, world, &loads()), "session/resume", Some(&id), directories)
        }),
        ("resumed with others", |store, world, directories| {
            let id = ask(&mut Desk::ready(store, world, &loads()), "session/new", None, &json!(["/before"]));
            ask(&mut Desk::ready(store, world, &loads()), "session/resume", Some(&id), directories)
        }),
        ("taken over from the agent", |store, world, directories| {
            ask(&mut Desk::ready(store, world, &loads()), "session/load", Some("theirs"), directories)
        }),
        ("resumed without being known", |store, world, directories| {
            ask(&mut Desk::ready(store, world, &loads()), "session/resume", Some("theirs"), directories)
        }),
        ("forked", |store, world, directories| {
            let id = told(store, world, &loads());
            ask(&mut Desk::ready(store, world, &loads()), "session/fork", Some(&id), directories)
        }),
        ("forked by the agent", |store, world, directories| {
            let id = told(store, world, &loads());
            let forks = json!({"sessionCapabilities": {"fork": {}}});
            ask(&mut Desk::ready(store, world, &forks), "session/fork", Some(&id), directories)
        }),
        ("listed by the agent", |store, world, directories| {
            drop(listing(store, world, "a", &loads(), &[listed("theirs", directories)]));
            "theirs".to_owned()
        }),
        ("changed at the agent", |store, world, directories| {
            let id = ask(&mut Desk::ready(store, world, &loads()), "session/new", None, &json!(["/before"]));
            drop(listing(store, world, "a", &loads(), &[listed(&id, directories)]));
            id
        }),
        ("a sub-agent's", |store, world, directories| {
            let mut desk = Desk::ready(store, world, &loads());
            let id = ask(&mut desk, "session/new", None, directories);
            let update_of = json!({"sessionUpdate": "subagent_update", "sessionId": "child", "title": "Child"});
            desk.agent(update(&id, update_of));
            "child".to_owned()
        }),
    ];
    for (way, make) in ways {
        for directories in [json!(["/one", "/two"]), json!([])] {
            let (store, world) = (Memory::new(), World::default());
            let id = make(&store, &world, &directories);
            let expected = if directories == json!([]) { Value::Null } else { directories };
            assert_eq!(shown(&mut Desk::ready(&store, &world, &loads()), &id), expected, "{way}");
        }
    }
}

#[test]
fn a_list_that_does_not_say_or_says_nothing_of_use_changes_nothing() {
    for said in [None, Some(json!(null)), Some(json!("/x")), Some(json!(["relative"])), Some(json!([5]))] {
        let (store, world) = (Memory::new(), World::default());
        let id = ask(&mut Desk::ready(&store, &world, &loads()), "session/new", None, &json!(["/one"]));
        let mut row = row(&id, "Title", LONG_AGO);
        if let Some(said) = &said {
            row["additionalDirectories"] = said.clone();
        }
        let mut desk = listing(&store, &world, "a", &loads(), &[row]);
        assert_eq!(shown(&mut desk, &id), json!(["/one"]), "{said:?}");
    }
}

#[test]
fn what_is_no_text_among_directories_of_a_list_is_passed_over() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let id = ask(&mut Desk::ready(&store, &world, &loads()), "session/new", None, &json!(["/one"]));
    let mut row = row(&id, "Title", LONG_AGO);
    row["additionalDirectories"] = json!([null, "/two", 5, {"path": "/three"}, "/four"]);
    let mut desk = listing(&store, &world, "a", &loads(), &[row]);
    assert_eq!(shown(&mut desk, &id), json!(["/two", "/four"]));
}

#[test]
fn a_list_from_before_a_session_was_opened_with_others_does_not_undo_that() {
    let (store, world) = (Memory::new(), World::default());
    let id = ask(&mut Desk::ready(&store, &world, &loads()), "session/new", None, &json!(["/before"]));
    let mut capabilities = loads();
    capabilities["sessionCapabilities"]["list"] = json!({});
    let mut desk = Desk::open(&store, &world, &[]);
    let list = desk.greet(Some("a"), &capabilities).request("session/list");
    ask(&mut desk, "session/resume", Some(&id), &json!(["/now"]));
    desk.reply(&list, json!({"sessions": [listed(&id, &json!(["/before"]))]}));
    desk.wait(0);
    assert_eq!(shown(&mut desk, &id), json!(["/now"]));
}

#[test]
fn a_session_whose_history_is_fetched_for_a_fork_keeps_its_own() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &loads(), &[listed("theirs", &json!(["/own"]))]);
    let params = json!({"sessionId": "theirs", "cwd": "/elsewhere", "additionalDirectories": ["/forks"]});
    let out = desk.client(json!({"id": "fork", "method": "session/fork", "params": params}));
    let asked = out.request("session/load")["params"].clone();
    assert_eq!((&asked["cwd"], &asked["additionalDirectories"]), (&json!(CWD), &json!(["/own"])));
    let out = oblige(&mut desk, out, TOLD, "fresh");
    let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(shown(&mut desk, "theirs"), json!(["/own"]));
    assert_eq!(shown(&mut desk, &fork), json!(["/forks"]));
    desk.engine.peer_closed(Peer::Client);
}
