//! Sessions that follow a folder which was renamed or moved.

use acp_sessions_corpus::Call;
use acp_sessions_guest::storage::{Memory, Storage, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, World, chunk, text_of, update};
use crate::scenes::{CWD, TOLD, answers, ask_prompt, leave, listing, load, oblige, row, told};

const OLD: &str = "/home";
const NEW: &str = "/srv/ada";
const MOVED: &str = "/srv/ada/x";

fn call(old: &str, new: &str, limit: u32, cursor: Option<String>, dry_run: bool) -> Call {
    Call::MoveSessions { old_cwd: old.to_owned(), new_cwd: new.to_owned(), limit, cursor, dry_run }
}

/// All that a move names, page by page: each session with where it was and where it is.
fn moved<S: Storage>(store: &S, world: &World, limit: u32, dry_run: bool) -> Vec<(String, String, String)> {
    let (mut named, mut cursor) = (Vec::new(), None);
    loop {
        let page = world.recorder.typed(store, world.time(), call(OLD, NEW, limit, cursor, dry_run));
        let rows = page["ok"]["sessions"].as_array().unwrap_or_else(|| panic!("{page}"));
        assert!(rows.len() <= limit as usize);
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        named.extend(rows.iter().map(|row| (text(&row["id"]), text(&row["old-cwd"]), text(&row["new-cwd"]))));
        cursor = page["ok"]["next-cursor"].as_str().map(str::to_owned);
        if cursor.is_none() {
            return named;
        }
    }
}

/// The rows of a list, archived ones and sub-agents' among them.
fn rows<S: Storage>(desk: &mut Desk<'_, S>) -> Vec<Value> {
    let params = json!({"archived": "include", "_meta": {"acp-sessions": {"subagents": true}}});
    desk.ask("session/list", params)["result"]["sessions"].as_array().unwrap().clone()
}

fn place<S: Storage>(desk: &mut Desk<'_, S>, id: &str) -> String {
    rows(desk).iter().find(|row| row["sessionId"] == id).unwrap()["cwd"].as_str().unwrap().to_owned()
}

#[test]
fn all_sessions_of_the_folder_and_below_it_follow_and_nothing_else_of_them_changes() {
    for limit in [1, 2, 100] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        for (id, cwd) in [
            ("below", "/home/x/deep/er"),
            ("itself", "/home/"),
            ("spelt", "/srv/../home//x"),
            ("beside", "/home2/x"),
            ("above", "/"),
            ("archived", "/home/x"),
        ] {
            desk.new_session(id, cwd);
            desk.turn(id, id, &["Yes"]);
            desk.wait(1000);
        }
        desk.ask("session/archive", json!({"sessionId": "archived"}));
        let child = json!({"sessionUpdate": "subagent_update", "sessionId": "child", "title": "Child"});
        desk.agent(update("below", child));
        let before = rows(&mut desk);
        let dry = moved(&store, &world, limit, true);
        assert_eq!(rows(&mut desk), before, "it is only said");
        assert_eq!(moved(&store, &world, limit, false), dry);
        let expected = [
            ("archived", "/home/x", "/srv/ada/x"),
            ("below", "/home/x/deep/er", "/srv/ada/x/deep/er"),
            ("child", "/home/x/deep/er", "/srv/ada/x/deep/er"),
            ("itself", "/home/", "/srv/ada"),
            ("spelt", "/srv/../home//x", "/srv/ada/x"),
        ];
        assert_eq!(dry, expected.map(|(id, old, new)| (id.to_owned(), old.to_owned(), new.to_owned())));
        let mut after = rows(&mut desk);
        for row in &mut after {
            if let Some((_, old, new)) = expected.iter().find(|(id, ..)| row["sessionId"] == *id) {
                assert_eq!(row["cwd"], *new);
                row["cwd"] = json!(old);
            }
        }
        assert_eq!(after, before, "in the same order, with the same times");
        assert_eq!(moved(&store, &world, limit, false), [], "all has moved");
        let there = desk.ask("session/list", json!({"cwd": "/srv/ada/x/"}));
        assert_eq!(there["result"]["sessions"][0]["sessionId"], "spelt");
        let found = desk.ask("session/list", json!({"cwd": "/home/x", "archived": "include"}));
        assert_eq!(found["result"]["sessions"], json!([]));
    }
}

