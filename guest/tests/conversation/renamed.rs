//! An agent that goes by another name since it was upgraded, or one that keeps its sessions where another agent does: by an id
//! that two agents do not give by chance a session is the same.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    CWD, LONG, TOLD, Turns, account, ask_load, ask_prompt, converse, leave, lines, listing, load, oblige, row, said,
    updates,
};
use crate::usage;

const OWN: &str = "c0ffee12-34ab-4cd5-8e6f-7a8b9c0d1e2f";
const NEXT: &str = "0b9c8d7e-6f5a-4b3c-9d2e-1f0a2b3c4d5e";
const BEFORE: &str = "claude-code-acp";
const SINCE: &str = "claude-agent-acp";
const LONG_AGO: &str = "2025-01-01T00:00:00Z";
const THIRD: Turns<'static> = &[("Third question", "Third answer")];
const FOURTH: Turns<'static> = &[("Fourth question", "Fourth answer")];

fn loads() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "delete": {}}})
}

/// A session of two turns, which its user has named, made with the agent under its first name.
fn named<'a>(store: &'a Memory, world: &'a World, agent_id: &str) -> String {
    let mut desk = listing(store, world, BEFORE, &loads(), &[]);
    let id = desk.new_session(agent_id, CWD);
    converse(&mut desk, &id, TOLD);
    desk.ask("session/set_title", json!({"sessionId": id, "title": "Mine"}));
    leave(desk);
    id
}

/// The rows of a list: id and title.
fn rows(desk: &mut Desk<'_>, params: Value) -> Vec<(String, String)> {
    let answer = desk.ask("session/list", params);
    let rows = answer["result"]["sessions"].as_array().unwrap().iter();
    let of = |row: &Value, member: &str| row[member].as_str().unwrap_or_default().to_owned();
    rows.map(|row| (of(row, "sessionId"), of(row, "title"))).collect()
}

/// What is asked of the agent, but for its list.
fn asked(out: &Out) -> Vec<&str> {
    let asked = out.agent.iter().filter_map(|message| message["method"].as_str());
    asked.filter(|method| *method != "session/list").collect()
}

/// Loads the session of the agent's own, which tells these turns, and goes on with it for one. What the client was shown.
fn goes_on(desk: &mut Desk<'_>, id: &str, knows: Turns<'_>, turn: Turns<'_>) -> Vec<String> {
    let out = ask_load(desk, "load", id);
    let out = oblige(desk, out, knows, "never");
    assert!(asked(&out).iter().all(|method| *method != "session/new"), "{:?}", out.agent);
    assert!(out.answer("load")["error"].is_null(), "{}", out.answer("load"));
    let prompt = ask_prompt(desk, "prompt", id, turn[0].0);
    assert_eq!(prompt.request("session/prompt")["params"]["sessionId"], OWN);
    assert_eq!(account(&prompt), None, "it knows all of it");
    desk.agent(update(OWN, chunk("agent_message_chunk", turn[0].1)));
    desk.reply(&prompt.request("session/prompt"), json!({"stopReason": "end_turn"}));
    said(&out.client)
}

#[test]
fn a_renamed_agent_goes_on_with_its_sessions_under_both_names() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let id = named(&store, &world, OWN);
    let here = [(id.clone(), "Mine".to_owned())];

    let mut desk = listing(&store, &world, SINCE, &loads(), &[row(OWN, "Its own title", LONG_AGO)]);
    assert_eq!(rows(&mut desk, json!({})), here, "as it was");
    let shown = goes_on(&mut desk, &id, TOLD, THIRD);
    assert_eq!(shown, lines(&[TOLD]));
    leave(desk);

    // Back again.
    let mut desk = listing(&store, &world, BEFORE, &loads(), &[row(OWN, "Its own title", LONG_AGO)]);
    assert_eq!(rows(&mut desk, json!({})), here);
    let knows = [TOLD, THIRD].concat();
    assert_eq!(goes_on(&mut desk, &id, &knows, FOURTH), lines(&[TOLD, THIRD]));
    assert_eq!(rows(&mut desk, json!({"_meta": {"acp-sessions": {"agents": "all"}}})), here, "it has no twin");
}

#[test]
fn an_agent_under_its_other_name_is_told_nothing_that_it_has_taken_part_in() {
    let resumes = json!({"sessionCapabilities": {"resume": {}}});
    let (store, world) = (Memory::new(), World::unrecorded());
    let id = named(&store, &world, OWN);
    for (name, turn) in [(SINCE, THIRD), (BEFORE, FOURTH)] {
        let mut desk = listing(&store, &world, name, &resumes, &[row(OWN, "Its own title", LONG_AGO)]);
        goes_on(&mut desk, &id, &[], turn);
        leave(desk);
    }
}

