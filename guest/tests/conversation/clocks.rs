//! What time does to sessions: open marks, steps of the clock, sweeps.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::follower::{hinted, rows};
use crate::scenes::{
    CWD, TOLD, answers, ask_fork, ask_load, ask_prompt, ask_resume, lines, listing, load, oblige, replay, row, said,
    set, told,
};

const HOUR: i64 = 3_600_000;
const DAY: i64 = 24 * HOUR;
/// For how long a computer may be asleep; an agent may be silent for two minutes.
const ASLEEP: [i64; 2] = [130_000, 8 * HOUR];

fn status(desk: &mut Desk<'_>, id: &str) -> Value {
    desk.ask("session/status", json!({"sessionId": id}))["result"]["status"].clone()
}

#[test]
fn a_session_is_saved_soon_after_its_connection_vanished_and_open_while_it_lives() {
    let (store, world) = (Memory::new(), World::default());
    let mut alive = Desk::ready(&store, &world, &json!({}));
    let open = alive.new_session("s1", CWD);
    let mut killed = Desk::ready(&store, &world, &json!({}));
    let left = killed.new_session("s2", CWD);
    for _ in 0..5 {
        alive.wait(500);
        killed.wait(500);
    }
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert_eq!((status(&mut desk, &open), status(&mut desk, &left)), (json!("open"), json!("open")));
    drop(killed);
    for _ in 0..20 {
        alive.wait(1000);
        desk.wait(0);
    }
    assert_eq!((status(&mut desk, &open), status(&mut desk, &left)), (json!("open"), json!("saved")));
    for _ in 0..300 {
        alive.wait(1000);
    }
    assert_eq!(status(&mut desk, &open), "open");
    alive.engine.peer_closed(Peer::Client);
    assert_eq!(status(&mut desk, &open), "saved", "an orderly end is known at once");
}

#[test]
fn what_is_said_after_the_clock_stepped_back_is_still_written() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "prompt", &id, "Go");
    desk.agent(update("s1", chunk("agent_message_chunk", "before ")));
    desk.wait(200);
    world.now.set(world.now.get() - HOUR);
    desk.agent(update("s1", chunk("agent_message_chunk", "after")));
    desk.wait(200);
    desk.wait(200);
    drop(desk);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    assert_eq!(said(&load(&mut desk, &id, &[]).client), ["> Go", "before after"]);
}

#[test]
fn limits_and_lists_work_after_the_clock_stepped_back() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true});
    let id = told(&store, &world, &capabilities);
    let mut desk = set(&store, &world, &capabilities, &[("agent-timeout-ms", "1000")]);
    world.now.set(world.now.get() - HOUR);
    ask_load(&mut desk, "load", &id);
    let mut out = desk.wait(600);
    out.extend(desk.wait(600));
    out.extend(desk.wait(600));
    assert!(out.answer("load")["error"].is_object());
    assert_eq!(desk.listed(), [id]);
}

#[test]
fn sessions_without_a_prompt_are_swept_after_a_day_and_no_others() {
    let (store, world) = (Memory::new(), World::default());
    let prompted = told(&store, &world, &json!({}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let empty = desk.new_session("empty", CWD);
    desk.engine.peer_closed(Peer::Client);
    for (hours, expected) in [(23, vec![prompted.as_str(), empty.as_str()]), (2, vec![prompted.as_str()])] {
        world.now.set(world.now.get() + hours * HOUR);
        let mut desk = Desk::ready(&store, &world, &json!({}));
        for _ in 0..10 {
            desk.wait(1000);
        }
        let mut listed = desk.listed();
        listed.sort_unstable_by_key(|id| *id != prompted);
        assert_eq!(listed, expected);
    }
}

#[test]
fn open_sessions_without_a_prompt_do_not_stop_the_sweep() {
    let (store, world) = (Memory::new(), World::default());
    let mut open = Desk::ready(&store, &world, &json!({}));
    for number in 0..6 {
        open.new_session(&format!("open-{number}"), CWD);
        open.wait(10);
    }
    let mut left = Desk::ready(&store, &world, &json!({}));
    for number in 0..6 {
        left.new_session(&format!("left-{number}"), CWD);
        left.wait(10);
    }
    left.engine.peer_closed(Peer::Client);
    open.wait(25 * HOUR);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for _ in 0..30 {
        open.wait(500);
        desk.wait(500);
    }
    let mut listed = desk.listed();
    listed.sort_unstable();
    assert_eq!(listed, (0..6).map(|number| format!("open-{number}")).collect::<Vec<_>>());
}

#[test]
fn retention_never_touches_what_only_the_agent_has() {
    let (store, world) = (Memory::new(), World::default());
    let settings = [("retain-days", "30")];
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"list": {}}});
    let turns = &[("Old question", "Old answer")];
    for adopts in [false, true] {
        let mut desk = set(&store, &world, &capabilities, &settings);
        drop(listing(&store, &world, "a", &capabilities, &[row("o1", "Old", "2025-01-01T00:00:00Z")]));
        if adopts {
            load(&mut desk, "o1", turns).answer("load");
            desk.ask("session/close", json!({"sessionId": "o1"}));
        }
        for _ in 0..10 {
            desk.wait(1000);
        }
        let mut desk = set(&store, &world, &capabilities, &[]);
        desk.wait(2000);
        assert_eq!(desk.listed(), ["o1"], "adopted a moment ago: {adopts}");
        assert_eq!(said(&load(&mut desk, "o1", turns).client), lines(&[turns]));
        desk.engine.peer_closed(Peer::Client);
    }
}

