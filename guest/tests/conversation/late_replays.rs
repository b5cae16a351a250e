//! Agents that tell what they have of a conversation behind their answer to opening it, or to forking it.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, Turns, account, answers, ask_fork, ask_load, ask_prompt, ask_resume, leave, lines, load, oblige, replay,
    said, told,
};

const NEW: Turns<'static> = &[("New question", "New answer")];

/// Longer than an agent may take to begin, in milliseconds.
const LATER: i64 = 20_000;

/// How a session is opened, and what its agent can do.
fn ways() -> [(&'static str, Value); 5] {
    let all = json!({"loadSession": true, "sessionCapabilities": {"resume": {}, "fork": {}}});
    [
        ("session/load", json!({"loadSession": true})),
        ("session/load", json!({"sessionCapabilities": {"resume": {}}})),
        ("session/resume", json!({"sessionCapabilities": {"resume": {}}})),
        ("session/fork", json!({"sessionCapabilities": {"fork": {}}})),
        ("session/fork", all),
    ]
}

/// The client has opened or forked `s1` by this method, and the agent has told nothing: the session's id, its agent's id and
/// what was said to the client.
fn opened(desk: &mut Desk<'_>, method: &str) -> (String, &'static str, Out) {
    let (mut out, request) = match method {
        "session/load" => (ask_load(desk, "open", "s1"), "open"),
        "session/resume" => (ask_resume(desk, "open", "s1"), "open"),
        _ => (ask_fork(desk, "s1"), "fork"),
    };
    let asked = out.agent.iter().find(|asked| asked["method"] != "session/list").cloned().expect("it is asked");
    let agent_id = if asked["method"] == "session/fork" { "f1" } else { "s1" };
    let answer = if agent_id == "f1" { json!({"sessionId": "f1"}) } else { json!({}) };
    out.extend(desk.reply(&asked, answer));
    let id = out.answer(request)["result"]["sessionId"].as_str().unwrap_or("s1").to_owned();
    (id, agent_id, out)
}

/// What is kept of it, as it is shown to who opens it with another agent.
fn kept(store: &Memory, world: &World, id: &str) -> Vec<String> {
    let mut desk = Desk::open(store, world, &[]);
    desk.greet(Some("other"), &json!({}));
    let shown = said(&load(&mut desk, id, &[]).client);
    leave(desk);
    shown
}

/// What is shown of it by the next connection, and the one after.
fn shown_next(store: &Memory, world: &World, id: &str, capabilities: &Value, turns: Turns<'_>) -> [Vec<String>; 2] {
    [(); 2].map(|()| {
        world.now.set(world.now.get() + 60_000);
        let mut desk = Desk::ready(store, world, capabilities);
        let shown = said(&load(&mut desk, id, turns).client);
        leave(desk);
        shown
    })
}

#[test]
fn what_is_told_behind_the_answer_is_neither_shown_again_nor_kept_twice() {
    for (method, capabilities) in ways() {
        for is_gone_on_with in [false, true] {
            let case = format!("{method} {capabilities}, gone on with: {is_gone_on_with}");
            let (store, world) = (Memory::new(), World::unrecorded());
            told(&store, &world, &capabilities);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let (id, agent_id, _) = opened(&mut desk, method);
            let out = replay(&mut desk, agent_id, TOLD);
            assert_eq!(said(&out.client), [""; 0], "{case}");
            let mut all = TOLD.to_vec();
            if is_gone_on_with {
                let out = desk.turn(&id, NEW[0].0, &[NEW[0].1]);
                assert_eq!(said(&out.client), [NEW[0].1], "{case}");
                all.extend(NEW);
            }
            desk.wait(500);
            leave(desk);
            assert_eq!(kept(&store, &world, &id), lines(&[&all]), "{case}");
            let shown = shown_next(&store, &world, &id, &capabilities, &all);
            assert_eq!(shown, [lines(&[&all]), lines(&[&all])], "{case}");
        }
    }
}

#[test]
fn so_it_is_though_the_client_has_sent_a_prompt_by_then() {
    for (method, capabilities) in ways() {
        for before_the_prompt in 0..=TOLD.len() {
            let (store, world) = (Memory::new(), World::unrecorded());
            told(&store, &world, &capabilities);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let (id, agent_id, _) = opened(&mut desk, method);
            let mut out = replay(&mut desk, agent_id, &TOLD[..before_the_prompt]);
            let asked = ask_prompt(&mut desk, "turn", &id, NEW[0].0).request("session/prompt");
            out.extend(replay(&mut desk, agent_id, &TOLD[before_the_prompt..]));
            assert_eq!(said(&out.client), [""; 0], "{method} {before_the_prompt}");
            // This one repeats the prompt as well.
            desk.agent(update(agent_id, chunk("user_message_chunk", NEW[0].0)));
            let out = desk.agent(update(agent_id, chunk("agent_message_chunk", NEW[0].1)));
            assert_eq!(said(&out.client), [NEW[0].1]);
            desk.reply(&asked, json!({"stopReason": "end_turn"}));
            let shown = kept(&store, &world, &id);
            assert_eq!(shown, lines(&[TOLD, NEW]), "{method} {before_the_prompt}");
        }
    }
}

#[test]
fn a_turn_that_is_as_the_first_one_was_is_kept() {
    for (method, capabilities) in ways() {
        for echoes in [false, true] {
            for is_replayed in [false, true] {
                let (store, world) = (Memory::new(), World::unrecorded());
                told(&store, &world, &capabilities);
                let mut desk = Desk::ready(&store, &world, &capabilities);
                let (id, agent_id, _) = opened(&mut desk, method);
                if is_replayed {
                    replay(&mut desk, agent_id, TOLD);
                }
                let (user, agent) = TOLD[0];
                let asked = ask_prompt(&mut desk, "turn", &id, user).request("session/prompt");
                if echoes {
                    desk.agent(update(agent_id, chunk("user_message_chunk", user)));
                }
                let out = desk.agent(update(agent_id, chunk("agent_message_chunk", agent)));
                assert_eq!(said(&out.client), [agent]);
                desk.reply(&asked, json!({"stopReason": "end_turn"}));
                let shown = kept(&store, &world, &id);
                assert_eq!(shown, lines(&[TOLD, &TOLD[..1]]), "{method}, echoes: {echoes}, replayed: {is_replayed}");
            }
        }
    }
}

#[test]
fn what_the_agent_says_by_itself_is_kept() {
    // What it says, and after how long; the first is as the first turn was.
    for (turns, after) in [(&TOLD[..1], LATER), (NEW, 0), (&TOLD[1..], 0)] {
        for (method, capabilities) in ways() {
            let (store, world) = (Memory::new(), World::unrecorded());
            told(&store, &world, &capabilities);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let (id, agent_id, _) = opened(&mut desk, method);
            desk.wait(after);
            assert_eq!(said(&replay(&mut desk, agent_id, turns).client), lines(&[turns]), "{method}");
            desk.wait(500);
            let shown = kept(&store, &world, &id);
            assert_eq!(shown, lines(&[TOLD, turns]), "{method} {turns:?}");
        }
    }
}

#[test]
fn what_it_says_behind_its_replay_is_kept() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"sessionCapabilities": {"fork": {}}});
    told(&store, &world, &capabilities);
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let (id, agent_id, _) = opened(&mut desk, "session/fork");
    let out = replay(&mut desk, agent_id, &[TOLD, NEW].concat());
    assert_eq!(said(&out.client), lines(&[NEW]));
    desk.wait(500);
    assert_eq!(kept(&store, &world, &id), lines(&[TOLD, NEW]));
}

