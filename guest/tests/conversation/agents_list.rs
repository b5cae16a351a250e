//! The agent's own list of sessions, and the list that the client gets.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, update};
use crate::scenes::{CWD, ask_load, leave, lines, listing, load, oblige, row, said, told};

const LONG_AGO: &str = "2025-01-01T00:00:00Z";

fn lists() -> Value {
    json!({"sessionCapabilities": {"list": {}}})
}

fn ids(answer: &Value) -> Vec<&str> {
    let rows = answer["result"]["sessions"].as_array().unwrap();
    rows.iter().map(|row| row["sessionId"].as_str().unwrap()).collect()
}

fn ask_list(desk: &mut Desk<'_>) -> crate::desk::Out {
    desk.client(json!({"id": "list", "method": "session/list", "params": {}}))
}

#[test]
fn the_first_list_waits_for_all_pages_of_the_agents() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let out = desk.greet(Some("a"), &lists());
    let first = out.request("session/list");
    let mut out = ask_list(&mut desk);
    assert!(out.is_open("list"), "{:?}", out.client);
    out.extend(desk.reply(&first, json!({"sessions": [row("o1", "One", LONG_AGO)], "nextCursor": "2"})));
    let second = out.request("session/list");
    assert!(out.is_open("list"), "{:?}", out.client);
    out.extend(desk.reply(&second, json!({"sessions": [row("o2", "Two", LONG_AGO)]})));
    out.extend(desk.wait(0));
    let mut listed = ids(out.answer("list"));
    listed.sort_unstable();
    assert_eq!(listed, ["o1", "o2"]);
}

#[test]
fn the_first_list_has_a_long_page_whole() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let asked = desk.greet(Some("a"), &lists()).request("session/list");
    let mut out = ask_list(&mut desk);
    let rows: Vec<Value> = (0..90).map(|number| row(&format!("o{number}"), "Old", LONG_AGO)).collect();
    out.extend(desk.reply(&asked, json!({ "sessions": rows })));
    for _ in 0..10 {
        out.extend(desk.wait(0));
    }
    assert_eq!(ids(out.answer("list")).len(), 90);
}

#[test]
fn the_first_list_waits_for_a_silent_agent_no_longer_than_a_second() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    desk.greet(Some("a"), &lists()).request("session/list");
    let mut out = ask_list(&mut desk);
    out.extend(desk.wait(900));
    assert!(out.is_open("list"));
    out.extend(desk.wait(150));
    assert!(ids(out.answer("list")).is_empty());
}

#[test]
fn the_first_list_is_answered_though_the_agents_own_fails() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let asked = desk.greet(Some("a"), &lists()).request("session/list");
    let mut out = ask_list(&mut desk);
    out.extend(desk.refuse(&asked, -32603));
    out.extend(desk.wait(1100));
    assert!(ids(out.answer("list")).is_empty());
}

#[test]
fn a_list_that_waits_can_be_cancelled() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let asked = desk.greet(Some("a"), &lists()).request("session/list");
    ask_list(&mut desk);
    let mut out = desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "list"}}));
    out.extend(desk.reply(&asked, json!({"sessions": []})));
    out.extend(desk.wait(1100));
    assert_eq!(out.answer("list")["error"]["code"], -32800);
}

#[test]
fn a_list_that_was_complete_once_waits_no_more() {
    let (store, world) = (Memory::new(), World::default());
    listing(&store, &world, "a", &lists(), &[row("o1", "One", LONG_AGO)]);
    let mut desk = Desk::open(&store, &world, &[]);
    desk.greet(Some("a"), &lists());
    let out = ask_list(&mut desk);
    assert_eq!(ids(out.answer("list")), ["o1"]);
    // Another agent's has never been read.
    let mut desk = Desk::open(&store, &world, &[]);
    desk.greet(Some("b"), &lists());
    assert!(ask_list(&mut desk).is_open("list"));
}

#[test]
fn an_agent_without_a_name_is_known_by_the_one_in_the_settings() {
    let (store, world) = (Memory::new(), World::default());
    for _ in 0..2 {
        let mut desk = Desk::open(&store, &world, &[("agent", "the-agent")]);
        let asked = desk.greet(None, &lists()).request("session/list");
        desk.reply(&asked, json!({"sessions": [row("o1", "One", LONG_AGO)]}));
        desk.wait(0);
        assert_eq!(desk.listed(), ["o1"]);
    }
}

