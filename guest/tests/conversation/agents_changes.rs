//! An agent whose own list changes while the client is there: through its other programs, or by the agent itself (draft:
//! session list extensions).

use acp_sessions_guest::storage::{Memory, Storage, StorageError};
use acp_sessions_guest::time;
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World};
use crate::follower::{SOON, members, notified, one, state, subscribe, told};
use crate::scenes::{CWD, ask_load, converse, leave, listing, replay, row, said};

const LONG_AGO: &str = "2025-01-01T00:00:00Z";
const MINUTE: i64 = 60_000;

pub(crate) fn tells_changes() -> Value {
    json!({"sessionCapabilities": {"list": {"limit": {}, "changes": {}, "subscribe": {}}}})
}

/// A connection to an agent that tells what changes in its list, which has these rows.
pub(crate) fn followed<'a, S: Storage>(store: &'a S, world: &'a World, rows: &[Value]) -> Desk<'a, S> {
    let mut desk = Desk::open(store, world, &[]);
    let out = desk.greet(Some("a"), &tells_changes());
    subscription(&mut desk, &out, "theirs", rows);
    desk
}

/// The agent gives the subscription that it is asked for.
pub(crate) fn subscription<S: Storage>(desk: &mut Desk<'_, S>, out: &Out, id: &str, rows: &[Value]) {
    assert_eq!(out.asked("session/list"), None);
    desk.reply(&out.request("session/list/subscribe"), json!({"subscriptionId": id, "sessions": rows}));
    desk.wait(0);
}

/// The agent tells a change.
pub(crate) fn tell<S: Storage>(desk: &mut Desk<'_, S>, id: &str, rows: &[Value], removed: &[&str]) -> Out {
    let params = json!({"subscriptionId": id, "sessions": rows, "removed": removed});
    desk.agent(json!({"method": "session/list/changes", "params": params}))
}

pub(crate) fn stated(id: &str, state: &str) -> Value {
    let mut row = row(id, "Theirs", LONG_AGO);
    row["state"] = state.into();
    row
}

#[test]
fn what_an_agent_tells_of_its_list_is_in_the_clients_and_told_to_those_who_follow() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = followed(&store, &world, &[row("o1", "One", LONG_AGO)]);
    let (ours, page) = subscribe(&mut desk, json!({}));
    assert_eq!(members(&page, "title"), one("o1", "One"));
    let mut out = tell(&mut desk, "theirs", &[row("o2", "Two", LONG_AGO), row("o1", "Better", LONG_AGO)], &[]);
    out.extend(desk.wait(SOON));
    let (mut rows, removed) = told(&out, &ours);
    rows.sort_by_key(|row| row["sessionId"].to_string());
    assert_eq!(members(&rows, "title"), [one("o1", "Better"), one("o2", "Two")].concat());
    assert!(removed.is_empty(), "{removed:?}");
    // What the agent says to its subscriber is not said to the client.
    assert!(notified(&out, "session/list/changes").iter().all(|params| params["subscriptionId"] == *ours));
    let mut out = tell(&mut desk, "theirs", &[], &["o1", "never there"]);
    out.extend(desk.wait(SOON));
    assert_eq!(told(&out, &ours), (vec![], vec!["o1".to_owned()]));
    assert_eq!(desk.listed(), ["o2"]);
}

#[test]
fn what_is_said_without_the_layer_is_shown_though_the_agent_tells_no_change_of_times_alone() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut can = tells_changes();
    can["loadSession"] = true.into();
    can["sessionCapabilities"]["resume"] = json!({});
    let mut desk = Desk::ready(&store, &world, &can);
    desk.new_session("s1", CWD);
    let turn = ("A question", "An answer");
    converse(&mut desk, "s1", &[turn]);
    leave(desk);
    let mut desk = Desk::open(&store, &world, &[]);
    let out = desk.greet(Some("a"), &can);
    subscription(&mut desk, &out, "theirs", &[row("s1", "One", &time::format(world.now.get()))]);
    desk.wait(20_000);
    let asked = ask_load(&mut desk, "load", "s1").request("session/load");
    let mut out = replay(&mut desk, "s1", &[turn, ("Elsewhere", "Indeed")]);
    out.extend(desk.reply(&asked, json!({})));
    assert_eq!(said(&out.client).concat(), "> A questionAn answer> ElsewhereIndeed");
}