#[test]
fn what_is_said_in_a_session_in_which_nothing_was_is_kept() {
    for method in ["session/resume", "session/fork"] {
        let capabilities = json!({"sessionCapabilities": {"resume": {}, "fork": {}}});
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &capabilities);
        desk.new_session("s1", CWD);
        leave(desk);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let (id, agent_id, _) = opened(&mut desk, method);
        for _ in 0..2 {
            replay(&mut desk, agent_id, NEW);
        }
        let asked = ask_prompt(&mut desk, "turn", &id, NEW[0].0).request("session/prompt");
        desk.agent(update(agent_id, chunk("user_message_chunk", NEW[0].0)));
        desk.agent(update(agent_id, chunk("agent_message_chunk", NEW[0].1)));
        desk.reply(&asked, json!({"stopReason": "end_turn"}));
        assert_eq!(kept(&store, &world, &id), lines(&[NEW, NEW, NEW]), "{method}");
    }
}

#[test]
fn an_account_that_is_told_so_too_is_the_layers() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::open(&store, &world, &[]);
    desk.greet(Some("b"), &json!({}));
    desk.new_session("s1", CWD);
    desk.turn("s1", "Theirs", &["Their answer"]);
    leave(desk);
    let capabilities = json!({"sessionCapabilities": {"fork": {}, "resume": {}}});
    let mut desk = Desk::ready(&store, &world, &capabilities);
    let out = ask_load(&mut desk, "load", "s1");
    oblige(&mut desk, out, &[], "a1").answer("load");
    let prompt = ask_prompt(&mut desk, "turn", "s1", NEW[0].0);
    let account = account(&prompt).expect("it is told what was said");
    desk.agent(update("a1", chunk("agent_message_chunk", NEW[0].1)));
    desk.agent(answers("turn"));
    let asked = ask_fork(&mut desk, "s1").request("session/fork");
    let out = desk.reply(&asked, json!({"sessionId": "f1"}));
    let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
    let mut out = desk.agent(update("f1", chunk("user_message_chunk", &account)));
    out.extend(replay(&mut desk, "f1", NEW));
    assert_eq!(said(&out.client), [""; 0]);
    desk.wait(500);
    let shown = kept(&store, &world, &fork);
    assert_eq!(shown, ["> Theirs", "Their answer", "> New question", "New answer"]);
}
