//! A session that its agent could not open has another of the agent's stand in for it.

use acp_sessions_guest::engine::{Arrival, Content, Output, Peer};
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, Turns, account, ask_fork, ask_load, ask_prompt, begun, leave, lines, listing, load, mark, oblige, row,
    said, told,
};

const LONG_AGO: &str = "2025-01-01T00:00:00Z";

/// The agent that has `o1`, and opens it by beginning `s2`.
fn stood_in<'a>(store: &'a Memory, world: &'a World, capabilities: &Value) -> Desk<'a> {
    let mut desk = listing(store, world, "a", capabilities, &[row("o1", "One", LONG_AGO)]);
    let out = ask_load(&mut desk, "load", "o1");
    let out = oblige(&mut desk, out, &[], "s2");
    assert!(out.answer("load")["error"].is_null());
    desk
}

#[test]
fn a_session_is_not_forgotten_because_the_agent_has_the_one_no_more_that_stood_in_for_it() {
    let (store, world) = (Memory::new(), World::default());
    leave(stood_in(&store, &world, &json!({})));
    let mut desk = listing(&store, &world, "a", &json!({}), &[row("o1", "One", LONG_AGO)]);
    assert_eq!(desk.listed(), ["o1"], "its history is still with the agent");
    let mut desk = listing(&store, &world, "a", &json!({}), &[]);
    assert!(desk.listed().is_empty(), "now the agent has it no more");
}

#[test]
fn a_session_is_not_forgotten_because_the_agent_refuses_to_begin_one_that_would_stand_in_for_it() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = listing(&store, &world, "a", &json!({}), &[row("o1", "One", LONG_AGO)]);
    let asked = ask_load(&mut desk, "load", "o1").request("session/new");
    assert_eq!(desk.refuse(&asked, -32002).answer("load")["error"]["code"], -32002);
    assert_eq!(desk.listed(), ["o1"]);
}

#[test]
fn a_session_that_was_made_in_vain_and_is_being_deleted_cannot_be_opened() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"resume": {}, "delete": {}}});
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let id = desk.new_session("s1", CWD);
    let params = json!({"sessionId": id, "cwd": CWD});
    let asked = desk.client(json!({"id": "fork", "method": "session/fork", "params": params})).request("session/new");
    desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "fork"}})).answer("fork");
    let out = desk.reply(&asked, json!({"sessionId": "s2"}));
    assert_eq!(out.request("session/delete")["params"]["sessionId"], "s2");
    let out = ask_load(&mut desk, "load", "s2");
    assert_eq!(out.answer("load")["error"]["code"], -32002);
    assert!(out.agent.is_empty(), "{:?}", out.agent);
}

#[test]
fn a_session_that_was_made_in_vain_is_no_session_though_the_agents_list_has_it_yet() {
    for is_gone in [false, true] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::open(&store, &world, &[]);
        let can = json!({"loadSession": true, "sessionCapabilities": {"list": {}, "delete": {}}});
        let list = desk.greet(Some("a"), &can).request("session/list");
        let id = desk.new_session("s1", CWD);
        let asked = ask_fork(&mut desk, &id).request("session/new");
        desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "fork"}})).answer("fork");
        let delete = desk.reply(&asked, json!({"sessionId": "s2"})).request("session/delete");
        assert_eq!(delete["params"]["sessionId"], "s2");
        if is_gone {
            desk.reply(&delete, json!({}));
        }
        // The agent has read its list before it deletes.
        let rows = [row("s1", "One", LONG_AGO), row("s2", "Two", LONG_AGO), row("s3", "Three", LONG_AGO)];
        desk.reply(&list, json!({"sessions": rows}));
        desk.wait(0);
        let mut listed = desk.listed();
        listed.sort();
        assert_eq!(listed, ["s1", "s3"], "the agent has answered the delete: {is_gone}");
        let out = ask_load(&mut desk, "load", "s2");
        assert_eq!(out.answer("load")["error"]["code"], -32002);
        assert!(out.agent.is_empty(), "{:?}", out.agent);
    }
}

fn loads() -> Value {
    json!({"loadSession": true})
}

/// A session of two turns that the agent refuses to open, and for which it begins `s2`.
fn refused<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    told(store, world, &loads());
    let mut desk = Desk::ready(store, world, &loads());
    let asked = ask_load(&mut desk, "load", "s1").request("session/load");
    let out = desk.refuse(&asked, -32603);
    let out = oblige(&mut desk, out, &[], "s2");
    assert_eq!(mark(&out, "load")["attached"], "new");
    desk
}