#[test]
fn changes_that_come_while_pages_are_read_are_taken_in() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let first = desk.greet(Some("a"), &tells_changes()).request("session/list/subscribe");
    let page = json!({"subscriptionId": "theirs", "sessions": [row("o1", "One", LONG_AGO)], "nextCursor": "2"});
    let second = desk.reply(&first, page).request("session/list");
    assert_eq!(second["params"]["cursor"], "2");
    tell(&mut desk, "theirs", &[row("o3", "Three", LONG_AGO)], &["o1"]);
    let out = desk.reply(&second, json!({"sessions": [row("o2", "Two", LONG_AGO)]}));
    // Something went before the second page came: others may have moved past the cursor.
    let rows = [row("o3", "Three", LONG_AGO), row("o2", "Two", LONG_AGO)];
    desk.reply(&out.request("session/list"), json!({ "sessions": rows }));
    desk.wait(0);
    let mut listed = desk.listed();
    listed.sort();
    assert_eq!(listed, ["o2", "o3"]);
}

#[test]
fn the_state_that_an_agent_tells_lasts_until_it_tells_another() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = followed(&store, &world, &[stated("o1", "running")]);
    for _ in 0..20 {
        let out = desk.wait(MINUTE);
        assert_eq!((out.asked("session/list"), out.asked("session/list/subscribe")), (None, None));
        assert_eq!(state(&mut desk, "o1"), "running");
    }
    let (ours, _) = subscribe(&mut desk, json!({}));
    let mut out = tell(&mut desk, "theirs", &[stated("o1", "requires_action")], &[]);
    out.extend(desk.wait(SOON));
    assert_eq!(members(&told(&out, &ours).0, "state"), one("o1", "requires_action"));
    // A row without it says that it is not known any more.
    let mut out = tell(&mut desk, "theirs", &[row("o1", "Theirs", LONG_AGO)], &[]);
    out.extend(desk.wait(SOON));
    assert_eq!(members(&told(&out, &ours).0, "state"), one("o1", Value::Null));
}

#[test]
fn an_agent_that_gives_no_subscription_is_asked_for_its_list() {
    for code in [-32601, -32602, -32603] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::open(&store, &world, &[]);
        let mut out = desk.greet(Some("a"), &tells_changes());
        while let Some(asked) = out.asked("session/list/subscribe").cloned() {
            out = desk.refuse(&asked, code);
        }
        desk.reply(&out.request("session/list"), json!({"sessions": [row("o1", "One", LONG_AGO)]}));
        desk.wait(0);
        assert_eq!(desk.listed(), ["o1"], "{code}");
        desk.wait(MINUTE);
        let out = desk.client(json!({"id": "list", "method": "session/list", "params": {}}));
        assert_eq!((out.asked("session/list").is_some(), out.asked("session/list/subscribe")), (true, None), "{code}");
    }
}

#[test]
fn an_agent_that_wants_its_user_to_log_in_is_subscribed_to_behind_that() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let asked = desk.greet(Some("a"), &tells_changes()).request("session/list/subscribe");
    let out = desk.refuse(&asked, -32000);
    assert_eq!((out.asked("session/list"), out.asked("session/list/subscribe")), (None, None));
    let out = desk.client(json!({"id": "login", "method": "authenticate", "params": {"methodId": "m"}}));
    let out = desk.reply(&out.request("authenticate"), json!({}));
    subscription(&mut desk, &out, "theirs", &[row("o1", "One", LONG_AGO)]);
    // Another user has another list.
    let out = desk.client(json!({"id": "out", "method": "logout", "params": {}}));
    let out = desk.reply(&out.request("logout"), json!({}));
    assert_eq!(out.request("session/list/unsubscribe")["params"], json!({"subscriptionId": "theirs"}));
    let out = desk.client(json!({"id": "login", "method": "authenticate", "params": {"methodId": "m"}}));
    desk.reply(&out.request("authenticate"), json!({})).request("session/list/subscribe");
}

#[test]
fn an_agent_that_was_started_again_is_subscribed_to_again() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = followed(&store, &world, &[row("o1", "One", LONG_AGO)]);
    let out = desk.revive(&tells_changes());
    subscription(&mut desk, &out, "another", &[row("o1", "One", LONG_AGO), row("o2", "Two", LONG_AGO)]);
    tell(&mut desk, "another", &[row("o3", "Three", LONG_AGO)], &["o1"]);
    let mut listed = desk.listed();
    listed.sort();
    assert_eq!(listed, ["o2", "o3"]);
}