#[test]
fn a_session_that_a_window_has_open_is_not_forgotten_because_the_agents_list_lacks_it() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"list": {}, "resume": {}}});
    let mut desk = listing(&store, &world, "a", &capabilities, &[row("o1", "One", LONG_AGO)]);
    let out = ask_load(&mut desk, "load", "o1");
    oblige(&mut desk, out, &[], "fresh");
    let mut other = listing(&store, &world, "a", &capabilities, &[]);
    assert_eq!(other.listed(), ["o1"]);
    desk.turn("o1", "Hello", &["Hi"]);
    assert_eq!(other.listed(), ["o1"]);
    assert_eq!(said(&load(&mut other, "o1", &[]).client), ["> Hello", "Hi"]);
}

#[test]
fn a_session_that_its_user_has_named_is_not_forgotten_because_the_agents_list_lacks_it() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &lists(), &[row("o1", "One", LONG_AGO), row("o2", "Two", LONG_AGO)]);
    desk.ask("session/set_title", json!({"sessionId": "o1", "title": "Mine"}));
    let mut desk = listing(&store, &world, "a", &lists(), &[]);
    assert_eq!(desk.listed(), ["o1"]);
    let mut desk = listing(&store, &world, "a", &lists(), &[row("o1", "One", LONG_AGO)]);
    assert_eq!(desk.ask("session/list", json!({}))["result"]["sessions"][0]["title"], "Mine");
}

#[test]
fn an_answer_without_sessions_is_no_list_and_takes_nothing_away() {
    for answer in [json!({}), json!({"sessions": null}), json!({"sessions": {}})] {
        let (store, world) = (Memory::new(), World::default());
        listing(&store, &world, "a", &lists(), &[row("o1", "One", LONG_AGO)]);
        let mut desk = Desk::open(&store, &world, &[]);
        let asked = desk.greet(Some("a"), &lists()).request("session/list");
        desk.reply(&asked, answer);
        desk.wait(1100);
        assert_eq!(desk.listed(), ["o1"]);
    }
}

#[test]
fn the_agents_list_is_read_again_once_the_user_is_logged_in() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let asked = desk.greet(Some("a"), &lists()).request("session/list");
    desk.refuse(&asked, -32000);
    let out = desk.client(json!({"id": "login", "method": "authenticate", "params": {"methodId": "m"}}));
    let login = out.request("authenticate");
    let failed = desk.refuse(&login, -32603);
    assert!(failed.asked("session/list").is_none());
    let out = desk.client(json!({"id": "login", "method": "authenticate", "params": {"methodId": "m"}}));
    let mut out = desk.reply(&out.request("authenticate"), json!({}));
    out.extend(desk.wait(0));
    assert_eq!(out.answer("login")["result"], json!({}));
    desk.reply(&out.request("session/list"), json!({"sessions": [row("o1", "One", LONG_AGO)]}));
    desk.wait(0);
    assert_eq!(desk.listed(), ["o1"]);
}

#[test]
fn what_the_agent_says_of_a_session_that_is_not_open_reaches_list_and_client() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &json!({}), &[row("o1", "One", LONG_AGO)]);
    let info = json!({"sessionUpdate": "session_info_update", "title": "Better"});
    let out = desk.agent(update("o1", info));
    assert_eq!(out.client.len(), 1);
    assert_eq!(out.client[0]["params"]["sessionId"], "o1");
    let answer = desk.ask("session/list", json!({}));
    assert_eq!(answer["result"]["sessions"][0]["title"], "Better");
}