#[test]
fn retention_removes_what_was_idle_for_too_long() {
    let (store, world) = (Memory::new(), World::default());
    let settings = [("retain-days", "30")];
    let id = told(&store, &world, &json!({}));
    for (days, expected) in [(29, vec![id.as_str()]), (2, Vec::new())] {
        world.now.set(world.now.get() + days * DAY);
        let mut desk = set(&store, &world, &json!({}), &settings);
        for _ in 0..10 {
            desk.wait(1000);
        }
        assert_eq!(desk.listed(), expected, "{days}");
    }
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
    let out = ask_load(&mut desk, "load", &id);
    assert_eq!(oblige(&mut desk, out, TOLD, "never").answer("load")["error"]["code"], -32002);
}

#[test]
fn an_agent_that_was_asleep_with_the_computer_while_it_opens_a_session_is_not_given_up_for_that() {
    let loads = json!({"loadSession": true});
    for (request, method, capabilities) in [
        ("load", "session/load", loads.clone()),
        ("load", "session/resume", json!({"sessionCapabilities": {"resume": {}}})),
        ("load", "session/new", json!({})),
        ("resume", "session/resume", json!({"sessionCapabilities": {"resume": {}}})),
        ("fork", "session/fork", json!({"sessionCapabilities": {"fork": {}}})),
    ] {
        for asleep in ASLEEP {
            let (store, world) = (Memory::new(), World::unrecorded());
            let id = told(&store, &world, &capabilities);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let asked = match request {
                "load" => ask_load(&mut desk, request, &id),
                "resume" => ask_resume(&mut desk, request, &id),
                _ => ask_fork(&mut desk, &id),
            };
            desk.wait(1000);
            let mut out = desk.wait(asleep);
            out.extend(desk.wait_awake(100_000));
            assert!(out.is_open(request), "{request} by {method}, {asleep}: {:?}", out.client);
            out.agent.extend(asked.agent);
            let out = oblige(&mut desk, out, TOLD, "fresh");
            assert!(out.answer(request)["error"].is_null(), "{request} by {method}, {asleep}: {:?}", out.client);
        }
    }
}

#[test]
fn an_agent_that_is_silent_once_the_computer_is_awake_again_is_given_up() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"loadSession": true});
    let id = told(&store, &world, &capabilities);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    ask_load(&mut desk, "load", &id);
    for _ in 0..3 {
        assert!(desk.wait(HOUR).is_open("load"));
        assert!(desk.wait_awake(20_000).is_open("load"));
    }
    assert_eq!(desk.wait_awake(60_000).answer("load")["error"]["code"], -32603);
}

#[test]
fn an_agent_that_was_asleep_with_the_computer_while_it_closes_a_session_is_not_given_up_for_that() {
    for asleep in ASLEEP {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"close": {}}}));
        let id = desk.new_session("s1", CWD);
        ask_prompt(&mut desk, "prompt", &id, "Go");
        desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": id}}));
        desk.wait(1000);
        let out = desk.wait(asleep);
        assert!(out.is_open("prompt") && out.is_open("close"), "{asleep}: {:?}", out.client);
        let out = desk.agent(json!({"id": "prompt", "result": {"stopReason": "end_turn"}}));
        assert_eq!(out.answer("prompt")["result"]["stopReason"], "end_turn");
        desk.wait(1000);
        assert!(desk.wait(asleep).is_open("close"), "{asleep}");
        let answer = json!({"_meta": {"of": "the agent"}});
        let out = desk.reply(&out.request("session/close"), answer.clone());
        assert_eq!(out.answer("close")["result"], answer);
    }
}

