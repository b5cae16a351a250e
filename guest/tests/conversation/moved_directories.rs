//! Further directories of sessions that follow a folder which was renamed or moved.

use acp_sessions_corpus::Call;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World};
use crate::scenes::{CWD, TOLD, ask_prompt, leave, listing, oblige, row};

const OLD: &str = "/home";
const NEW: &str = "/srv/ada";
const MOVED: &str = "/srv/ada/x";

fn loads() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"additionalDirectories": {}}})
}

/// A connection on which the session `s1` was made in this directory, with these further ones.
fn made<'a>(store: &'a Memory, world: &'a World, cwd: &str, directories: &[&str]) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, &loads());
    let params = json!({"cwd": cwd, "mcpServers": [], "additionalDirectories": directories});
    desk.client(json!({"id": "new", "method": "session/new", "params": params}));
    desk.agent(json!({"id": "new", "result": {"sessionId": "s1"}}));
    desk.turn("s1", "First", &["One"]);
    desk
}

/// A connection to an agent whose list has the session `s1` with these, used at that second.
fn told<'a>(store: &'a Memory, world: &'a World, directories: &[&str], second: u32) -> Desk<'a> {
    let mut row = row("s1", "Title", &format!("2025-10-09T08:53:{second:02}Z"));
    row["additionalDirectories"] = json!(directories);
    listing(store, world, "a", &loads(), &[row])
}

fn move_folder(store: &Memory, world: &World, old: &str, new: &str) -> Value {
    let (old_cwd, new_cwd) = (old.to_owned(), new.to_owned());
    let call = Call::MoveSessions { old_cwd, new_cwd, limit: 10, cursor: None, dry_run: false };
    world.recorder.typed(store, world.time(), call)["ok"]["sessions"].clone()
}

/// Where the session is, and its further directories.
fn places(desk: &mut Desk<'_>) -> (Value, Value) {
    let row = desk.ask("session/list", json!({}))["result"]["sessions"][0].clone();
    (row["cwd"].clone(), row["additionalDirectories"].clone())
}

/// The client opens it in these.
fn open(desk: &mut Desk<'_>, cwd: &str, directories: &[&str]) {
    let params = json!({"sessionId": "s1", "cwd": cwd, "mcpServers": [], "additionalDirectories": directories});
    let out = desk.client(json!({"id": "load", "method": "session/load", "params": params}));
    assert!(oblige(desk, out, TOLD, "fresh").answer("load")["error"].is_null());
}

#[test]
fn what_the_agents_own_list_says_does_not_move_them_back_until_it_says_something_else() {
    let (before, after) = (["/home/lib/", "/opt"], ["/srv/ada/lib", "/opt"]);
    for is_listed_before in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        leave(made(&store, &world, CWD, &["/home/lib", "/opt"]));
        if is_listed_before {
            leave(told(&store, &world, &before, 20));
        }
        move_folder(&store, &world, OLD, NEW);
        let there = (json!(MOVED), json!(after));
        for second in [21, 22] {
            let mut desk = told(&store, &world, &before, second);
            assert_eq!(places(&mut desk), there, "{is_listed_before} {second}");
            leave(desk);
        }
        let mut desk = told(&store, &world, &before, 23);
        open(&mut desk, MOVED, &after);
        leave(desk);
        assert_eq!(places(&mut told(&store, &world, &before, 24)), there, "it was opened where it is");
        for (said, second) in [(vec!["/opt"], 25), (after.to_vec(), 26), (before.to_vec(), 27)] {
            assert_eq!(places(&mut told(&store, &world, &said, second)).1, json!(said), "its list says something else");
        }
    }
}

#[test]
fn what_is_moved_on_or_back_is_moved_back_by_no_list_either() {
    for last in ["/third", OLD] {
        let (store, world) = (Memory::new(), World::unrecorded());
        leave(made(&store, &world, CWD, &["/home/lib"]));
        move_folder(&store, &world, OLD, NEW);
        move_folder(&store, &world, NEW, last);
        let mut desk = told(&store, &world, &["/home/lib"], 20);
        assert_eq!(places(&mut desk), (json!(format!("{last}/x")), json!([format!("{last}/lib")])));
    }
}