#[test]
fn behind_a_lost_instance_the_list_is_read_again_and_an_older_subscription_ended() {
    let (store, world) = (Memory::new(), World::default());
    let desk = followed(&store, &world, &[row("o1", "One", LONG_AGO)]);
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    let out = desk.wait(0);
    subscription(&mut desk, &out, "another", &[row("o1", "One", LONG_AGO), row("o2", "Two", LONG_AGO)]);
    let out = tell(&mut desk, "theirs", &[row("o3", "Three", LONG_AGO)], &[]);
    assert_eq!(out.request("session/list/unsubscribe")["params"], json!({"subscriptionId": "theirs"}));
    let mut listed = desk.listed();
    listed.sort();
    assert_eq!(listed, ["o1", "o2", "o3"]);
    assert_eq!(tell(&mut desk, "another", &[row("o4", "Four", LONG_AGO)], &[]).agent, Vec::<Value>::new());
    assert_eq!(desk.listed().len(), 4);
}

#[test]
fn an_agent_that_cannot_tell_every_change_has_its_list_read_again() {
    let hints: [(&str, Value, Value); 2] = [
        ("session/list/resync", json!({"subscriptionId": "theirs"}), tells_changes()),
        ("session/list_changed", json!({"cwd": "/"}), json!({"sessionCapabilities": {"list": {"changes": {}}}})),
    ];
    for (method, params, capabilities) in hints {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::open(&store, &world, &[]);
        let out = desk.greet(Some("a"), &capabilities);
        let mut page = json!({"sessions": [row("o1", "One", LONG_AGO)]});
        if out.asked("session/list/subscribe").is_some() {
            page["subscriptionId"] = "theirs".into();
        }
        desk.reply(&out.agent[0], page);
        desk.wait(2 * SOON);
        let mut out = Out::default();
        for _ in 0..50 {
            let said = desk.agent(json!({"method": method, "params": params}));
            assert_eq!(said.client, Vec::<Value>::new(), "{method}");
            out.extend(said);
        }
        out.extend(desk.wait(0));
        let asked: Vec<_> = out.agent.iter().filter(|message| message["method"] == "session/list").collect();
        assert_eq!(asked.len(), 1, "{method}: {:?}", out.agent);
        desk.reply(asked[0], json!({"sessions": [row("o2", "Two", LONG_AGO)]}));
        desk.wait(0);
        assert_eq!(desk.listed(), ["o2"], "{method}");
        // Whoever says so all the time is not read all the time.
        desk.agent(json!({"method": method, "params": params}));
        assert_eq!(desk.wait(SOON / 2).asked("session/list"), None, "{method}");
        desk.wait(SOON).request("session/list");
    }
}

#[test]
fn changes_wait_for_a_store_that_takes_nothing() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = followed(&store, &world, &[row("o1", "One", LONG_AGO)]);
    store.fail(0, usize::MAX, StorageError::Full);
    tell(&mut desk, "theirs", &[row("o2", "Two", LONG_AGO)], &[]);
    tell(&mut desk, "theirs", &[row("o3", "Three", LONG_AGO)], &["o1"]);
    desk.wait(SOON);
    assert!(store.mend());
    desk.wait(MINUTE);
    let mut listed = desk.listed();
    listed.sort();
    assert_eq!(listed, ["o2", "o3"]);
}

#[test]
fn more_changes_than_may_wait_have_the_list_read_again() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = followed(&store, &world, &[row("o1", "One", LONG_AGO)]);
    desk.wait(2 * SOON);
    store.fail(0, usize::MAX, StorageError::Full);
    let rows: Vec<Value> = (0..3_000).map(|number| row(&format!("m{number}"), "Many", LONG_AGO)).collect();
    for _ in 0..3 {
        tell(&mut desk, "theirs", &rows, &[]);
    }
    assert!(store.mend());
    let mut out = Out::default();
    while out.asked("session/list").is_none() {
        out = desk.wait(MINUTE);
    }
    desk.reply(&out.request("session/list"), json!({"sessions": [row("o2", "Two", LONG_AGO)]}));
    desk.wait(0);
    assert_eq!(desk.ask("session/list", json!({"limit": 1}))["result"]["sessions"][0]["title"], "Two");
}

#[test]
fn the_list_of_an_agent_that_tells_nothing_is_read_again_for_those_who_look() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &json!({}), &[row("o1", "One", LONG_AGO)]);
    assert_eq!(desk.wait(2 * MINUTE).asked("session/list"), None);
    let out = desk.client(json!({"id": "list", "method": "session/list", "params": {}}));
    out.answer("list");
    desk.reply(&out.request("session/list"), json!({"sessions": [row("o2", "Two", LONG_AGO)]}));
    desk.wait(0);
    assert_eq!(desk.listed(), ["o2"]);
    // One that takes its time is not to be busy with that alone.
    let (ours, _) = subscribe(&mut desk, json!({}));
    let mut out = Out::default();
    while out.asked("session/list").is_none() {
        out = desk.wait(SOON);
    }
    let asked = out.request("session/list");
    desk.wait(10 * SOON);
    desk.reply(&asked, json!({"sessions": [row("o3", "Three", LONG_AGO)]}));
    let (rows, removed) = told(&desk.wait(SOON), &ours);
    assert_eq!((members(&rows, "title"), removed), (one("o3", "Three"), vec!["o2".to_owned()]));
    for _ in 0..15 {
        assert_eq!(desk.wait(MINUTE).asked("session/list"), None);
    }
    desk.wait(2 * MINUTE).request("session/list");
}