#[test]
fn further_directories_follow_by_themselves() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"additionalDirectories": {}}}));
    let params = json!({"cwd": "/work", "mcpServers": [], "additionalDirectories": ["/home/lib/", "/opt", "/home"]});
    desk.client(json!({"id": "new", "method": "session/new", "params": params}));
    desk.agent(json!({"id": "new", "result": {"sessionId": "s1"}}));
    let page = world.recorder.typed(&store, world.time(), call(OLD, NEW, 10, None, false));
    let row = json!({"id": "s1", "title": null, "old-cwd": "/work", "new-cwd": "/work", "directories": 2});
    assert_eq!(page["ok"], json!({"sessions": [row], "next-cursor": null}));
    assert_eq!(rows(&mut desk)[0]["additionalDirectories"], json!(["/srv/ada/lib", "/opt", "/srv/ada"]));
}

#[test]
fn a_session_that_is_open_elsewhere_loses_nothing() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    desk.turn("s1", "First", &["One"]);
    ask_prompt(&mut desk, "turn", "s1", "Second");
    desk.agent(update("s1", chunk("agent_message_chunk", "Tw")));
    assert_eq!(moved(&store, &world, 10, false).len(), 1);
    desk.agent(update("s1", chunk("agent_message_chunk", "o")));
    desk.agent(answers("turn"));
    desk.turn("s1", "Third", &["Three"]);
    assert_eq!(place(&mut desk, "s1"), MOVED);
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let params = json!({"sessionId": "s1", "mcpServers": []});
    let out = desk.client(json!({"id": "load", "method": "session/load", "params": params}));
    let out = oblige(&mut desk, out, &[], "fresh");
    assert_eq!(out.request("session/new")["params"]["cwd"], MOVED);
    assert_eq!(text_of(&out.client, "agent_message_chunk"), "OneTwoThree");
}

#[test]
fn what_the_agents_own_list_says_does_not_move_it_back() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true});
    let listed = |updated| [row("s1", "Title", updated), row("theirs", "Theirs", updated)];
    told(&store, &world, &capabilities);
    drop(listing(&store, &world, "a", &capabilities, &listed("2025-10-09T08:53:20Z")));
    assert_eq!(moved(&store, &world, 10, false).len(), 2);
    // It has been used there since, and still lies where it was.
    let mut desk = listing(&store, &world, "a", &capabilities, &listed("2025-10-09T08:53:25Z"));
    for id in ["s1", "theirs"] {
        assert_eq!(place(&mut desk, id), MOVED, "{id}");
    }
}

#[test]
fn who_opens_it_in_another_folder_moves_it() {
    let (store, world) = (Memory::new(), World::default());
    told(&store, &world, &json!({}));
    moved(&store, &world, 10, false);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    load(&mut desk, "s1", TOLD);
    assert_eq!(place(&mut desk, "s1"), CWD);
}

#[test]
fn a_session_that_is_being_opened_stays_where_it_has_been_moved_to() {
    for cwd in [json!(null), json!(CWD), json!("/home/./x/")] {
        let (store, world) = (Memory::new(), World::default());
        told(&store, &world, &json!({"loadSession": true}));
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        let params = json!({"sessionId": "s1", "cwd": cwd, "mcpServers": []});
        let out = desk.client(json!({"id": "load", "method": "session/load", "params": params}));
        moved(&store, &world, 10, false);
        let out = oblige(&mut desk, out, TOLD, "fresh");
        assert!(out.answer("load")["result"].is_object(), "{cwd}");
        assert_eq!(place(&mut desk, "s1"), MOVED, "{cwd}");
    }
}

