//! What an agent says before it answers that it has resumed a session is new: a resume replays nothing.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::scenes::{CWD, ask_load, ask_prompt, ask_resume, converse, leave, load, said, updates};

const TURN: (&str, &str) = ("A question", "An answer");
const WORDS: &str = "Two servers could not be started.";

fn resumes() -> Value {
    json!({"sessionCapabilities": {"resume": {}}})
}

/// A session of one turn that is open nowhere.
fn had(store: &Memory, world: &World) {
    let mut desk = Desk::ready(store, world, &resumes());
    desk.new_session("s1", CWD);
    converse(&mut desk, "s1", &[TURN]);
    leave(desk);
}

fn call() -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "Restore", "status": "completed"})
}

#[test]
fn what_is_said_before_a_resume_is_shown_behind_the_history_and_kept() {
    for is_load in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        had(&store, &world);
        let mut desk = Desk::ready(&store, &world, &resumes());
        let mut out = if is_load { ask_load(&mut desk, "open", "s1") } else { ask_resume(&mut desk, "open", "s1") };
        let asked = out.request("session/resume");
        for told in [chunk("agent_message_chunk", WORDS), call()] {
            out.extend(desk.agent(update("s1", told)));
        }
        out.extend(desk.reply(&asked, json!({})));
        let before = if is_load { "> A questionAn answer" } else { "" };
        assert_eq!(said(&out.client).concat(), format!("{before}{WORDS}"), "load: {is_load}");
        assert_eq!(updates(&out, "tool_call").len(), 1, "load: {is_load}");
        out.answer("open");
        leave(desk);
        let mut other = Desk::ready(&store, &world, &json!({}));
        let out = load(&mut other, "s1", &[]);
        assert_eq!(said(&out.client).concat(), format!("> A questionAn answer{WORDS}"), "load: {is_load}");
        assert_eq!(updates(&out, "tool_call").len(), 1, "load: {is_load}");
    }
}

#[test]
fn an_agent_that_replays_as_it_resumes_says_nothing_new() {
    let (store, world) = (Memory::new(), World::unrecorded());
    had(&store, &world);
    for _ in 0..2 {
        let mut desk = Desk::ready(&store, &world, &resumes());
        let asked = ask_resume(&mut desk, "open", "s1").request("session/resume");
        for (kind, text) in
            [("agent_message_chunk", "Hello"), ("user_message_chunk", TURN.0), ("agent_message_chunk", TURN.1)]
        {
            desk.agent(update("s1", chunk(kind, text)));
        }
        let out = desk.reply(&asked, json!({}));
        assert!(said(&out.client).is_empty(), "{:?}", out.client);
        leave(desk);
    }
    let mut other = Desk::ready(&store, &world, &json!({}));
    assert_eq!(said(&load(&mut other, "s1", &[]).client), ["> A question", "An answer"]);
}

#[test]
fn an_agent_that_was_started_again_says_it_before_the_prompt_that_it_is_for() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &resumes());
    desk.new_session("s1", CWD);
    converse(&mut desk, "s1", &[TURN]);
    desk.revive(&resumes());
    let asked = ask_prompt(&mut desk, "next", "s1", "Next").request("session/resume");
    desk.agent(update("s1", chunk("agent_message_chunk", WORDS)));
    let out = desk.reply(&asked, json!({}));
    assert_eq!(said(&out.client), [WORDS]);
    let prompt = out.request("session/prompt");
    desk.agent(update("s1", chunk("agent_message_chunk", "Well")));
    desk.reply(&prompt, json!({"stopReason": "end_turn"}));
    leave(desk);
    let mut other = Desk::ready(&store, &world, &json!({}));
    assert_eq!(said(&load(&mut other, "s1", &[]).client).concat(), format!("> A questionAn answer{WORDS}> NextWell"));
}
