//! The pages of an agent's own list, when what is listed changes between them.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::follower::{SOON, notified, subscribe};
use crate::scenes::{listing, row};

const LONG_AGO: &str = "2025-01-01T00:00:00Z";

fn lists() -> Value {
    json!({"sessionCapabilities": {"list": {}}})
}

#[test]
fn a_list_that_moves_up_while_it_is_read_because_of_a_delete_is_read_again() {
    let (store, world) = (Memory::new(), World::default());
    let rows = ["o1", "o2", "o3", "o4"].map(|id| row(id, "Own", LONG_AGO));
    let capabilities = json!({"sessionCapabilities": {"list": {}, "delete": {}}});
    let mut desk = listing(&store, &world, "a", &lists(), &rows[..3]);
    desk.ask("session/delete", json!({"sessionId": "o1"}));
    let mut desk = Desk::open(&store, &world, &[]);
    let out = desk.greet(Some("a"), &capabilities);
    let (delete, first) = (out.request("session/delete"), out.request("session/list"));
    let page = json!({"sessions": rows[..2], "nextCursor": "2"});
    let second = desk.reply(&first, page.clone()).request("session/list");
    desk.reply(&delete, json!({}));
    let out = desk.reply(&second, json!({"sessions": rows[3..]}));
    let again = out.request("session/list");
    assert!(again["params"]["cursor"].is_null(), "from the beginning");
    let second = desk.reply(&again, json!({"sessions": rows[1..3], "nextCursor": "2"})).request("session/list");
    let out = desk.reply(&second, json!({"sessions": rows[3..]}));
    assert!(out.asked("session/list").is_none(), "nothing has moved");
    desk.wait(0);
    let mut listed = desk.listed();
    listed.sort_unstable();
    assert_eq!(listed, ["o2", "o3", "o4"]);
}

#[test]
fn of_a_list_that_moves_up_each_time_it_is_read_nothing_is_concluded() {
    let (store, world) = (Memory::new(), World::default());
    let rows = ["o1", "o2", "o3"].map(|id| row(id, "Own", LONG_AGO));
    let capabilities = json!({"sessionCapabilities": {"list": {}, "delete": {}}});
    let mut desk = listing(&store, &world, "a", &lists(), &rows);
    desk.ask("session/delete", json!({"sessionId": "o1"}));
    let mut desk = Desk::open(&store, &world, &[]);
    let mut out = desk.greet(Some("a"), &capabilities);
    for time in ["first", "second"] {
        let (delete, first) = (out.request("session/delete"), out.request("session/list"));
        out = desk.reply(&first, json!({"sessions": rows[..2], "nextCursor": "2"}));
        let second = out.request("session/list");
        desk.reply(&delete, json!({}));
        out = desk.reply(&second, json!({"sessions": []}));
        if time == "first" {
            // It says that it has deleted it, and lists it again.
            let again = out.request("session/list");
            out = desk.reply(&again, json!({"sessions": rows[..1], "nextCursor": "1"}));
            out.request("session/delete");
        }
    }
    assert!(out.asked("session/list").is_none(), "it is not read for ever");
    desk.wait(0);
    let mut listed = desk.listed();
    listed.sort_unstable();
    assert_eq!(listed, ["o2", "o3"]);
}

#[test]
fn a_list_that_moves_up_while_it_is_read_because_of_what_its_agent_does_is_read_again() {
    let (store, world) = (Memory::new(), World::default());
    let rows = ["o1", "o2", "o3"].map(|id| row(id, "Own", LONG_AGO));
    listing(&store, &world, "a", &lists(), &rows);
    let mut desk = Desk::open(&store, &world, &[]);
    let first = desk.greet(Some("a"), &lists()).request("session/list");
    let second = desk.reply(&first, json!({"sessions": rows[..2], "nextCursor": "2"})).request("session/list");
    // The agent's user deletes `o1`, and what stood behind the cursor stands before it.
    let mut out = desk.reply(&second, json!({"sessions": []}));
    out.extend(desk.wait(0));
    let again = out.request("session/list");
    assert!(again["params"]["cursor"].is_null(), "from the beginning");
    let mut out = desk.reply(&again, json!({"sessions": rows[1..]}));
    out.extend(desk.wait(0));
    assert!(out.asked("session/list").is_none(), "{:?}", out.agent);
    let mut listed = desk.listed();
    listed.sort_unstable();
    assert_eq!(listed, ["o2", "o3"], "what is not listed twice is gone");
}

