//! What is put away here and at the agent: each follows the other, and the later change counts.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, update};
use crate::scenes::{CWD, leave, lists_to_its_end, row, told};

const LONG_AGO: &str = "2025-01-01T00:00:00Z";

fn archives() -> Value {
    json!({"sessionCapabilities": {"archive": {}, "list": {}}})
}

/// An agent that lists, and says what is archived without being able to archive for others.
fn lists() -> Value {
    json!({"sessionCapabilities": {"list": {}}})
}

/// A row of an agent that can archive.
fn put_away(id: &str, archived: bool) -> Value {
    let mut row = row(id, "Title", LONG_AGO);
    row["archived"] = archived.into();
    row
}

/// A new connection, whose list the agent answers with these rows, and what it was asked on it.
fn connect<'a>(store: &'a Memory, world: &'a World, capabilities: &Value, rows: &[Value]) -> (Desk<'a>, Out) {
    let mut desk = Desk::open(store, world, &[]);
    let out = desk.greet(Some("a"), capabilities);
    let out = lists_to_its_end(&mut desk, out, rows);
    (desk, out)
}

/// The ids in the default list and in that of the archived sessions.
fn shelves(desk: &mut Desk<'_>) -> [Vec<String>; 2] {
    ["exclude", "only"].map(|archived| {
        let answer = desk.ask("session/list", json!({ "archived": archived }));
        let rows = answer["result"]["sessions"].as_array().unwrap();
        rows.iter()
            .map(|row| {
                assert_eq!(row["archived"], archived == "only");
                row["sessionId"].as_str().unwrap().to_owned()
            })
            .collect()
    })
}

/// Where a session is: in the default list, or among the archived.
fn is_archived(desk: &mut Desk<'_>, id: &str) -> bool {
    let [listed, archived] = shelves(desk);
    assert_eq!(listed.len() + archived.len(), 1, "{listed:?} {archived:?}");
    archived == [id]
}

fn archive(desk: &mut Desk<'_>, id: &str, archived: bool) -> Out {
    let method = if archived { "session/archive" } else { "session/unarchive" };
    let out = desk.client(json!({"id": "archive", "method": method, "params": {"sessionId": id}}));
    assert_eq!(out.answer("archive")["result"], json!({}));
    out
}

#[test]
fn what_an_agent_has_archived_is_no_vanished_session() {
    let (store, world) = (Memory::new(), World::default());
    let (mut desk, out) = connect(&store, &world, &archives(), &[put_away("o1", true), put_away("o2", false)]);
    assert_eq!(out.request("session/list")["params"], json!({"archived": "include"}));
    assert_eq!(shelves(&mut desk), [vec!["o2".to_owned()], vec!["o1".to_owned()]]);
}

#[test]
fn every_page_is_asked_for_with_what_is_archived() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let asked = desk.greet(Some("a"), &archives()).request("session/list");
    let out = desk.reply(&asked, json!({"sessions": [put_away("o1", true)], "nextCursor": "2"}));
    assert_eq!(out.request("session/list")["params"], json!({"archived": "include", "cursor": "2"}));
    // Who cannot archive is asked as ever.
    let mut desk = Desk::open(&store, &world, &[]);
    assert_eq!(desk.greet(Some("b"), &lists()).request("session/list")["params"], json!({}));
}

#[test]
fn an_agent_that_refuses_to_list_what_it_has_archived_takes_nothing_away() {
    let (store, world) = (Memory::new(), World::default());
    drop(connect(&store, &world, &archives(), &[put_away("o1", false), put_away("o2", false)]));
    let mut desk = Desk::open(&store, &world, &[]);
    let asked = desk.greet(Some("a"), &archives()).request("session/list");
    let out = desk.refuse(&asked, -32602);
    let again = out.request("session/list");
    assert_eq!(again["params"], json!({}));
    desk.reply(&again, json!({"sessions": [put_away("o2", false)]}));
    desk.wait(0);
    assert_eq!(desk.listed().len(), 2, "o1 may be archived");
    // It refuses that as well: that is all.
    let mut desk = Desk::open(&store, &world, &[]);
    let asked = desk.greet(Some("a"), &archives()).request("session/list");
    let out = desk.refuse(&asked, -32602);
    assert!(desk.refuse(&out.request("session/list"), -32602).agent.is_empty());
    assert_eq!(desk.listed().len(), 2);
}

