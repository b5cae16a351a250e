//! An instance that is at rest hands over to a fresh one, so that the host has the memory back: nobody can tell. With `RENEW` all
//! other stories are told so.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::{Bounds, Memory, RecordPage, Storage as _};
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::scenes::{
    CWD, LONG, TOLD, account, answers, ask_fork, ask_load, ask_permission, ask_prompt, begun, both_open, leave, lines,
    listing, load, oblige, permit, replay, row, said, says,
};

/// All records.
fn records(store: &Memory) -> RecordPage {
    store.scan("", "~", false, Bounds { limit: u32::MAX, max_bytes: u32::MAX }).unwrap()
}

fn kinds() -> [Value; 3] {
    [json!({}), json!({"loadSession": true}), json!({"sessionCapabilities": {"resume": {}, "close": {}, "fork": {}}})]
}

/// The user says something, which goes to the agent as it is, at once and with nothing else.
fn goes_on(desk: &mut Desk<'_>, text: &str) {
    let out = ask_prompt(desk, "turn", "s1", text);
    assert_eq!((out.agent.len(), account(&out)), (1, None), "{:?}", out.agent);
    desk.agent(says("Answered."));
    let out = desk.agent(answers("turn"));
    assert_eq!(out.answer("turn")["result"]["stopReason"], "end_turn");
}

#[test]
fn between_turns_nothing_changes_by_it() {
    for capabilities in kinds() {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = begun(&store, &world, &capabilities, TOLD);
        desk.wait(LONG);
        for round in 0..3 {
            let (memos, before) = (desk.memos.clone(), records(&store));
            assert!(desk.renew(), "{capabilities}, round {round}");
            assert_eq!((&desk.memos, records(&store)), (&memos, before));
            assert!(desk.warnings.is_empty(), "{:?}", desk.warnings);
            goes_on(&mut desk, "More");
            desk.wait(LONG);
        }
        leave(desk);
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let more: &[(&str, &str)] = &[("More", "Answered."); 3];
        let out = ask_load(&mut desk, "load", "s1");
        let out = oblige(&mut desk, out, &[], "s2");
        assert_eq!(said(&out.client), lines(&[TOLD, more]), "{capabilities}");
    }
}

#[test]
fn an_agents_list_is_not_read_again() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let rows = [row("o1", "Own", "2025-10-01T00:00:00Z")];
    let mut desk = listing(&store, &world, "a", &json!({}), &rows);
    assert!(desk.renew());
    let out = desk.wait(1000);
    assert!(out.agent.is_empty(), "{:?}", out.agent);
    assert_eq!(desk.listed(), ["o1"]);
}

#[test]
fn another_window_that_is_at_work_is_shown_though_the_one_was_renewed() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let (mut one, mut other) = both_open(&store, &world, &json!({"loadSession": true}), TOLD);
    one.wait(LONG);
    assert!(one.renew());
    goes_on(&mut other, "There");
    let mut out = Out::default();
    for _ in 0..4 {
        out.extend(one.wait(LONG));
        one.renew();
    }
    assert_eq!(said(&out.client), ["> There", "Answered."]);
    let out = ask_prompt(&mut one, "turn", "s1", "Here");
    assert!(account(&out).is_some_and(|account| account.contains("There")), "{:?}", out.agent);
}

#[test]
fn nothing_is_handed_over_while_anything_is_under_way() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"fork": {}}});
    let mut desk = Desk::open(&store, &world, &[]);
    assert!(!desk.renew(), "nobody has initialized it");
    desk.initialize(&capabilities);
    desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
    assert!(!desk.renew(), "a session is being made");
    desk.agent(json!({"id": "new", "result": {"sessionId": "s1"}}));
    desk.wait(LONG);
    assert!(desk.renew());
    ask_prompt(&mut desk, "turn", "s1", "Go");
    assert!(!desk.renew(), "a turn is under way");
    ask_permission(&mut desk);
    desk.agent(says("Done."));
    assert!(!desk.renew());
    desk.agent(answers("turn"));
    assert!(!desk.renew(), "its user is asked");
    permit(&mut desk);
    desk.wait(LONG);
    assert!(desk.renew());
    desk.agent(says("By the way"));
    assert!(!desk.renew(), "it is not written");
    desk.wait(LONG);
    assert!(desk.renew());
    ask_fork(&mut desk, "s1");
    assert!(!desk.renew(), "a fork is being made");
    desk.engine.peer_closed(Peer::Agent);
    desk.pull();
    assert!(!desk.renew(), "the agent has ended");
}

#[test]
fn while_a_history_is_told_nothing_is_handed_over() {
    let (store, world) = (Memory::new(), World::unrecorded());
    leave(begun(&store, &world, &json!({"loadSession": true}), TOLD));
    world.now.set(60_000);
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
    let asked = ask_load(&mut desk, "load", "s1").request("session/load");
    replay(&mut desk, "s1", &TOLD[..1]);
    assert!(!desk.renew());
    replay(&mut desk, "s1", &TOLD[1..]);
    desk.reply(&asked, json!({})).answer("load");
    desk.wait(LONG);
    assert!(desk.renew());
    assert_eq!(said(&load(&mut desk, "s1", TOLD).client), lines(&[TOLD]));
}

#[test]
fn what_cannot_be_read_of_it_is_lost_as_with_an_instance() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let desk = begun(&store, &world, &json!({}), TOLD);
    let mut memos = desk.memos;
    memos.insert("handed-over".to_owned(), "{}".to_owned());
    let mut desk = Desk::carry_on(&store, &world, &[], memos, Vec::new());
    desk.memos.remove("handed-over");
    desk.pull();
    goes_on(&mut desk, "More");
}