#[test]
fn what_the_agent_says_of_a_session_with_a_mapped_id_is_told_by_the_clients_id() {
    let (store, world) = (Memory::new(), World::default());
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    assert_eq!(other.new_session("1", CWD), "1");
    other.turn("1", "Of b", &["Yes"]);
    let mut desk = listing(&store, &world, "a", &json!({}), &[row("1", "Of a", LONG_AGO)]);
    let answer = desk.ask("session/list", json!({"_meta": {"acp-sessions": {"agents": "all"}}}));
    let mapped = ids(&answer).into_iter().find(|id| *id != "1").unwrap().to_owned();
    let out = desk.agent(update("1", json!({"sessionUpdate": "session_info_update", "title": "Better"})));
    assert_eq!(out.client[0]["params"]["sessionId"], *mapped);
    let answer = desk.ask("session/list", json!({"_meta": {"acp-sessions": {"agents": "all"}}}));
    let titles: Vec<_> = answer["result"]["sessions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| (row["sessionId"] == *mapped, row["title"].as_str().unwrap()))
        .collect();
    assert_eq!(titles.len(), 2);
    assert!(titles.contains(&(true, "Better")) && titles.contains(&(false, "Of b")), "{titles:?}");
}

#[test]
fn a_list_shows_the_sessions_of_the_agent_behind_it_unless_all_are_asked_for() {
    let (store, world) = (Memory::new(), World::default());
    for agent in ["a", "b"] {
        let mut desk = Desk::open(&store, &world, &[]);
        desk.greet(Some(agent), &json!({}));
        let id = desk.new_session(&format!("of-{agent}"), CWD);
        desk.turn(&id, agent, &[agent]);
    }
    for (settings, params, expected) in [
        (&[][..], json!({}), &["of-b"][..]),
        (&[], json!({"_meta": {"acp-sessions": {"agents": "all"}}}), &["of-a", "of-b"]),
        (&[("list", "own")], json!({}), &["of-b"]),
        (&[("list", "all")], json!({}), &["of-a", "of-b"]),
        (&[("list", "all")], json!({"_meta": {"acp-sessions": {"agents": "own"}}}), &["of-b"]),
    ] {
        let mut desk = Desk::open(&store, &world, settings);
        desk.greet(Some("b"), &json!({}));
        let answer = desk.ask("session/list", params.clone());
        let mut listed = ids(&answer);
        listed.sort_unstable();
        assert_eq!(listed, expected, "{settings:?} {params}");
    }
}

#[test]
fn equal_ids_of_two_agents_are_two_sessions() {
    let (store, world) = (Memory::new(), World::default());
    let mut first = Desk::open(&store, &world, &[]);
    first.greet(Some("b"), &json!({}));
    let of_b = first.new_session("1", CWD);
    first.turn(&of_b, "Of b", &["Yes"]);
    let turns = &[("Of a", "No")];
    let mut desk = listing(&store, &world, "a", &json!({"loadSession": true}), &[row("1", "Of a", LONG_AGO)]);
    let answer = desk.ask("session/list", json!({"_meta": {"acp-sessions": {"agents": "all"}}}));
    let of_a = ids(&answer).into_iter().find(|id| *id != of_b).unwrap().to_owned();
    assert_eq!(said(&load(&mut desk, &of_a, turns).client), lines(&[turns]));
    desk.ask("session/delete", json!({"sessionId": of_a}));
    let mut first = Desk::open(&store, &world, &[]);
    first.greet(Some("b"), &json!({}));
    assert_eq!(said(&load(&mut first, &of_b, &[]).client), lines(&[&[("Of b", "Yes")]]));
}

#[test]
fn a_title_that_came_while_a_session_was_being_made_counts_though_it_never_was() {
    for is_lost in [false, true] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let id = desk.new_session("s1", CWD);
        let fork = json!({"id": "fork", "method": "session/fork", "params": {"sessionId": id, "cwd": CWD}});
        desk.client(fork).request("session/new");
        if is_lost {
            desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
            desk.pull();
        }
        desk.ask("session/close", json!({"sessionId": id}));
        desk.agent(update("s1", json!({"sessionUpdate": "session_info_update", "title": "Named late"})));
        desk.engine.peer_closed(Peer::Agent);
        desk.pull();
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let list = desk.ask("session/list", json!({}));
        assert_eq!(list["result"]["sessions"][0]["title"], "Named late", "an instance was lost: {is_lost}");
    }
}

#[test]
fn the_title_of_a_session_that_the_agent_has_begun_anew_is_that_of_the_new_one() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = ask_load(&mut desk, "load", &id);
    oblige(&mut desk, out, &[], "s2").answer("load");
    desk.turn(&id, "Third question", &["Third answer"]);
    let (old, new) = (row("s1", "Of the old one", LONG_AGO), row("s2", "Of the new one", LONG_AGO));
    for rows in [[old.clone(), new.clone()], [new, old]] {
        let mut desk = listing(&store, &world, "a", &json!({}), &rows);
        let listed = desk.ask("session/list", json!({}))["result"]["sessions"].clone();
        assert_eq!(listed[0]["title"], "Of the new one", "{rows:?}");
    }
}

