//! Agents whose list, unless it is asked for a folder, has what is in one of their choice alone, as that of pi-acp has what is
//! in the folder that was opened last.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::scenes::listing;

const LONG_AGO: &str = "2025-01-01T00:00:00Z";

fn lists() -> Value {
    json!({"sessionCapabilities": {"list": {}}})
}

fn row(id: &str, folder: &str) -> Value {
    json!({"sessionId": id, "cwd": folder, "title": "Own", "updatedAt": LONG_AGO})
}

fn listed(desk: &mut Desk<'_>) -> Vec<String> {
    let mut listed = desk.listed();
    listed.sort_unstable();
    listed
}

/// A connection to an agent that has listed `a1` and `b1`, and lists the first of their folders alone now.
fn leaving_out_b<'a>(store: &'a Memory, world: &'a World) -> (Desk<'a>, Out) {
    listing(store, world, "pi", &lists(), &[row("a1", "/a"), row("b1", "/b")]);
    let mut desk = Desk::open(store, world, &[]);
    let all = desk.greet(Some("pi"), &lists()).request("session/list");
    let mut out = desk.reply(&all, json!({"sessions": [row("a1", "/a")]}));
    out.extend(desk.wait(0));
    (desk, out)
}

#[test]
fn a_session_of_a_folder_that_the_agents_list_leaves_out_is_gone_once_the_list_of_its_folder_lacks_it() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let rows = [row("a1", "/a"), row("a2", "/a"), row("b1", "/b"), row("b2", "/b"), row("c1", "/c")];
    listing(&store, &world, "pi", &lists(), &rows);
    let mut desk = Desk::open(&store, &world, &[]);
    let all = desk.greet(Some("pi"), &lists()).request("session/list");
    // Of the folder that it lists it has one session no more.
    let mut out = desk.reply(&all, json!({"sessions": [rows[0]]}));
    out.extend(desk.wait(0));
    assert_eq!(listed(&mut desk), ["a1", "b1", "b2", "c1"]);
    let of_b = out.request("session/list");
    assert_eq!(of_b["params"], json!({"cwd": "/b"}));
    let first = desk.reply(&of_b, json!({"sessions": [rows[2]], "nextCursor": "2"})).request("session/list");
    assert_eq!(first["params"], json!({"cwd": "/b", "cursor": "2"}));
    assert_eq!(listed(&mut desk), ["a1", "b1", "b2", "c1"]);
    let of_c = desk.reply(&first, json!({"sessions": [row("b3", "/b")]})).request("session/list");
    desk.wait(0);
    assert_eq!(listed(&mut desk), ["a1", "b1", "b3", "c1"], "one of them it has no more, and one is new");
    assert_eq!(of_c["params"], json!({"cwd": "/c"}));
    let mut out = desk.reply(&of_c, json!({"sessions": []}));
    out.extend(desk.wait(0));
    assert_eq!(listed(&mut desk), ["a1", "b1", "b3"]);
    assert!(out.asked("session/list").is_none(), "{:?}", out.agent);
}

#[test]
fn a_folder_of_which_the_agent_gives_no_whole_list_keeps_its_sessions() {
    let many: Vec<Value> = (0..30).map(|at| json!({"sessionId": format!("c{at}"), "cwd": "/b"})).collect();
    let cases = [
        ("no list at all", json!({}), 1),
        ("a cursor that leads nowhere", json!({"sessions": [], "nextCursor": "1"}), 2),
        ("as many as may be the newest alone, without times", json!({ "sessions": many }), 1),
    ];
    for (what, answer, asked) in cases {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut desk, mut out) = leaving_out_b(&store, &world);
        for _ in 0..asked {
            out = desk.reply(&out.request("session/list"), answer.clone());
            out.extend(desk.wait(0));
        }
        assert!(out.asked("session/list").is_none(), "{what}");
        assert!(listed(&mut desk).contains(&"b1".to_owned()), "{what}");
    }
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut desk, out) = leaving_out_b(&store, &world);
    desk.refuse(&out.request("session/list"), -32602);
    assert_eq!(listed(&mut desk), ["a1", "b1"], "refused");
}

#[test]
fn a_list_of_a_folder_that_comes_when_the_agents_list_is_read_anew_says_nothing_any_more() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut desk, out) = leaving_out_b(&store, &world);
    let of_b = out.request("session/list");
    let params = json!({"_meta": {"nth": 1}});
    let again = desk.client(json!({"id": "list", "method": "session/list", "params": params}));
    desk.reply(&again.request("session/list"), json!({"sessions": [row("a1", "/a"), row("b1", "/b")]}));
    desk.reply(&of_b, json!({"sessions": []}));
    desk.wait(0);
    assert_eq!(listed(&mut desk), ["a1", "b1"]);
}