/// What the client is shown, time after time, and what the agent is told at last, where its agent is called so from one time to the
/// next: only its list knew the session, and what is said in it comes from its replay, and from between turns.
fn told_by(names: [&str; 4]) -> (Vec<Vec<String>>, Option<String>) {
    let (store, world) = (Memory::new(), World::unrecorded());
    let loads = json!({"loadSession": true});
    let own = |day: usize| row(OWN, "Its own title", &format!("2025-01-0{}T00:00:00Z", day + 1));
    let mut desk = listing(&store, &world, BEFORE, &loads, &[own(0)]);
    assert_eq!(said(&load(&mut desk, OWN, TOLD).client), lines(&[TOLD]));
    desk.agent(update(OWN, chunk("agent_message_chunk", "Done by itself")));
    desk.wait(LONG);
    leave(desk);
    let mut knows = [TOLD[0], (TOLD[1].0, "Second answerDone by itself")].to_vec();
    let (mut shown, mut account_at_last) = (Vec::new(), None);
    for (time, name) in names.into_iter().enumerate() {
        let mut desk = listing(&store, &world, name, &loads, &[own(time + 1)]);
        assert_eq!(desk.listed(), [OWN], "{name}");
        let out = load(&mut desk, OWN, &knows);
        assert_eq!(out.request("session/load")["params"]["sessionId"], OWN, "{name}");
        shown.push(said(&out.client));
        assert_eq!(shown[time], lines(&[&knows]), "{name}");
        let asked = ask_prompt(&mut desk, "prompt", OWN, THIRD[0].0);
        account_at_last = account(&asked);
        desk.agent(update(OWN, chunk("agent_message_chunk", THIRD[0].1)));
        desk.reply(&asked.request("session/prompt"), json!({"stopReason": "end_turn"}));
        knows.push(THIRD[0]);
        leave(desk);
    }
    (shown, account_at_last)
}

#[test]
fn what_an_agent_told_under_one_name_is_known_again_under_another() {
    let by_one_name = told_by([BEFORE; 4]);
    assert_eq!(by_one_name.1, None);
    for names in [[SINCE; 4], [SINCE, BEFORE, SINCE, BEFORE], [BEFORE, SINCE, SINCE, BEFORE]] {
        assert_eq!(told_by(names), by_one_name, "{names:?}");
    }
}

#[test]
fn what_is_archived_under_one_name_is_so_under_the_other() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let id = named(&store, &world, OWN);
    let mut desk = listing(&store, &world, BEFORE, &loads(), &[row(OWN, "Its own title", LONG_AGO)]);
    desk.ask("session/archive", json!({"sessionId": id}));
    leave(desk);
    let mut desk = listing(&store, &world, SINCE, &loads(), &[row(OWN, "Its own title", LONG_AGO)]);
    assert_eq!(rows(&mut desk, json!({"archived": "unarchived"})), []);
    assert_eq!(rows(&mut desk, json!({"archived": "archived"})), [(id, "Mine".to_owned())]);
}

#[test]
fn a_session_that_was_deleted_under_one_name_does_not_come_back_under_another() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let id = named(&store, &world, OWN);
    let mut desk = listing(&store, &world, BEFORE, &json!({}), &[row(OWN, "Its own title", LONG_AGO)]);
    desk.ask("session/delete", json!({"sessionId": id}));
    // One of which nothing is here yet.
    desk.ask("session/delete", json!({"sessionId": NEXT}));
    leave(desk);
    let mut desk = Desk::open(&store, &world, &[]);
    let list = desk.greet(Some(SINCE), &json!({"sessionCapabilities": {"list": {}, "delete": {}}}));
    let theirs = [row(OWN, "Its own title", LONG_AGO), row(NEXT, "Another", LONG_AGO)];
    let mut out = desk.reply(&list.request("session/list"), json!({"sessions": theirs}));
    out.extend(desk.wait(0));
    assert_eq!(desk.listed(), [""; 0]);
    assert_eq!(asked(&out), ["session/delete"; 2], "the agent has not followed");
}

#[test]
fn what_may_be_another_session_stays_apart() {
    let elsewhere = |id: &str| json!({"sessionId": id, "cwd": "/elsewhere", "title": "Its own title"});
    let numbered = "session-00000000000000000001";
    for (agent_id, theirs) in [
        ("s1", row("s1", "Its own title", LONG_AGO)),
        (numbered, row(numbered, "Its own title", LONG_AGO)),
        (OWN, elsewhere(OWN)),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let id = named(&store, &world, agent_id);
        let mut desk = listing(&store, &world, SINCE, &loads(), std::slice::from_ref(&theirs));
        let listed = rows(&mut desk, json!({}));
        assert!(matches!(&listed[..], [(other, title)] if *other != id && title == "Its own title"), "{listed:?}");
        // One that was listed so once is left alone.
        leave(desk);
        let mut desk = listing(&store, &world, SINCE, &loads(), &[row(agent_id, "Its own title", LONG_AGO)]);
        assert_eq!(rows(&mut desk, json!({})), listed);
    }
}