#[test]
fn a_new_session_that_the_agents_list_tells_of_before_it_is_answered_has_no_twin() {
    for (is_listed_before, is_lost) in [(false, false), (true, false), (false, true), (true, true)] {
        let (store, world) = (Memory::new(), World::default());
        let rows = [row("n1", "New", LONG_AGO)];
        if is_listed_before {
            leave(listing(&store, &world, "a", &json!({}), &rows));
        }
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": "/home/y", "mcpServers": []}}));
        let mut other = listing(&store, &world, "a", &json!({}), &rows);
        assert_eq!(other.listed(), ["n1"]);
        if is_lost {
            desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
        }
        let out = desk.agent(json!({"id": "new", "result": {"sessionId": "n1"}}));
        let id = out.answer("new")["result"]["sessionId"].as_str().unwrap().to_owned();
        // One that was there before is another, which has given its id away.
        assert_eq!(id == "n1", !is_listed_before);
        let answer = desk.ask("session/list", json!({}));
        let listed = answer["result"]["sessions"].as_array().unwrap();
        assert_eq!(listed.len(), if is_listed_before { 2 } else { 1 });
        assert_eq!(listed[0]["cwd"], "/home/y");
        desk.turn(&id, "Hi", &["Ho"]);
        leave(desk);
        leave(other);
        let mut desk = listing(&store, &world, "a", &json!({}), &rows);
        assert_eq!(said(&load(&mut desk, &id, &[]).client), ["> Hi", "Ho"]);
    }
}

#[test]
fn which_session_another_was_forked_from_is_taken_from_the_agents_list() {
    let (store, world) = (Memory::new(), World::default());
    let fork = |id: &str, parent: &str| {
        let mut fork = row(id, id, LONG_AGO);
        fork["forkedFrom"] = parent.into();
        fork
    };
    let parents = |desk: &mut Desk<'_>| -> Vec<Value> {
        let answer = desk.ask("session/list", json!({"limit": 10, "_meta": {"acp-sessions": {"agents": "all"}}}));
        let rows = answer["result"]["sessions"].as_array().unwrap().iter();
        rows.map(|row| json!([row["sessionId"], row["forkedFrom"]])).collect()
    };
    // By another agent's id the session is another one.
    leave(listing(&store, &world, "b", &json!({}), &[row("p1", "Theirs", LONG_AGO)]));
    let rows = [fork("f1", "p1"), row("p1", "p1", LONG_AGO), fork("f2", "f2"), fork("f3", "nobody's")];
    let mut desk = listing(&store, &world, "a", &json!({}), &rows);
    let listed = parents(&mut desk);
    let own = listed.iter().map(|row| row[0].as_str().unwrap()).find(|id| id.starts_with("sess_")).unwrap();
    assert!(listed.contains(&json!(["f1", own])), "{listed:?}");
    assert!(listed.contains(&json!(["f2", null])) && listed.contains(&json!(["f3", null])), "{listed:?}");
    leave(desk);
    // Once it is known, a later list need not say it again.
    let mut desk = listing(&store, &world, "a", &json!({}), &[row("f1", "f1", LONG_AGO), row("p1", "p1", LONG_AGO)]);
    assert!(parents(&mut desk).contains(&json!(["f1", own])));
}

#[test]
fn sessions_without_a_date_stand_behind_those_that_have_one() {
    let dateless = |id: &str| json!({"sessionId": id, "cwd": CWD, "title": "Undated"});
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let asked = desk.greet(Some("a"), &lists()).request("session/list");
    let mut out = ask_list(&mut desk);
    out.extend(desk.reply(&asked, json!({"sessions": [dateless("o1"), row("o2", "Old", LONG_AGO), dateless("o3")]})));
    out.extend(desk.wait(0));
    assert_eq!(ids(out.answer("list")), ["o2", "o3", "o1"]);
    let narrowed =
        |own: Value| json!({"id": "list", "method": "session/list", "params": {"_meta": {"acp-sessions": own}}});
    // When such a session was created is known nevertheless: no later than it was found.
    for (bounds, expected) in [
        (json!({"createdAfter": "2025-06-01T00:00:00Z"}), vec!["o3", "o1"]),
        (json!({"createdBefore": "2025-06-01T00:00:00Z"}), vec!["o2"]),
        (json!({"createdAfter": "2025-06-01T00:00:00Z", "search": "undated"}), vec!["o3", "o1"]),
        (
            json!({"createdAfter": "2024-06-01T00:00:00Z", "createdBefore": "2040-01-01T00:00:00Z"}),
            vec!["o2", "o3", "o1"],
        ),
        (json!({"updatedAfter": "2024-06-01T00:00:00Z"}), vec!["o2"]),
    ] {
        let answer = desk.client(narrowed(bounds.clone()));
        assert_eq!(ids(answer.answer("list")), expected, "{bounds}");
    }
    // Once it has a date it stands by that.
    desk.agent(update("o1", json!({"sessionUpdate": "session_info_update", "updatedAt": "2025-02-01T00:00:00Z"})));
    let mut again = ask_list(&mut desk);
    again.extend(desk.wait(0));
    assert_eq!(ids(again.answer("list")), ["o1", "o2", "o3"]);
}