/// The agent is asked for its list and gives these rows, on two pages.
fn reads(desk: &mut Desk<'_>, out: &Out, [first, second]: [&[Value]; 2]) -> Out {
    let asked = desk.reply(&out.request("session/list"), json!({"sessions": first, "nextCursor": "2"}));
    let mut out = desk.reply(&asked.request("session/list"), json!({"sessions": second}));
    out.extend(desk.wait(SOON));
    out
}

#[test]
fn of_a_session_that_is_listed_twice_the_first_row_counts_in_each_reading() {
    let rows = [("twice", "First"), ("twice", "Second"), ("once", "Other"), ("twice", "Third")];
    let rows = rows.map(|(id, title)| row(id, title, LONG_AGO));
    for at in 1..4 {
        let (store, world) = (Memory::new(), World::unrecorded());
        let pages = || [&rows[..at], &rows[at..]];
        let mut desk = Desk::open(&store, &world, &[]);
        let out = desk.greet(Some("a"), &lists());
        reads(&mut desk, &out, pages());
        let (_, page) = subscribe(&mut desk, json!({}));
        let titles = |rows: &[Value]| {
            let mut titles: Vec<String> = rows.iter().map(|row| row["title"].as_str().unwrap().to_owned()).collect();
            titles.sort_unstable();
            titles
        };
        assert_eq!(titles(&page), ["First", "Other"], "{at}");
        for nth in 0..3 {
            let params = json!({"_meta": {"nth": nth}});
            let out = desk.client(json!({"id": "list", "method": "session/list", "params": params}));
            let told = reads(&mut desk, &out, pages());
            assert_eq!(notified(&told, "session/list/changes"), [Value::Null; 0], "{at}, {nth}");
        }
        assert_eq!(
            titles(desk.ask("session/list", json!({}))["result"]["sessions"].as_array().unwrap()),
            ["First", "Other"]
        );
        // A change of it is one.
        let changed = [row("twice", "Changed", LONG_AGO), rows[1].clone()];
        let out = desk.client(json!({"id": "list", "method": "session/list", "params": {"_meta": {"nth": "last"}}}));
        let told = notified(&reads(&mut desk, &out, [&changed, &rows[2..]]), "session/list/changes");
        assert_eq!(told.len(), 1, "{at}: {told:?}");
    }
}

/// The agent gives these pages, each of which but the last has a cursor that leads on, as often as it is asked for them.
fn gives(desk: &mut Desk<'_>, mut out: Out, pages: &[Vec<Value>]) {
    while let Some(asked) = out.asked("session/list").cloned() {
        let cursor = asked["params"]["cursor"].as_str();
        let at = cursor.map_or(0, |cursor| cursor.parse().unwrap());
        let mut page = json!({ "sessions": pages[at] });
        if at + 1 < pages.len() {
            page["nextCursor"] = json!((at + 1).to_string());
        }
        out = desk.reply(&asked, page);
        out.extend(desk.wait(0));
    }
}

#[test]
fn an_empty_page_that_leads_on_is_not_the_end_of_the_agents_list() {
    let rows = ["o1", "o2", "o3"].map(|id| row(id, "Own", LONG_AGO));
    let cases: [&[&[Value]]; 3] =
        [&[&rows[..1], &[], &rows[1..]], &[&[], &[], &rows], &[&rows[..2], &[], &rows[2..], &[]]];
    for pages in cases {
        let (store, world) = (Memory::new(), World::unrecorded());
        // What is behind it is taken in, and what is behind it no more is gone.
        for left in [&rows[..], &rows[..2]] {
            let rest = |page: &&[Value]| page.iter().filter(|row| left.contains(row)).cloned().collect::<Vec<_>>();
            let pages: Vec<Vec<Value>> = pages.iter().map(rest).collect();
            let mut desk = Desk::open(&store, &world, &[]);
            let out = desk.greet(Some("a"), &lists());
            gives(&mut desk, out, &pages);
            let mut listed = desk.listed();
            listed.sort_unstable();
            assert_eq!(listed, ["o1", "o2", "o3"][..left.len()], "{pages:?}");
        }
    }
}

#[test]
fn empty_pages_that_lead_nowhere_end_the_agents_list() {
    // The same cursor again, or ever another one.
    for (is_new, most) in [(false, 2), (true, 500)] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::open(&store, &world, &[]);
        let mut out = desk.greet(Some("a"), &lists());
        let mut pages = 0;
        while let Some(asked) = out.asked("session/list").cloned() {
            pages += 1;
            let cursor = if is_new { pages.to_string() } else { "again".to_owned() };
            out = desk.reply(&asked, json!({"sessions": [], "nextCursor": cursor}));
        }
        assert_eq!(pages, most);
    }
}