/// Which session an agent that obliges is asked to load next time.
fn asked_for(store: &Memory, world: &World) -> Value {
    let mut desk = Desk::ready(store, world, &loads());
    ask_load(&mut desk, "load", "s1").request("session/load")["params"]["sessionId"].clone()
}

#[test]
fn a_session_that_stands_in_is_forgotten_for_the_agents_own_if_nothing_was_said_in_it() {
    let (store, world) = (Memory::new(), World::default());
    leave(refused(&store, &world));
    assert_eq!(asked_for(&store, &world), "s1");
    let mut desk = Desk::ready(&store, &world, &loads());
    load(&mut desk, "s1", TOLD).answer("load");
    assert_eq!(account(&ask_prompt(&mut desk, "prompt", "s1", "Third")), None, "the agent has heard all in its own");
}

#[test]
fn a_session_that_stands_in_takes_the_place_with_the_first_prompt_that_succeeds() {
    for (is_answered, is_lost, expected) in
        [(true, false, "s2"), (true, true, "s2"), (false, false, "s1"), (false, true, "s1")]
    {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = refused(&store, &world);
        let asked = ask_prompt(&mut desk, "prompt", "s1", "Third");
        assert!(account(&asked).is_some_and(|account| account.contains("Second answer")));
        let asked = asked.request("session/prompt");
        assert_eq!(asked["params"]["sessionId"], "s2");
        if is_lost {
            desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
        }
        let out = if is_answered {
            desk.reply(&asked, json!({"stopReason": "end_turn"}))
        } else {
            desk.refuse(&asked, -32603)
        };
        out.answer("prompt");
        leave(desk);
        assert_eq!(asked_for(&store, &world), expected, "answered: {is_answered}, lost: {is_lost}");
    }
}

#[test]
fn what_was_said_in_a_session_that_stands_in_is_heard_by_the_agent_once() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = refused(&store, &world);
    desk.turn("s1", "Third", &["Third answer"]);
    assert_eq!(account(&ask_prompt(&mut desk, "prompt", "s1", "Fourth")), None);
    leave(desk);
    // It replays what it was told itself, and what it was told of.
    let mut desk = Desk::ready(&store, &world, &loads());
    let out = load(&mut desk, "s1", &[("Third", "Third answer"), ("Fourth", "")]);
    let third: &[(&str, &str)] = &[("Third", "Third answer")];
    let mut expected = lines(&[TOLD, third]);
    expected.push("> Fourth".to_owned());
    assert_eq!(said(&out.client), expected);
}

#[test]
fn a_session_that_stands_in_is_deleted_at_the_agent_with_its_own() {
    let (store, world) = (Memory::new(), World::default());
    told(&store, &world, &loads());
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"delete": {}}});
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let asked = ask_load(&mut desk, "load", "s1").request("session/load");
    let out = desk.refuse(&asked, -32603);
    oblige(&mut desk, out, &[], "s2").answer("load");
    let out = desk.client(json!({"id": "delete", "method": "session/delete", "params": {"sessionId": "s1"}}));
    let deletes = out.agent.iter().filter(|message| message["method"] == "session/delete");
    let ids: Vec<_> = deletes.map(|message| message["params"]["sessionId"].as_str().unwrap()).collect();
    assert_eq!(ids, ["s1", "s2"]);
}

/// A session of the store is loaded in one window while another has a turn in one that stands in for it.
#[test]
fn what_the_one_has_heard_that_stands_in_is_not_taken_for_heard_by_the_agents_own() {
    let (store, world) = (Memory::new(), World::default());
    let mut first = Desk::ready(&store, &world, &loads());
    let id = first.new_session("s1", CWD);
    leave(first);
    let mut other = Desk::ready(&store, &world, &loads());
    let mut desk = Desk::ready(&store, &world, &loads());
    let asked_other = ask_load(&mut other, "load", &id).request("session/load");
    let asked = ask_load(&mut desk, "load", &id).request("session/load");
    let out = other.refuse(&asked_other, -32603);
    oblige(&mut other, out, &[], "s2").answer("load");
    other.turn(&id, "First", &["One"]);
    leave(other);
    desk.reply(&asked, json!({})).answer("load");
    let account = account(&ask_prompt(&mut desk, "prompt", &id, "Second"));
    assert!(account.is_some_and(|account| account.contains("One")), "the agent's own has not heard it");
}

