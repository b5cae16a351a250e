//! An agent's own list that is long in coming, or does not come at all.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::scenes::row;

const LONG_AGO: &str = "2025-01-01T00:00:00Z";
const LIMIT: &[(&str, &str)] = &[("agent-timeout-ms", "5000")];
/// After so long the list is old to whoever looks at it, in milliseconds.
const OLD: i64 = 61_000;

fn lists() -> Value {
    json!({"sessionCapabilities": {"list": {}}})
}

fn ask_list(desk: &mut Desk<'_>, id: &str) -> Out {
    desk.client(json!({"id": id, "method": "session/list", "params": {}}))
}

fn page(id: &str) -> Value {
    json!({"sessions": [row(id, "Own", LONG_AGO)]})
}

#[test]
fn only_the_first_list_waits_for_an_agents_that_is_long_in_coming() {
    for gives_pages in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::open(&store, &world, &[]);
        let mut asked = desk.greet(Some("a"), &lists()).request("session/list");
        desk.wait(3000);
        assert!(ask_list(&mut desk, "first").is_open("first"));
        desk.wait(600);
        assert!(ask_list(&mut desk, "with it").is_open("with it"), "that one waits as well");
        let out = desk.wait(450);
        assert!(!out.is_open("first") && !out.is_open("with it"), "a second is over");
        for nth in 0..3 {
            if gives_pages {
                let rows =
                    json!({"sessions": [row(&format!("o{nth}"), "Own", LONG_AGO)], "nextCursor": nth.to_string()});
                asked = desk.reply(&asked, rows).request("session/list");
            }
            let out = ask_list(&mut desk, "later");
            assert!(
                !out.is_open("later"),
                "{gives_pages}, {nth}: what has come is there, and the rest is not waited for"
            );
        }
    }
}

#[test]
fn a_list_that_is_taken_back_does_not_have_the_next_one_wait_longer() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::open(&store, &world, &[]);
    desk.greet(Some("a"), &lists());
    ask_list(&mut desk, "first");
    desk.wait(900);
    desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "first"}}));
    assert!(ask_list(&mut desk, "next").is_open("next"));
    assert!(!desk.wait(150).is_open("next"));
}

#[test]
fn a_page_that_an_agent_does_not_give_is_given_up_and_the_list_read_again_when_it_is_old() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::open(&store, &world, LIMIT);
    let asked = desk.greet(Some("a"), &lists()).request("session/list");
    desk.reply(&asked, page("o1"));
    desk.wait(OLD);
    let asked = ask_list(&mut desk, "look").request("session/list");
    let out = desk.wait(4900);
    assert!(out.agent.is_empty(), "{:?}", out.agent);
    let out = desk.wait(200);
    assert_eq!(out.request("$/cancel_request")["params"]["requestId"], asked["id"]);
    assert_eq!(desk.listed(), ["o1"], "what it has given before counts");
    desk.wait(OLD);
    let again = ask_list(&mut desk, "look").request("session/list");
    desk.reply(&again, page("o2"));
    desk.wait(0);
    assert_eq!(desk.listed(), ["o2"]);
}

#[test]
fn a_page_that_comes_after_it_was_given_up_has_the_list_read_again() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::open(&store, &world, LIMIT);
    let first = desk.greet(Some("a"), &lists()).request("session/list");
    desk.wait(5100);
    assert!(desk.wait(OLD).asked("session/list").is_none(), "a silent one is not asked for ever");
    let mut out = desk.reply(&first, page("o1"));
    out.extend(desk.wait(1000));
    let again = out.request("session/list");
    desk.reply(&again, page("o1"));
    desk.wait(0);
    assert_eq!(desk.listed(), ["o1"]);
}