#[test]
fn folders_that_make_no_sense_are_refused() {
    let (store, world) = (Memory::new(), World::default());
    told(&store, &world, &json!({}));
    let ask = |old, new, limit, cursor: Option<&str>| {
        let call = call(old, new, limit, cursor.map(str::to_owned), false);
        world.recorder.typed(&store, world.time(), call)
    };
    for (old, new, cursor, why) in [
        ("home", NEW, None, "`old-cwd` must be an absolute path"),
        (OLD, "", None, "`new-cwd` must be an absolute path"),
        (OLD, "/home/", None, "to itself or to a folder below it"),
        (OLD, "/home/x/y", None, "to itself or to a folder below it"),
        ("/", NEW, None, "to itself or to a folder below it"),
        (OLD, NEW, Some("nonsense"), "the cursor is not one"),
        (OLD, NEW, Some("0000000000000000/s/s1"), "the cursor is not one"),
    ] {
        let refused = ask(old, new, 10, cursor)["error"]["invalid"].as_str().unwrap().to_owned();
        assert!(refused.contains(why), "{old} {new}: {refused}");
    }
    assert_eq!(ask(OLD, NEW, 0, None), json!({"ok": {"sessions": [], "next-cursor": null}}));
    assert_eq!(ask("/elsewhere", NEW, 10, None), json!({"ok": {"sessions": [], "next-cursor": null}}));
}

#[test]
fn a_folder_is_not_moved_to_one_that_it_is_in_so_that_a_move_can_be_made_again() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", "/m/b/b/x");
    let ask = |old: &str, new: &str| world.recorder.typed(&store, world.time(), call(old, new, 10, None, false));
    for new in ["/m", "/m/./", "/"] {
        let refused = ask("/m/b", new)["error"]["invalid"].as_str().unwrap_or_default().to_owned();
        assert!(refused.contains("to one that it lies in"), "{new}: {refused}");
        assert!(refused.contains("outside of that first"), "{new}: {refused}");
    }
    for (old, new) in [("/m/b", "/t"), ("/m/b", "/t"), ("/t", "/m"), ("/t", "/m")] {
        assert!(ask(old, new)["ok"].is_object(), "{old} {new}");
    }
    assert_eq!(place(&mut desk, "s1"), "/m/b/x");
}

#[test]
fn a_move_that_the_store_does_not_take_can_be_made_again() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for id in ["s1", "s2", "s3"] {
        desk.new_session(id, CWD);
    }
    store.fail(1, 1, StorageError::Full);
    let page = world.recorder.typed(&store, world.time(), call(OLD, NEW, 10, None, false));
    assert!(page["error"]["storage"].is_string(), "{page}");
    // Somebody else is faster once.
    store.fail(0, 1, StorageError::Conflict);
    let ids: Vec<String> = moved(&store, &world, 10, false).into_iter().map(|(id, ..)| id).collect();
    assert_eq!(ids, ["s2", "s3"]);
    assert!(rows(&mut desk).iter().all(|row| row["cwd"] == MOVED));
}

/// With what the agent is asked to open the session again once it was started again.
fn opened_again<S: Storage>(desk: &mut Desk<'_, S>, capabilities: &Value) -> Value {
    desk.revive(capabilities);
    let out = ask_prompt(desk, "next", "s1", "On");
    let params = out.agent[0]["params"].clone();
    assert_eq!(oblige(desk, out, TOLD, "fresh").answer("next")["result"]["stopReason"], "end_turn");
    params
}

/// Agents that resume, load, and do neither.
fn agents() -> [Value; 3] {
    [json!({"sessionCapabilities": {"resume": {}}}), json!({"loadSession": true}), json!({})]
}

const SERVERS: &str = "m";

/// A connection on which the session `s1` was opened by this method, in this directory, by such an agent.
fn opened<'a, S: Storage>(store: &'a S, world: &'a World, agent: &Value, method: &str, cwd: &str) -> Desk<'a, S> {
    let servers = json!([{"name": SERVERS, "command": "/m", "args": [], "env": []}]);
    let mut params = json!({"cwd": cwd, "mcpServers": servers, "additionalDirectories": ["/home/lib", "/opt"]});
    if method != "session/new" {
        told(store, world, agent);
        params["sessionId"] = "s1".into();
    }
    let mut desk = Desk::ready(store, world, agent);
    let out = desk.client(json!({"id": "open", "method": method, "params": params}));
    if method == "session/new" {
        desk.agent(json!({"id": "open", "result": {"sessionId": "s1"}}));
    } else {
        oblige(&mut desk, out, TOLD, "fresh").answer("open");
    }
    desk
}