#[test]
fn the_later_change_counts() {
    // What the agent's list says at one start after the other, what the user does after each, and whether the
    // session is archived then.
    type Step = (Option<bool>, Option<bool>, bool);
    let cases: [&[Step]; 7] = [
        // The agent alone.
        &[(Some(false), None, false), (Some(true), None, true), (Some(false), None, false)],
        // The user archives, the agent never does.
        &[(Some(false), Some(true), true), (Some(false), None, true), (Some(false), Some(false), false)],
        // The agent archives, the user brings it back, the agent still has it archived.
        &[(Some(true), Some(false), false), (Some(true), None, false), (Some(true), None, false)],
        // And then it brings it back itself, and archives it anew.
        &[(Some(true), Some(false), false), (Some(false), None, false), (Some(true), None, true)],
        // The user archives, then the agent too, then the agent brings it back.
        &[(Some(false), Some(true), true), (Some(true), None, true), (Some(false), None, false)],
        // A list that does not say, or says nothing that can be read.
        &[(None, Some(true), true), (None, None, true), (Some(false), None, true)],
        &[(Some(true), None, true), (None, None, true), (None, Some(false), false)],
    ];
    for (nth, steps) in cases.into_iter().enumerate() {
        let (store, world) = (Memory::new(), World::default());
        for (listed, does, expected) in steps {
            let mut listing = row("o1", "Title", LONG_AGO);
            listing["archived"] = listed.map_or(json!("perhaps"), Into::into);
            let (mut desk, _) = connect(&store, &world, &lists(), &[listing]);
            if let Some(archived) = does {
                archive(&mut desk, "o1", *archived);
            }
            assert_eq!(is_archived(&mut desk, "o1"), *expected, "case {nth}: {listed:?} {does:?}");
        }
    }
}

#[test]
fn an_agent_that_can_archive_is_told_and_asked_again_until_it_has() {
    let (store, world) = (Memory::new(), World::default());
    told(&store, &world, &json!({}));
    for archived in [true, false] {
        let method = if archived { "session/archive" } else { "session/unarchive" };
        let (mut desk, _) = connect(&store, &world, &archives(), &[put_away("s1", !archived)]);
        let out = archive(&mut desk, "s1", archived);
        assert_eq!(out.request(method)["params"], json!({"sessionId": "s1"}));
        // It did not, or did not say so.
        for refuses in [false, true] {
            let (mut desk, out) = connect(&store, &world, &archives(), &[put_away("s1", !archived)]);
            let asked = out.request(method);
            assert_eq!(asked["params"], json!({"sessionId": "s1"}));
            if refuses {
                desk.refuse(&asked, -32603);
            }
            assert_eq!(is_archived(&mut desk, "s1"), archived);
        }
        let (mut desk, out) = connect(&store, &world, &archives(), &[put_away("s1", !archived)]);
        desk.reply(&out.request(method), json!({}));
        let (mut desk, out) = connect(&store, &world, &archives(), &[put_away("s1", archived)]);
        assert!(out.asked("session/archive").or(out.asked("session/unarchive")).is_none(), "{:?}", out.agent);
        assert_eq!(is_archived(&mut desk, "s1"), archived);
        // From now on a change is the agent's.
        let (mut desk, out) = connect(&store, &world, &archives(), &[put_away("s1", !archived)]);
        assert!(out.asked("session/archive").or(out.asked("session/unarchive")).is_none(), "{:?}", out.agent);
        assert_eq!(is_archived(&mut desk, "s1"), !archived);
        drop(connect(&store, &world, &archives(), &[put_away("s1", archived)]));
    }
}

#[test]
fn an_open_session_is_closed_before_the_agent_archives_it() {
    let (store, world) = (Memory::new(), World::default());
    let mut capabilities = archives();
    capabilities["sessionCapabilities"]["close"] = json!({});
    let (mut desk, _) = connect(&store, &world, &capabilities, &[]);
    desk.new_session("s1", CWD);
    let out = desk.client(json!({"id": "archive", "method": "session/archive", "params": {"sessionId": "s1"}}));
    assert!(out.asked("session/archive").is_none());
    let out = desk.reply(&out.request("session/close"), json!({}));
    assert_eq!(out.request("session/archive")["params"], json!({"sessionId": "s1"}));
    assert_eq!(out.answer("archive")["result"], json!({}));
}