#[test]
fn none_is_there_twice_nor_beside_the_sessions_own_when_they_have_come_together() {
    let directories = ["/home/b", "/srv/ada/b", "/home/a", "/home/c/"];
    for cwd in ["/srv/ada/a", "/home/a"] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = made(&store, &world, cwd, &directories);
        let moved = move_folder(&store, &world, OLD, NEW);
        assert_eq!((moved.as_array().unwrap().len(), &moved[0]["directories"]), (1, &json!(3)));
        let there = (json!("/srv/ada/a"), json!(["/srv/ada/b", "/srv/ada/c"]));
        assert_eq!(places(&mut desk), there);
        // An agent that is started again is to open it with them.
        desk.revive(&loads());
        let out = ask_prompt(&mut desk, "next", "s1", "On");
        let asked = out.agent[0]["params"].clone();
        assert_eq!((&asked["cwd"], &asked["additionalDirectories"]), (&there.0, &there.1), "{cwd}");
        oblige(&mut desk, out, TOLD, "fresh").answer("next");
        leave(desk);
        assert_eq!(places(&mut told(&store, &world, &directories, 20)), there, "{cwd}");
    }
}

#[test]
fn what_another_window_has_opened_it_with_is_not_what_an_agent_that_is_started_again_is_given() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = made(&store, &world, CWD, &["/one", "/two"]);
    let mut other = Desk::ready(&store, &world, &loads());
    open(&mut other, CWD, &["/three"]);
    desk.revive(&loads());
    let out = ask_prompt(&mut desk, "next", "s1", "On");
    assert_eq!(out.agent[0]["params"]["additionalDirectories"], json!(["/one", "/two"]));
}

#[test]
fn a_folder_that_moves_to_where_a_further_directory_is_takes_its_place() {
    let (store, world) = (Memory::new(), World::unrecorded());
    leave(made(&store, &world, CWD, &[MOVED, "/opt"]));
    move_folder(&store, &world, OLD, NEW);
    let mut desk = told(&store, &world, &[MOVED, "/opt"], 20);
    assert_eq!(places(&mut desk), (json!(MOVED), json!(["/opt"])));
}

#[test]
fn what_is_moved_again_behind_an_opening_is_moved_back_by_no_list() {
    let (before, opened) = (["/home/lib", "/opt"], ["/srv/ada/lib", "/opt"]);
    let there = json!(["/srv/ada/lib", "/third"]);
    // An agent that goes on saying what it said, and one that says what it was told as the session was opened.
    for (said, other) in [(before, opened), (opened, before)] {
        let (store, world) = (Memory::new(), World::unrecorded());
        leave(made(&store, &world, CWD, &before));
        move_folder(&store, &world, OLD, NEW);
        let mut desk = told(&store, &world, &before, 20);
        open(&mut desk, MOVED, &opened);
        leave(desk);
        move_folder(&store, &world, "/opt", "/third");
        for second in [21, 22] {
            assert_eq!(places(&mut told(&store, &world, &said, second)).1, there, "{said:?} {second}");
        }
        if said == opened {
            // It has taken them, so what it said before that is news again.
            assert_eq!(places(&mut told(&store, &world, &other, 23)).1, json!(other));
        }
        assert_eq!(places(&mut told(&store, &world, &["/else"], 24)).1, json!(["/else"]));
        assert_eq!(places(&mut told(&store, &world, &said, 25)).1, json!(said));
    }
}

#[test]
fn what_a_client_has_opened_it_with_is_undone_by_nothing_that_the_agents_list_said_before() {
    let shown = |of: &[&str]| if of.is_empty() { Value::Null } else { json!(of) };
    let sets: [(&[&str], &[&str]); 4] =
        [(&["/one"], &["/two"]), (&[], &["/two"]), (&["/one"], &[]), (&["/one", "/two"], &["/two", "/three"])];
    for (before, opened) in sets {
        for takes_them in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            leave(made(&store, &world, CWD, before));
            let mut desk = told(&store, &world, before, 20);
            open(&mut desk, CWD, opened);
            leave(desk);
            let said = if takes_them { opened } else { before };
            for second in [21, 22] {
                let places = places(&mut told(&store, &world, said, second)).1;
                assert_eq!(places, shown(opened), "{before:?} {takes_them}");
            }
            // It says another thing than it said before.
            let other: &[&str] = if takes_them { before } else { &["/else"] };
            assert_eq!(places(&mut told(&store, &world, other, 23)).1, shown(other), "{before:?} {takes_them}");
        }
    }
}

#[test]
fn what_one_agents_client_has_opened_it_with_is_undone_by_no_other_agents_list_either() {
    let (store, world) = (Memory::new(), World::unrecorded());
    leave(made(&store, &world, CWD, &["/one"]));
    let mut desk = Desk::open(&store, &world, &[]);
    desk.greet(Some("b"), &loads());
    open(&mut desk, CWD, &["/two"]);
    leave(desk);
    assert_eq!(places(&mut told(&store, &world, &["/one"], 20)).1, json!(["/two"]));
    assert_eq!(places(&mut told(&store, &world, &["/three"], 21)).1, json!(["/three"]));
}