#[test]
fn what_waits_for_an_agent_that_was_started_again_waits_on_when_the_computer_was_asleep() {
    for asleep in ASLEEP {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.new_session("s1", CWD);
        let asked = desk.restart().request("initialize");
        ask_prompt(&mut desk, "prompt", "s1", "Go");
        desk.wait(1000);
        assert!(desk.wait(asleep).is_open("prompt"), "{asleep}");
        let info = json!({"name": "a", "version": "1"});
        let result = json!({"protocolVersion": 1, "agentInfo": info, "agentCapabilities": {}});
        let out = desk.reply(&asked, result);
        let out = oblige(&mut desk, out, &[], "fresh");
        assert_eq!(out.answer("prompt")["result"]["stopReason"], "end_turn");
    }
}

#[test]
fn a_page_of_the_agents_list_is_not_given_up_because_the_computer_was_asleep() {
    for asleep in ASLEEP {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::open(&store, &world, &[]);
        let asked = desk.greet(Some("a"), &json!({"sessionCapabilities": {"list": {}}})).request("session/list");
        desk.wait(1000);
        let out = desk.wait(asleep);
        assert!(out.agent.is_empty(), "{asleep}: {:?}", out.agent);
        desk.reply(&asked, json!({"sessions": [row("o1", "Own", "2025-01-01T00:00:00Z")]}));
        desk.wait(0);
        assert_eq!(desk.listed(), ["o1"]);
    }
}

#[test]
fn a_history_that_is_told_to_nobody_is_waited_for_though_the_computer_was_asleep() {
    for asleep in ASLEEP {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        let out = ask_resume(&mut desk, "resume", "o1");
        oblige(&mut desk, out, TOLD, "never").answer("resume");
        let asked = ask_load(&mut desk, "load", "o1").request("session/load");
        // The instance is lost.
        let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
        desk.pull();
        ask_prompt(&mut desk, "prompt", "o1", "Third question");
        desk.wait(1000);
        assert!(desk.wait(asleep).asked("session/prompt").is_none(), "{asleep}");
        let mut out = replay(&mut desk, "o1", TOLD);
        out.extend(desk.reply(&asked, json!({})));
        out.request("session/prompt");
        assert_eq!(said(&out.client), [""; 0], "{asleep}");
    }
}

#[test]
fn no_turn_is_shown_to_have_ended_before_its_prompt_though_the_clock_was_set_back_in_it() {
    // Before the session was made, and behind that.
    for (before, back) in [(0, HOUR), (2 * HOUR, HOUR), (2 * HOUR, DAY)] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = hinted(&store, &world);
        let id = desk.new_session("s1", CWD);
        world.now.set(world.now.get() + before);
        ask_prompt(&mut desk, "prompt", &id, "Go");
        desk.wait(500);
        world.now.set(world.now.get() - back);
        desk.agent(answers("prompt"));
        let is_in_order = |desk: &mut Desk<'_>| {
            let row = rows(desk).remove(0);
            let time = |member: &str| row[member].as_str().unwrap_or_else(|| panic!("{member}: {row}")).to_owned();
            assert_eq!(row["state"], "idle");
            assert!(time("lastPromptAt") <= time("lastTurnEndedAt"), "{before} {back}: {row}");
            let created = row["_meta"]["acp-sessions"]["createdAt"].as_str().unwrap();
            assert!(created <= time("lastPromptAt").as_str(), "{before} {back}: {row}");
            assert!(time("lastTurnEndedAt") <= time("updatedAt"), "{before} {back}: {row}");
        };
        is_in_order(&mut desk);
        // What the agent says by itself is later, whichever time the prompt had.
        for _ in 0..3 {
            desk.wait(10 * 60_000);
            desk.agent(update("s1", chunk("agent_message_chunk", "By the way")));
            desk.wait(500);
            is_in_order(&mut desk);
        }
        desk.turn(&id, "On", &["Yes"]);
        is_in_order(&mut desk);
    }
}
