//! More is asked at once than can be done or read: what waits is bounded, and nothing is lost or answered twice.

use acp_sessions_guest::engine::{Arrival, Content, Peer};
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, envelope, update};
use crate::scenes::{CWD, LONG, answers, ask_load, ask_prompt, asked, load, said};

/// More than an engine holds back of the client's, in lines of 1 MiB.
const TOO_MANY: usize = 18;

fn long() -> String {
    "x".repeat(1024 * 1024)
}

/// The ids of the requests among these.
fn ids(messages: &[Value]) -> Vec<&Value> {
    messages.iter().filter(|message| message["params"]["prompt"].is_array()).map(|message| &message["id"]).collect()
}

#[test]
fn no_more_is_taken_of_a_client_while_much_of_its_waits_for_a_session_on_its_way() {
    let (store, world) = (Memory::new(), World::default());
    Desk::ready(&store, &world, &json!({})).new_session("s1", CWD);
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
    let load = ask_load(&mut desk, "load", "s1").request("session/load");
    assert!(!desk.engine.is_full());
    let mut waiting = Vec::new();
    while !desk.engine.is_full() {
        assert!(waiting.len() < TOO_MANY);
        let id = format!("p{}", waiting.len());
        assert!(ask_prompt(&mut desk, &id, "s1", &long()).agent.is_empty());
        waiting.push(id);
    }
    assert!(waiting.len() > 1, "one of the longest lines leaves room for others");
    let out = desk.reply(&load, json!({}));
    assert_eq!(ids(&out.agent), waiting.iter().collect::<Vec<_>>());
    assert!(!desk.engine.is_full());
}

#[test]
fn what_waits_is_given_room_again_when_it_is_taken_back() {
    let (store, world) = (Memory::new(), World::default());
    Desk::ready(&store, &world, &json!({})).new_session("s1", CWD);
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
    ask_load(&mut desk, "load", "s1").request("session/load");
    for nth in 0..TOO_MANY {
        ask_prompt(&mut desk, &nth.to_string(), "s1", &long());
    }
    assert!(desk.engine.is_full());
    for nth in 0..TOO_MANY {
        let cancel = json!({"method": "$/cancel_request", "params": {"requestId": nth.to_string()}});
        assert_eq!(desk.client(cancel).answer(nth.to_string())["error"]["code"], -32800);
    }
    assert!(!desk.engine.is_full());
}