#[test]
fn an_agent_that_was_started_again_opens_a_session_where_it_has_been_moved_to() {
    for agent in agents() {
        for method in ["session/new", "session/load", "session/resume"] {
            for is_lost in [false, true] {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut desk = opened(&store, &world, &agent, method, CWD);
                moved(&store, &world, 10, false);
                if is_lost {
                    desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
                    desk.pull();
                }
                for again in ["once", "and once more"] {
                    let params = opened_again(&mut desk, &agent);
                    assert_eq!(params["cwd"], MOVED, "{agent} {method} {again}");
                    assert_eq!(params["additionalDirectories"], json!(["/srv/ada/lib", "/opt"]), "{agent} {method}");
                    assert_eq!(params["mcpServers"][0]["name"], SERVERS, "what else it was opened with is as it was");
                }
                assert_eq!(place(&mut desk, "s1"), MOVED, "{agent} {method}");
            }
        }
    }
}

#[test]
fn a_client_that_opens_a_session_where_it_was_before_it_has_been_moved_has_it_there() {
    for agent in agents() {
        for is_detached in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = opened(&store, &world, &agent, "session/load", CWD);
            moved(&store, &world, 10, false);
            if is_detached {
                desk.revive(&agent);
            } else {
                leave(desk);
                desk = Desk::ready(&store, &world, &agent);
            }
            let params = json!({"sessionId": "s1", "cwd": CWD, "mcpServers": []});
            let out = desk.client(json!({"id": "load", "method": "session/load", "params": params}));
            assert_eq!(out.agent[0]["params"]["cwd"], CWD);
            oblige(&mut desk, out, TOLD, "fresh").answer("load");
            assert_eq!(opened_again(&mut desk, &agent)["cwd"], CWD, "{agent} {is_detached}");
            assert_eq!(place(&mut desk, "s1"), CWD);
        }
    }
}

#[test]
fn a_client_that_opens_a_session_elsewhere_of_a_store_that_cannot_be_written_has_it_there() {
    for agent in agents() {
        for is_lost in [false, true] {
            let (store, world) = (Faulty::default(), World::unrecorded());
            told(&store, &world, &agent);
            store.fail(0, usize::MAX, StorageError::ReadOnly);
            let mut desk = Desk::ready(&store, &world, &agent);
            let params = json!({"sessionId": "s1", "cwd": "/elsewhere", "mcpServers": []});
            let out = desk.client(json!({"id": "load", "method": "session/load", "params": params}));
            assert!(oblige(&mut desk, out, TOLD, "fresh").answer("load")["error"].is_null());
            if is_lost {
                desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
                desk.pull();
            }
            assert_eq!(opened_again(&mut desk, &agent)["cwd"], "/elsewhere", "{agent} {is_lost}");
        }
    }
}

#[test]
fn a_session_that_only_its_agent_has_stays_where_it_was_moved_though_the_agents_list_lacks_it_for_a_while() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let list = json!({"sessionCapabilities": {"list": {}}});
    let mut rows = ["o1", "o2"].map(|id| row(id, "Title", "2025-01-01T00:00:00Z"));
    rows[1]["cwd"] = json!("/elsewhere");
    leave(listing(&store, &world, "a", &list, &rows));
    assert_eq!(moved(&store, &world, 100, false).len(), 1);
    let mut desk = listing(&store, &world, "a", &list, &[]);
    assert_eq!((desk.listed(), place(&mut desk, "o1")), (vec!["o1".to_owned()], MOVED.to_owned()));
    leave(desk);
    let mut desk = listing(&store, &world, "a", &list, &rows);
    assert_eq!((desk.listed().len(), place(&mut desk, "o1")), (2, MOVED.to_owned()));
}