#[test]
fn what_a_session_has_cost_counts_once_whatever_its_agent_is_called() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = listing(&store, &world, BEFORE, &loads(), &[]);
    let id = desk.new_session(OWN, CWD);
    usage::turn(&mut desk, &id, &["2"]);
    leave(desk);
    let own = |cost: u32| {
        let mut own = row(OWN, "Its own title", LONG_AGO);
        own["cost"] = json!({"amount": cost, "currency": "USD"});
        own
    };
    for (name, listed, sum) in [(SINCE, 3, "5"), (BEFORE, 5, "7"), (SINCE, 7, "8")] {
        let mut desk = listing(&store, &world, name, &loads(), &[own(listed)]);
        load(&mut desk, &id, &[("Go", "")]).answer("load");
        usage::turn(&mut desk, &id, &[sum]);
        leave(desk);
        assert_eq!(usage::recorded(&store, &id).as_deref(), Some(format!("{sum} USD").as_str()), "{name}");
    }
}

#[test]
fn a_fork_remembers_what_was_said_before_its_agent_was_renamed() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let id = named(&store, &world, OWN);
    let forks = json!({"sessionCapabilities": {"resume": {}, "fork": {}}});
    let mut desk = listing(&store, &world, SINCE, &forks, &[row(OWN, "Its own title", LONG_AGO)]);
    let out = desk.client(json!({"id": "fork", "method": "session/fork", "params": {"sessionId": id, "cwd": CWD}}));
    let out = oblige(&mut desk, out, &[], NEXT);
    assert_eq!(asked(&out)[0], "session/fork");
    let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(account(&ask_prompt(&mut desk, "prompt", &fork, "Only here")), None);
}

#[test]
fn a_session_that_only_lists_know_goes_with_the_last_of_its_agents_names() {
    let (store, world) = (Memory::new(), World::unrecorded());
    for name in [BEFORE, SINCE] {
        let mut desk = listing(&store, &world, name, &loads(), &[row(OWN, "Its own title", LONG_AGO)]);
        assert_eq!(desk.listed(), [OWN], "{name}");
        leave(desk);
    }
    leave(listing(&store, &world, SINCE, &loads(), &[]));
    let mut desk = listing(&store, &world, BEFORE, &loads(), &[]);
    assert_eq!(rows(&mut desk, json!({"_meta": {"acp-sessions": {"agents": "all"}}})), []);
}

#[test]
fn what_stands_in_for_an_agents_session_under_its_new_name_has_no_twin() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let id = named(&store, &world, OWN);
    // Its list could not be read then, and so the session was begun anew.
    let mut desk = Desk::open(&store, &world, &[]);
    desk.greet(Some(SINCE), &json!({"sessionCapabilities": {"resume": {}}}));
    let out = ask_load(&mut desk, "load", &id);
    oblige(&mut desk, out, &[], NEXT).answer("load");
    let out = ask_prompt(&mut desk, "prompt", &id, THIRD[0].0);
    oblige(&mut desk, out, &[], "never").answer("prompt");
    leave(desk);
    let theirs = [row(OWN, "Its own title", LONG_AGO), row(NEXT, "Its next title", LONG_AGO)];
    let mut desk = listing(&store, &world, SINCE, &loads(), &theirs);
    assert_eq!(rows(&mut desk, json!({})), [(id.clone(), "Mine".to_owned())]);
    assert_eq!(ask_load(&mut desk, "load", &id).request("session/load")["params"]["sessionId"], NEXT);
    leave(desk);
    // Under its third name it knows both, and which of them is the one.
    let mut desk = listing(&store, &world, "third", &loads(), &theirs);
    assert_eq!(rows(&mut desk, json!({})), [(id.clone(), "Mine".to_owned())]);
    assert_eq!(ask_load(&mut desk, "load", &id).request("session/load")["params"]["sessionId"], NEXT);
}

#[test]
fn updates_of_a_session_reach_its_client_under_either_name() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let id = named(&store, &world, OWN);
    let mut desk = listing(&store, &world, SINCE, &loads(), &[row(OWN, "Its own title", LONG_AGO)]);
    load(&mut desk, &id, TOLD).answer("load");
    let out = desk.agent(update(OWN, chunk("agent_message_chunk", "By itself")));
    assert_eq!(updates(&out, "agent_message_chunk").len(), 1);
    assert_eq!(out.client[0]["params"]["sessionId"], id);
}
