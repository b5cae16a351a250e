//! Rows of an agent's list that was asked for before something else was known of a session: what they say of that is no news,
//! whichever window reads them.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::agents_changes::{subscription, tell, tells_changes};
use crate::desk::{Desk, Out, World, update};
use crate::scenes::{CWD, ask_load, leave, lists_to_its_end, oblige, row};

const LONG_AGO: &str = "2025-01-01T00:00:00Z";
const LATER: &str = "2025-01-02T00:00:00Z";
const SECOND: i64 = 1000;

fn lists() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"archive": {}, "list": {}}})
}

/// A row with this title, of a session that is archived or not.
fn shelved(title: &str, archived: bool) -> Value {
    let mut row = row("s1", title, LONG_AGO);
    row["archived"] = archived.into();
    row
}

/// A window whose agent has been asked for its list, and that request.
fn reading<'a>(store: &'a Memory, world: &'a World) -> (Desk<'a>, Value) {
    let mut desk = Desk::open(store, world, &[]);
    let list = desk.greet(Some("a"), &lists()).request("session/list");
    world.now.set(world.now.get() + SECOND);
    (desk, list)
}

/// The agent's answer to that, after a while.
fn answered(desk: &mut Desk<'_>, list: &Value, rows: &[Value]) {
    desk.wait(SECOND);
    desk.reply(list, json!({ "sessions": rows }));
    desk.wait(0);
}

/// A window that has read the agent's list, which has these rows.
fn reads<'a>(store: &'a Memory, world: &'a World, rows: &[Value]) -> Desk<'a> {
    let (mut desk, list) = reading(store, world);
    answered(&mut desk, &list, rows);
    desk
}

/// The session's row in a client's list.
fn listed(desk: &mut Desk<'_>) -> Value {
    let answer = desk.ask("session/list", json!({"archived": "all"}));
    let rows = answer["result"]["sessions"].as_array().unwrap();
    assert_eq!(rows.len(), 1, "{rows:?}");
    rows[0].clone()
}

/// The user puts it away, or brings it back, and the agent follows.
fn archive(desk: &mut Desk<'_>, archived: bool) -> Out {
    let method = if archived { "session/archive" } else { "session/unarchive" };
    let mut out = desk.client(json!({"id": "away", "method": method, "params": {"sessionId": "s1"}}));
    assert_eq!(out.answer("away")["result"], json!({}));
    let asked = out.request(method);
    desk.wait(SECOND);
    out.extend(desk.reply(&asked, json!({})));
    out
}

#[test]
fn what_was_put_away_or_brought_back_stays_so_whatever_window_reads_an_older_list() {
    for archived in [true, false] {
        for is_known in [true, false] {
            let case = format!("{archived} {is_known}");
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut first = if is_known {
                reads(&store, &world, &[shelved("Title", !archived)])
            } else {
                let mut first = reads(&store, &world, &[]);
                first.new_session("s1", CWD);
                first.turn("s1", "Hi", &["Ho"]);
                if !archived {
                    archive(&mut first, true);
                }
                first
            };
            world.now.set(world.now.get() + SECOND);
            let (mut second, list) = reading(&store, &world);
            archive(&mut first, archived);
            answered(&mut second, &list, &[shelved("Title", !archived)]);
            for desk in [&mut first, &mut second] {
                assert_eq!(listed(desk)["archived"], archived, "{case}");
            }
            // So it is if the window is lost, and with what its agent says next.
            leave(second);
            let mut third = reads(&store, &world, &[shelved("Title", archived)]);
            assert_eq!(listed(&mut third)["archived"], archived, "{case}");
            // What it says later is a change at the agent.
            let mut fourth = reads(&store, &world, &[shelved("Title", !archived)]);
            assert_eq!(listed(&mut fourth)["archived"], !archived, "{case}");
        }
    }
}

#[test]
fn a_change_that_the_agent_tells_behind_that_is_one_though_its_list_was_asked_for_before() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut capabilities = tells_changes();
    capabilities["sessionCapabilities"]["archive"] = json!({});
    let mut desk = Desk::open(&store, &world, &[]);
    let out = desk.greet(Some("a"), &capabilities);
    subscription(&mut desk, &out, "theirs", &[shelved("Title", false)]);
    desk.wait(SECOND);
    archive(&mut desk, true);
    desk.wait(SECOND);
    tell(&mut desk, "theirs", &[shelved("Title", false)], &[]);
    desk.wait(0);
    assert_eq!(listed(&mut desk)["archived"], false);
}

#[test]
fn what_its_agent_calls_a_session_stays_so_whatever_window_reads_an_older_list() {
    for is_open in [true, false] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut first = reads(&store, &world, &[shelved("Old", false)]);
        if is_open {
            let out = ask_load(&mut first, "load", "s1");
            oblige(&mut first, out, &[("Hi", "Ho")], "never").answer("load");
        }
        world.now.set(world.now.get() + SECOND);
        let (mut second, list) = reading(&store, &world);
        first.agent(update("s1", json!({"sessionUpdate": "session_info_update", "title": "New"})));
        answered(&mut second, &list, &[shelved("Old", false)]);
        for desk in [&mut first, &mut second] {
            assert_eq!(listed(desk)["title"], "New", "{is_open}");
        }
        let mut third = reads(&store, &world, &[shelved("Newest", false)]);
        assert_eq!(listed(&mut third)["title"], "Newest", "{is_open}");
    }
}

#[test]
fn of_two_lists_the_one_that_was_asked_for_later_counts_whichever_comes_first() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let with = |title: &str, updated: &str, model: &str, directory: &str, archived: bool| {
        let mut row = row("s1", title, updated);
        row["model"] = model.into();
        row["additionalDirectories"] = json!([directory]);
        row["archived"] = archived.into();
        row
    };
    let (older, newer) = (with("Old", LATER, "small", "/old", true), with("New", LONG_AGO, "large", "/new", false));
    drop(reads(&store, &world, std::slice::from_ref(&older)));
    let (mut second, list) = reading(&store, &world);
    let mut third = reads(&store, &world, std::slice::from_ref(&newer));
    let shown = listed(&mut third);
    assert_eq!((&shown["title"], &shown["archived"]), (&json!("New"), &json!(false)));
    answered(&mut second, &list, std::slice::from_ref(&older));
    assert_eq!(listed(&mut second), shown, "it is what the later list has");
    // And read once more it is what it says.
    let mut fourth = Desk::open(&store, &world, &[]);
    let out = fourth.greet(Some("a"), &lists());
    lists_to_its_end(&mut fourth, out, std::slice::from_ref(&older));
    assert_eq!(listed(&mut fourth)["title"], "Old");
}
