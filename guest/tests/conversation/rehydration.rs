//! An agent that does not know what was said is told until it has heard it.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World};
use crate::scenes::{CWD, TOLD, account, ask_load, ask_prompt, leave, listing, load, oblige, row, told};

/// The agent `b`, which has never heard of the sessions of `a`.
fn another<'a>(store: &'a Memory, world: &'a World, capabilities: &Value) -> Desk<'a> {
    let mut desk = Desk::open(store, world, &[]);
    desk.greet(Some("b"), capabilities);
    desk
}

fn keeping() -> [Value; 2] {
    [json!({"loadSession": true}), json!({"sessionCapabilities": {"resume": {}}})]
}

#[test]
fn what_was_said_is_handed_over_again_until_a_prompt_has_succeeded() {
    for code in [-32603, -32000] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &json!({}));
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let out = ask_load(&mut desk, "load", &id);
        oblige(&mut desk, out, &[], "s2");
        for attempt in ["p1", "p2"] {
            let out = ask_prompt(&mut desk, attempt, &id, "Third");
            assert!(account(&out).is_some_and(|text| text.contains("First answer")), "{code} {attempt}");
            let out = desk.refuse(&out.request("session/prompt"), code);
            assert_eq!(out.answer(attempt)["error"]["code"], code);
        }
        let out = ask_prompt(&mut desk, "p3", &id, "Third");
        assert!(account(&out).is_some_and(|text| text.contains("First answer")), "{code}");
        desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"}));
        let out = ask_prompt(&mut desk, "p4", &id, "Fourth");
        assert_eq!(account(&out), None, "{code}");
    }
}

#[test]
fn what_is_to_be_told_waits_behind_slash_commands_which_agents_know_by_what_a_prompt_begins_with() {
    for (texts, is_told) in [
        (["/compact", "/init --all"].as_slice(), false),
        (&["/mcp:run this"], false),
        (&["/usr/bin is a folder"], true),
        (&["Run /compact"], true),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &keeping()[0]);
        desk.new_session("s1", CWD);
        desk.turn("s1", TOLD[0].0, &[TOLD[0].1]);
        let mut other = Desk::ready(&store, &world, &keeping()[0]);
        load(&mut other, "s1", &TOLD[..1]);
        other.turn("s1", TOLD[1].0, &[TOLD[1].1]);
        leave(other);
        for text in texts {
            let out = ask_prompt(&mut desk, text, "s1", text);
            assert_eq!(account(&out).is_some(), is_told, "{text}");
            desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"}));
        }
        for (request, is_due) in [("next", !is_told), ("last", false)] {
            let out = ask_prompt(&mut desk, request, "s1", "And now?");
            let told = account(&out);
            assert_eq!(
                told.as_ref().is_some_and(|told| told.contains(TOLD[1].1)),
                is_due,
                "{request} behind {texts:?}"
            );
            assert!(!told.is_some_and(|told| texts.iter().any(|text| told.contains(text))), "{texts:?}");
            desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"}));
        }
    }
}

/// How a session that was opened is left, without a prompt, before it is opened again.
#[derive(Debug, Clone, Copy)]
enum Left {
    Closed,
    ClientEnds,
    Killed,
}

#[test]
fn what_was_said_is_handed_over_after_a_session_was_opened_and_left_without_a_prompt() {
    for capabilities in keeping() {
        for left in [Left::Closed, Left::ClientEnds, Left::Killed] {
            let (store, world) = (Memory::new(), World::default());
            let id = told(&store, &world, &json!({}));
            let mut desk = another(&store, &world, &capabilities);
            let out = ask_load(&mut desk, "load", &id);
            oblige(&mut desk, out, &[], "b1");
            match left {
                Left::Closed => {
                    desk.ask("session/close", json!({"sessionId": id}));
                }
                Left::ClientEnds => {
                    desk.engine.peer_closed(Peer::Client);
                    desk = another(&store, &world, &capabilities);
                }
                Left::Killed => desk = another(&store, &world, &capabilities),
            }
            let out = ask_load(&mut desk, "load", &id);
            let out = oblige(&mut desk, out, &[], "b2");
            out.answer("load");
            let out = ask_prompt(&mut desk, "prompt", &id, "Third");
            let text = account(&out).unwrap_or_default();
            assert!(text.contains("First question") && text.contains("Second answer"), "{left:?} {capabilities}");
        }
    }
}