/// An agent begins a session in the place of one of the agent `a`, and its list is read before the client has read anything.
fn is_listed_while_it_begins(agent: &str) {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = Desk::open(&store, &world, &[]);
    desk.greet(Some(agent), &json!({}));
    let params = json!({"sessionId": id, "cwd": CWD, "mcpServers": []});
    let load = json!({"jsonrpc": "2.0", "id": "load", "method": "session/load", "params": params}).to_string();
    // The client reads nothing for a while.
    desk.engine.receive([Arrival { peer: Peer::Client, content: Content::Line(load) }]);
    let asked = desk.engine.pull(0);
    let asked = asked.iter().find_map(|output| match output {
        Output::ToAgent(line) => serde_json::from_str::<Value>(line).ok(),
        _ => None,
    });
    let asked = asked.expect("the agent is asked for a session");
    assert_eq!(asked["method"], "session/new");
    let answer = json!({"jsonrpc": "2.0", "id": asked["id"], "result": {"sessionId": "s2"}}).to_string();
    desk.engine.receive([Arrival { peer: Peer::Agent, content: Content::Line(answer) }]);
    desk.engine.pull(0);
    let rows = [row("s2", "Two", LONG_AGO)];
    let mut other = listing(&store, &world, agent, &json!({}), &rows);
    let listed = other.ask("session/list", json!({"_meta": {"acp-sessions": {"agents": "all"}}}));
    let ids: Option<Vec<_>> =
        listed["result"]["sessions"].as_array().map(|rows| rows.iter().map(|row| &row["sessionId"]).collect());
    assert_eq!(ids, Some(vec![&json!("s1")]), "{agent}");
    let out = desk.pull();
    assert_eq!(said(&out.client), lines(&[TOLD]), "{agent}");
    assert_eq!(mark(&out, "load")["attached"], "new", "{agent}");
}

#[test]
fn a_session_that_stands_in_is_none_of_its_own_though_the_agents_list_is_read_before_the_client_has_read_the_history() {
    is_listed_while_it_begins("a");
}

#[test]
fn a_session_that_is_begun_anew_has_no_twin_though_the_agents_list_tells_of_it_before_it_is_answered() {
    for is_listed_before in [false, true] {
        let (store, world) = (Memory::new(), World::default());
        let desk = begun(&store, &world, &json!({}), &[("Hi", "Ho")]);
        leave(desk);
        if is_listed_before {
            leave(listing(&store, &world, "a", &json!({}), &[row("s2", "Two", LONG_AGO)]));
        }
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let asked = ask_load(&mut desk, "load", "s1").request("session/new");
        let mut other = listing(&store, &world, "a", &json!({}), &[row("s2", "Two", LONG_AGO)]);
        assert_eq!(other.listed().len(), 2);
        let out = desk.reply(&asked, json!({"sessionId": "s2"}));
        oblige(&mut desk, out, &[], "s2").answer("load");
        desk.turn("s1", "Again", &["So"]);
        // One that was there before is another, which has given its id away.
        let expected: &[&str] = if is_listed_before { &["s1", "s2"] } else { &["s1"] };
        assert_eq!(desk.listed(), expected);
        leave(desk);
        leave(other);
        let mut desk = listing(&store, &world, "a", &json!({}), &[row("s2", "Two", LONG_AGO)]);
        assert_eq!(desk.listed(), expected);
    }
}

#[test]
fn a_session_that_stands_in_for_another_agents_is_none_of_its_own_either() {
    is_listed_while_it_begins("b");
}