#[test]
fn no_more_is_taken_of_a_client_while_much_waits_behind_initialize() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    desk.client(json!({"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}));
    for nth in 1..=TOO_MANY {
        assert!(!desk.engine.is_full() || nth > 1);
        desk.client(json!({"method": "x/tell", "params": {"nth": nth, "text": long()}}));
    }
    assert!(desk.engine.is_full());
    let out = desk.agent(json!({"id": 0, "result": {"protocolVersion": 1}}));
    let told: Vec<_> = out.agent.iter().filter_map(|message| message["params"]["nth"].as_u64()).collect();
    assert_eq!(told, (1..=TOO_MANY as u64).collect::<Vec<_>>());
    assert!(!desk.engine.is_full());
}

#[test]
fn no_more_is_taken_of_a_client_that_has_asked_for_more_than_anybody_answers() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let mut asked = 0;
    while !desk.engine.is_full() {
        assert!(asked < 100_000);
        desk.client(json!({"id": asked, "method": "x/ask", "params": {}}));
        asked += 1;
    }
    for id in 0..asked {
        desk.agent(json!({"id": id, "result": {}})).answer(id);
    }
    assert!(!desk.engine.is_full());
    // A fresh instance knows what was open.
    for id in 0..asked {
        desk.client(json!({"id": id, "method": "x/ask", "params": {}}));
    }
    let desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    assert!(desk.engine.is_full());
}

/// So many rows of about 60 kB.
fn store_with_long_rows(rows: usize) -> Memory {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for nth in 0..rows {
        let id = desk.new_session(&format!("s{nth}"), CWD);
        ask_prompt(&mut desk, "turn", &id, "Go");
        let info = json!({"sessionUpdate": "session_info_update", "_meta": {"note": "n".repeat(60_000)}});
        desk.agent(update(&id, info));
        desk.agent(answers("turn"));
    }
    store
}

/// What comes of a call, as far as one pull gives it.
fn pull_once(desk: &mut Desk<'_, Memory>, all: &mut Out) -> usize {
    let mut bytes = 0;
    for output in desk.engine.pull(256 * 1024) {
        if let acp_sessions_guest::engine::Output::ToClient(line) = output {
            bytes += line.len();
            all.client.push(serde_json::from_str(&line).unwrap());
        }
    }
    bytes
}

#[test]
fn answers_are_made_as_the_client_reads_them() {
    let world = World::default();
    let store = store_with_long_rows(15);
    // Nobody waits for anything; behind `initialize`; for the agent's list.
    for (capabilities, is_early) in
        [(json!({}), false), (json!({}), true), (json!({"sessionCapabilities": {"list": {}}}), false)]
    {
        let mut desk = Desk::open(&store, &world, &[]);
        let mut all = Out::default();
        desk.client(json!({"id": "init", "method": "initialize", "params": {"protocolVersion": 1}}));
        let greeting = json!({"id": "init", "result": {
            "protocolVersion": 1, "agentInfo": {"name": "a", "version": "1"}, "agentCapabilities": capabilities,
        }});
        if !is_early {
            desk.agent(greeting.clone());
        }
        let list = |id: usize| Arrival {
            peer: Peer::Client,
            content: Content::Line(envelope(json!({"id": id, "method": "session/list", "params": {}}))),
        };
        desk.engine.receive((0..50).map(list));
        let mut largest = 0;
        if is_early {
            pull_once(&mut desk, &mut all);
            desk.engine.receive([Arrival { peer: Peer::Agent, content: Content::Line(envelope(greeting)) }]);
        }
        world.now.set(world.now.get() + 2000);
        let mut calls = 0;
        loop {
            largest = largest.max(pull_once(&mut desk, &mut all));
            if calls == 0 {
                desk.engine.idle();
            } else if !desk.engine.has_more() && !desk.engine.has_held() {
                break;
            }
            calls += 1;
            assert!(calls < 1000, "{capabilities}: it comes to no end");
        }
        for id in 0..50 {
            assert_eq!(all.answer(id)["result"]["sessions"].as_array().unwrap().len(), 15, "{capabilities}");
        }
        assert!(largest < 3 * 1024 * 1024, "{capabilities}: {largest} bytes at once");
    }
}

#[test]
fn a_plan_too_long_to_be_kept_is_shown_and_holds_up_nothing() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = asked(&store, &world);
    let plan = |text: &str| {
        let entries = json!([{"content": text, "priority": "low", "status": "pending"}]);
        update("s1", json!({"sessionUpdate": "plan", "entries": entries}))
    };
    desk.agent(plan("short"));
    let out = desk.agent(plan(&"x".repeat(5 << 20)));
    assert_eq!(out.client[0]["params"]["update"]["sessionUpdate"], "plan");
    assert!(desk.warnings.iter().any(|warning| warning.contains("`plan`")), "{:?}", desk.warnings);
    desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}})).answer("turn");
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = load(&mut desk, "s1", &[]);
    assert_eq!(said(&out.client), ["> Go"]);
    let is_plan = |message: &&Value| message["params"]["update"]["sessionUpdate"] == "plan";
    assert_eq!(out.client.iter().filter(is_plan).count(), 0);
}

#[test]
fn states_that_are_too_many_to_be_held_are_shown_all_the_same() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let options = |nth: usize| json!([{"id": format!("o{nth}"), "name": "x".repeat(1 << 20)}]);
    let ids: Vec<String> = (0..30).map(|nth| format!("s{nth}")).collect();
    for (nth, id) in ids.iter().enumerate() {
        desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
        desk.agent(json!({"id": "new", "result": {"sessionId": id, "configOptions": options(nth)}})).answer("new");
        let mode = json!({"sessionUpdate": "current_mode_update", "currentModeId": format!("m{nth}")});
        desk.agent(update(id, mode));
        desk.wait(LONG);
    }
    for is_lost in [false, true] {
        if is_lost {
            desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
            desk.pull();
        }
        for (nth, id) in ids.iter().enumerate() {
            let out = ask_load(&mut desk, "load", id);
            assert_eq!(out.answer("load")["result"]["configOptions"], options(nth), "{id}, after a loss: {is_lost}");
            let modes = out.client.iter().filter_map(|message| message["params"]["update"]["currentModeId"].as_str());
            assert_eq!(modes.collect::<Vec<_>>(), [format!("m{nth}")], "{id}, after a loss: {is_lost}");
        }
    }
}

#[test]
fn a_connection_has_so_many_sessions_open_and_no_more() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let new = |nth: usize| Arrival {
        peer: Peer::Client,
        content: Content::Line(envelope(
            json!({"id": nth, "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}),
        )),
    };
    let made = |nth: usize| Arrival {
        peer: Peer::Agent,
        content: Content::Line(envelope(json!({"id": nth, "result": {"sessionId": format!("s{nth}")}}))),
    };
    for first in (0..20_000).step_by(1000) {
        desk.engine.receive((first..first + 1000).map(new));
        desk.pull();
        desk.engine.receive((first..first + 1000).map(made));
        assert_eq!(desk.pull().client.iter().filter(|answer| answer["result"]["sessionId"].is_string()).count(), 1000);
    }
    desk.engine.receive([new(20_000)]);
    let out = desk.pull();
    let message = out.answer(20_000)["error"]["message"].as_str().unwrap();
    assert!(message.contains("20000 sessions are open"), "{message}");
    desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": "s7"}})).answer("close");
    desk.new_session("another", CWD);
}