#[test]
fn a_list_from_before_a_change_does_not_undo_it() {
    let (store, world) = (Memory::new(), World::default());
    drop(connect(&store, &world, &archives(), &[put_away("o1", false)]));
    for archived in [true, false] {
        let mut desk = Desk::open(&store, &world, &[]);
        let list = desk.greet(Some("a"), &archives()).request("session/list");
        let out = archive(&mut desk, "o1", archived);
        let asked = out.agent.last().unwrap().clone();
        desk.reply(&asked, json!({}));
        // The list was made before the agent was told.
        desk.reply(&list, json!({"sessions": [put_away("o1", !archived)]}));
        desk.wait(0);
        assert_eq!(is_archived(&mut desk, "o1"), archived);
    }
}

#[test]
fn who_cannot_archive_or_does_not_know_the_session_is_not_told() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = Desk::open(&store, &world, &[]);
    desk.greet(Some("b"), &json!({"sessionCapabilities": {"archive": {}}}));
    assert!(archive(&mut desk, &id, true).agent.is_empty());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert!(archive(&mut desk, &id, false).agent.is_empty());
}

#[test]
fn a_sub_agents_session_is_archived_with_the_agents_though_its_list_gives_no_directory_for_it() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.new_session("s1", CWD);
    let announced = json!({"sessionUpdate": "subagent_update", "sessionId": "c1", "title": "Child"});
    desk.agent(update("s1", announced));
    leave(desk);
    // Of what the layer does not know, nobody could tell where it is.
    let nowhere = ["c1", "unknown"].map(|id| json!({"sessionId": id, "cwd": "", "archived": true}));
    let (mut desk, _) = connect(&store, &world, &archives(), &nowhere);
    let all = json!({"archived": "only", "_meta": {"acp-sessions": {"subagents": true}}});
    let rows = desk.ask("session/list", all)["result"]["sessions"].clone();
    let rows: Vec<[&Value; 2]> = rows.as_array().unwrap().iter().map(|row| [&row["sessionId"], &row["cwd"]]).collect();
    assert_eq!(rows, [[&json!("c1"), &json!(CWD)]]);
}

#[test]
fn an_agent_that_was_away_is_told_both_what_was_put_away_and_what_its_user_calls_it() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut capabilities = archives();
    capabilities["sessionCapabilities"]["title"] = json!({});
    drop(connect(&store, &world, &capabilities, &[put_away("o1", false)]));
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    archive(&mut other, "o1", true);
    other.ask("session/set_title", json!({"sessionId": "o1", "title": "Mine"}));
    let (_, out) = connect(&store, &world, &capabilities, &[put_away("o1", false)]);
    assert_eq!(out.request("session/archive")["params"], json!({"sessionId": "o1"}));
    assert_eq!(out.request("session/set_title")["params"], json!({"sessionId": "o1", "title": "Mine"}));
}

#[test]
fn what_its_user_has_put_away_or_brought_back_is_not_forgotten_because_the_agents_list_lacks_it() {
    for (capabilities, follows) in [(lists(), false), (archives(), false), (archives(), true)] {
        for archived in [true, false] {
            let what = format!("archived: {archived}, the agent follows: {follows}");
            let (store, world) = (Memory::new(), World::unrecorded());
            let both = [put_away("o1", !archived), put_away("o2", archived)];
            let (mut desk, _) = connect(&store, &world, &capabilities, &both);
            let out = archive(&mut desk, "o1", archived);
            if follows {
                let method = if archived { "session/archive" } else { "session/unarchive" };
                desk.reply(&out.request(method), json!({}));
            }
            leave(desk);
            let (mut desk, _) = connect(&store, &world, &capabilities, &[]);
            // What its user has brought back as the agent has is as it was before anybody put it away.
            let kept = if follows && !archived { vec![] } else { vec!["o1".to_owned()] };
            assert_eq!(shelves(&mut desk).concat(), kept, "{what}");
            leave(desk);
            // Its list does not say whether it is put away.
            let (mut desk, _) = connect(&store, &world, &capabilities, &[row("o1", "Title", LONG_AGO)]);
            assert_eq!(is_archived(&mut desk, "o1"), archived, "{what}");
            leave(desk);
            // Once it has said so itself, nothing is here that it does not say.
            drop(connect(&store, &world, &capabilities, &[put_away("o1", archived)]));
            let (mut desk, _) = connect(&store, &world, &capabilities, &[]);
            assert!(shelves(&mut desk).concat().is_empty(), "{what}");
        }
    }
}