/// What was said before the agent lost its own session, in the one that it began then, and in that one by the next time.
type Repeated = [Turns<'static>; 3];

const CONTINUED: (&str, &str) = ("continue", "Done.");
const ASKED: (&str, &str) = ("is that all?", "No.");

const REPEATED: &[Repeated] = &[
    [&[CONTINUED], &[CONTINUED], &[CONTINUED]],
    [&[CONTINUED; 3], &[CONTINUED], &[CONTINUED]],
    [&[CONTINUED], &[CONTINUED; 2], &[CONTINUED; 2]],
    [&[CONTINUED, ASKED, CONTINUED], &[ASKED, CONTINUED], &[CONTINUED]],
    [&[CONTINUED, ASKED], &[CONTINUED], &[ASKED, CONTINUED]],
];

#[test]
fn what_was_said_over_and_over_is_told_once_to_an_agent_that_replays_its_own_part_of_it() {
    for is_agents_own in [false, true] {
        for [lost, first, then] in REPEATED {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = Desk::ready(&store, &world, &loads());
            if is_agents_own {
                load(&mut desk, "s1", lost).answer("load");
            } else {
                desk.new_session("s1", CWD);
                lost.iter().for_each(|(user, agent)| drop(desk.turn("s1", user, &[agent])));
            }
            leave(desk);
            let mut desk = Desk::ready(&store, &world, &loads());
            let asked = ask_load(&mut desk, "load", "s1").request("session/load");
            let out = desk.refuse(&asked, -32603);
            oblige(&mut desk, out, &[], "s2").answer("load");
            let mut kept: Vec<(&str, &str)> = Vec::new();
            for more in [first, then, then] {
                for (at, (user, agent)) in more.iter().enumerate() {
                    let out = ask_prompt(&mut desk, "prompt", "s1", user);
                    let is_first = kept.is_empty() && at == 0;
                    assert_eq!(account(&out).is_some(), is_first, "{is_agents_own} {lost:?} {first:?} {then:?}");
                    desk.agent(update("s2", chunk("agent_message_chunk", agent)));
                    desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"})).answer("prompt");
                }
                kept.extend(*more);
                leave(desk);
                desk = Desk::ready(&store, &world, &loads());
                let out = load(&mut desk, "s1", &kept);
                assert_eq!(said(&out.client), lines(&[lost, &kept]), "{is_agents_own}");
            }
        }
    }
}

/// What Codex says of a session that another of its programs has open.
const IN_USE: &str = "Invalid request: This Codex session is in use by another Codex client (the Codex app, the CLI or an IDE \
                      extension). Close the session there or quit that client, then try again.";

/// How agents refuse to open such a session: Codex, Vibe and deepagents.
fn refusals() -> [Value; 3] {
    let details = json!({"details": "Thread s1 is open elsewhere."});
    [
        json!({"code": -32600, "message": IN_USE}),
        json!({"code": -31002, "message": "Session is already open: s1"}),
        json!({"code": -32603, "message": "Internal error", "data": details}),
    ]
}

/// The session `s1`, which the agent cannot open because another of its programs has it, and for which it begins this one.
fn in_use<'a>(store: &'a Memory, world: &'a World, refusal: &Value, fresh: &str) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, &loads());
    let asked = ask_load(&mut desk, "load", "s1").request("session/load");
    assert_eq!(asked["params"]["sessionId"], "s1");
    let out = desk.agent(json!({"id": asked["id"], "error": refusal}));
    let out = oblige(&mut desk, out, &[], fresh);
    assert_eq!(
        (mark(&out, "load")["attached"].as_str(), mark(&out, "load")["reason"].as_str()),
        (Some("new"), refusal["message"].as_str())
    );
    desk
}

#[test]
fn a_session_that_another_program_of_the_agents_has_open_is_the_agents_own_again_once_it_can_be_opened() {
    let third: Turns<'_> = &[("Third", "Third answer")];
    let fourth: Turns<'_> = &[("Fourth", "Fourth answer")];
    let elsewhere: Turns<'_> = &[("Elsewhere", "Elsewhere, too")];
    let ways = || refusals().into_iter().flat_map(|refusal| [(refusal.clone(), false), (refusal, true)]);
    for (refusal, is_lost) in ways() {
        let (store, world) = (Memory::new(), World::unrecorded());
        told(&store, &world, &loads());
        let mut desk = in_use(&store, &world, &refusal, "s2");
        if is_lost {
            desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
        }
        let out = ask_prompt(&mut desk, "prompt", "s1", third[0].0);
        assert!(account(&out).is_some_and(|account| account.contains("Second answer")));
        desk.agent(update("s2", chunk("agent_message_chunk", third[0].1)));
        desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"})).answer("prompt");
        let out = ask_prompt(&mut desk, "prompt", "s1", fourth[0].0);
        assert_eq!(account(&out), None, "it has been told");
        desk.agent(update("s2", chunk("agent_message_chunk", fourth[0].1)));
        desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"})).answer("prompt");
        leave(desk);
        // Still so.
        leave(in_use(&store, &world, &refusal, "s3"));
        // It was closed there, where something else was said meanwhile.
        world.now.set(world.now.get() + 60_000);
        let mut desk = Desk::ready(&store, &world, &loads());
        assert_eq!(desk.listed(), ["s1"]);
        let asked = ask_load(&mut desk, "load", "s1");
        assert_eq!(asked.request("session/load")["params"]["sessionId"], "s1");
        let told = [TOLD, elsewhere].concat();
        let out = oblige(&mut desk, asked, &told, "never");
        let shown = said(&out.client);
        for line in lines(&[TOLD, third, fourth, elsewhere]) {
            assert_eq!(shown.iter().filter(|shown| **shown == line).count(), 1, "{line}: {shown:?}");
        }
        assert!(mark(&out, "load")["setAside"].is_null());
        let prompt = ask_prompt(&mut desk, "prompt", "s1", "Fifth");
        assert_eq!(prompt.request("session/prompt")["params"]["sessionId"], "s1");
        let account = account(&prompt).unwrap();
        assert!(
            account.contains("Third answer") && account.contains("Fourth answer") && !account.contains("Second answer"),
            "{account}"
        );
        leave(desk);
    }
}