#[test]
fn what_was_said_is_handed_over_after_a_resume_as_after_a_load() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let mut desk = another(&store, &world, &capabilities);
    let out = ask_load(&mut desk, "load", &id);
    oblige(&mut desk, out, &[], "b1");
    let mut desk = another(&store, &world, &capabilities);
    let out = crate::scenes::ask_resume(&mut desk, "resume", &id);
    oblige(&mut desk, out, &[], "b2").answer("resume");
    let out = ask_prompt(&mut desk, "prompt", &id, "Third");
    assert!(account(&out).is_some_and(|text| text.contains("First answer")));
}

#[test]
fn a_fork_is_told_its_history_until_a_prompt_has_succeeded_also_after_a_restart() {
    for restarts in [false, true] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world, &json!({}));
        let capabilities = json!({"sessionCapabilities": {"resume": {}}});
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let params = json!({"sessionId": id, "cwd": CWD});
        let out = desk.client(json!({"id": "fork", "method": "session/fork", "params": params}));
        let out = oblige(&mut desk, out, TOLD, "f1");
        let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
        if restarts {
            desk = Desk::ready(&store, &world, &capabilities);
            let out = ask_load(&mut desk, "load", &fork);
            oblige(&mut desk, out, &[], "f2").answer("load");
        } else {
            let out = ask_prompt(&mut desk, "p1", &fork, "Only here");
            desk.refuse(&out.request("session/prompt"), -32603);
        }
        let out = ask_prompt(&mut desk, "p2", &fork, "Only here");
        assert!(account(&out).is_some_and(|text| text.contains("First answer")), "restarts: {restarts}");
    }
}

#[test]
fn an_instance_lost_between_opening_and_the_first_prompt_forgets_nothing() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = ask_load(&mut desk, "load", &id);
    oblige(&mut desk, out, &[], "s2").answer("load");
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    let out = ask_prompt(&mut desk, "p1", &id, "Third");
    assert_eq!(out.request("session/prompt")["params"]["sessionId"], "s2");
    assert!(account(&out).is_some());
    desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"}));
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    let out = ask_prompt(&mut desk, "p2", &id, "Fourth");
    assert_eq!(account(&out), None);
}

#[test]
fn an_agent_that_begins_anew_by_the_id_of_a_session_that_only_it_has_is_told_what_was_said_since() {
    let (store, world) = (Memory::new(), World::default());
    listing(&store, &world, "a", &json!({}), &[row("s1", "Of old", "2025-10-09T08:53:20Z")]);
    let mut said = Vec::new();
    for question in ["First question", "Second question", "Third question"] {
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let out = ask_load(&mut desk, "load", "s1");
        oblige(&mut desk, out, &[], "s1").answer("load");
        let out = ask_prompt(&mut desk, "prompt", "s1", question);
        let account = account(&out).unwrap_or_default();
        assert!(said.iter().all(|said| account.contains(said)), "{question}: {account}");
        desk.reply(&out.request("session/prompt"), json!({"stopReason": "end_turn"}));
        said.push(question);
    }
}

#[test]
fn an_agent_of_another_window_is_told_all_of_it_though_it_hands_out_the_same_ids() {
    let (store, world) = (Memory::new(), World::default());
    let mut first = Desk::ready(&store, &world, &json!({}));
    first.new_session("s1", CWD);
    first.turn("s1", "First question", &["First answer"]);
    let mut second = Desk::ready(&store, &world, &json!({}));
    let out = ask_load(&mut second, "load", "s1");
    oblige(&mut second, out, &[], "s1").answer("load");
    first.turn("s1", "Second question", &["Second answer"]);
    let out = ask_prompt(&mut second, "prompt", "s1", "Third");
    let account = account(&out).unwrap_or_default();
    for said in ["First question", "First answer", "Second question", "Second answer"] {
        assert!(account.contains(said), "{said}: {account}");
    }
}