#[test]
fn an_agent_that_takes_no_titles_is_asked_to_once() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"list": {"subscribe": {}}, "title": {}}});
    let mut desk = listing(&store, &world, "a", &json!({}), &[row("o1", "One", LONG_AGO)]);
    desk.ask("session/set_title", json!({"sessionId": "o1", "title": "Mine"}));
    let mut desk = Desk::open(&store, &world, &[]);
    let out = desk.greet(Some("a"), &capabilities);
    let page = json!({"subscriptionId": "theirs", "sessions": [row("o1", "One", LONG_AGO)]});
    let out = desk.reply(&out.request("session/list/subscribe"), page);
    desk.reply(&out.request("session/set_title"), json!({}));
    let mut out = tell(&mut desk, "theirs", &[row("o1", "One", LONG_AGO)], &[]);
    out.extend(desk.wait(SOON));
    assert_eq!(out.asked("session/set_title"), None);
    assert_eq!(members(&crate::follower::rows(&mut desk), "title"), one("o1", "Mine"));
}

#[test]
fn archived_sessions_are_asked_for_in_the_words_that_the_agent_knows() {
    let cases: [(Value, &[Value]); 4] = [
        (json!({"list": {"subscribe": {}}}), &[json!("all"), Value::Null]),
        (json!({"list": {"limit": {}}, "archive": {}}), &[json!("all"), json!("include"), Value::Null]),
        (json!({"list": {}, "archive": {}}), &[json!("include"), Value::Null]),
        (json!({"list": {}}), &[Value::Null]),
    ];
    for (capabilities, words) in cases {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::open(&store, &world, &[]);
        let mut out = desk.greet(Some("a"), &json!({"sessionCapabilities": capabilities}));
        for word in words {
            let asked = out.agent.first().unwrap_or_else(|| panic!("{capabilities} {word}")).clone();
            assert_eq!(asked["params"]["archived"], *word, "{capabilities}");
            out = desk.refuse(&asked, -32602);
        }
    }
}

#[test]
fn a_parent_that_comes_behind_its_forks_is_theirs_from_then_on() {
    let fork = |id: &str, parent: &str, amount: f64| {
        let mut fork = row(id, id, LONG_AGO);
        fork["forkedFrom"] = parent.into();
        fork["cost"] = json!({"amount": amount, "currency": "USD"});
        fork
    };
    let mut parent = row("p1", "p1", LONG_AGO);
    parent["cost"] = json!({"amount": 2, "currency": "USD"});
    let forks = [fork("f1", "p1", 2.5), fork("f2", "p1", 3.0), fork("f3", "nobody's", 1.0)];
    let shown = |desk: &mut Desk<'_>| -> Vec<Value> {
        let mut rows = crate::follower::rows(desk);
        rows.sort_by_key(|row| row["sessionId"].to_string());
        let members = |row: &Value| json!([row["sessionId"], row["forkedFrom"], row["cost"]["amount"]]);
        rows.iter().map(members).collect()
    };
    let expected = [json!(["f1", "p1", 0.5]), json!(["f2", "p1", 1]), json!(["f3", null, 1]), json!(["p1", null, 2])];
    // By a change that the agent tells.
    let (store, world) = (Memory::new(), World::default());
    let mut desk = followed(&store, &world, &forks);
    let (ours, _) = subscribe(&mut desk, json!({}));
    let mut out = tell(&mut desk, "theirs", std::slice::from_ref(&parent), &[]);
    out.extend(desk.wait(SOON));
    assert_eq!(told(&out, &ours).0.len(), 3, "both forks and their parent: {:?}", out.client);
    assert_eq!(shown(&mut desk), expected);
    // On a later page of the same list.
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let asked = desk.greet(Some("a"), &json!({"sessionCapabilities": {"list": {}}})).request("session/list");
    let asked = desk.reply(&asked, json!({"sessions": forks, "nextCursor": "2"})).request("session/list");
    desk.reply(&asked, json!({ "sessions": [parent] }));
    desk.wait(0);
    assert_eq!(shown(&mut desk), expected);
}
