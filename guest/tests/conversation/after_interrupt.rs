//! Hermes writes a prompt that was cancelled before the next one, in the same message, and tells it by itself as well. Each is shown once,
//! as it was said.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{CWD, ask_load, ask_prompt, leave, listing, mark, row, says, told_all, words};

const LATER: &str = "2025-10-10T00:00:00Z";

/// What a user said, what was answered, and whether the turn was cancelled.
type Turn = (&'static str, &'static str, bool);

const PLAIN: Turn = ("plain", "Here is a plain answer.", false);
const LONG: Turn = ("long", "I begin to tell a long story", true);
const QUIET: Turn = ("quiet", "", true);
const OTHER_QUIET: Turn = ("quiet\n\n2", "", true);
const OK: Turn = ("ok", "OK", false);
const THIRD: Turn = ("third", "The third.", false);

const CASES: &[&[Turn]] = &[
    &[PLAIN, LONG, OK],
    &[LONG, OK],
    &[PLAIN, LONG, OK, THIRD],
    &[PLAIN, LONG, LONG, OK],
    &[PLAIN, LONG, LONG],
    &[PLAIN, LONG, OK, LONG, THIRD],
    &[PLAIN, QUIET, OK],
    &[PLAIN, QUIET, OTHER_QUIET, OK],
    &[QUIET, OTHER_QUIET, OTHER_QUIET, OK],
    &[PLAIN, QUIET, LONG, OK],
    &[PLAIN, LONG, QUIET, OK],
];

/// What Hermes tells of these: messages of the user's and its own.
fn replay(turns: &[Turn]) -> Vec<(bool, String)> {
    let mut told: Vec<(bool, String)> = Vec::new();
    let mut cancelled: Option<String> = None;
    for (prompt, answer, is_cancelled) in turns {
        let prompt = match cancelled.take() {
            Some(cancelled) => format!("{cancelled}\n\nUser correction/guidance after interrupt: {prompt}"),
            None => (*prompt).to_owned(),
        };
        cancelled = is_cancelled.then(|| prompt.clone());
        match told.last_mut() {
            Some((true, before)) => *before = format!("{before}\n\n{prompt}"),
            _ => told.push((true, prompt)),
        }
        if !answer.is_empty() {
            told.push((false, (*answer).to_owned()));
        }
    }
    told
}

fn load(desk: &mut Desk<'_>, turns: &[Turn], has_ids: bool) -> Out {
    let mut out = ask_load(desk, "load", "s1");
    let asked = out.request("session/load");
    for (at, (is_users, text)) in replay(turns).into_iter().enumerate() {
        let mut telling = chunk(if is_users { "user_message_chunk" } else { "agent_message_chunk" }, &text);
        if has_ids {
            telling["messageId"] = format!("m{at}").into();
        }
        out.extend(desk.agent(update("s1", telling)));
    }
    out.extend(desk.reply(&asked, json!({})));
    told_all(desk, out)
}

fn loads() -> Value {
    json!({"loadSession": true})
}

fn have(desk: &mut Desk<'_>, (prompt, answer, is_cancelled): Turn) {
    let asked = ask_prompt(desk, "turn", "s1", prompt).request("session/prompt");
    if !answer.is_empty() {
        desk.agent(says(answer));
    }
    if is_cancelled {
        desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
    }
    desk.reply(&asked, json!({"stopReason": if is_cancelled { "cancelled" } else { "end_turn" }}));
}

fn as_had(turns: &[Turn]) -> String {
    let turns: Vec<String> = turns.iter().map(|(prompt, answer, _)| format!("> {prompt}{answer}")).collect();
    turns.concat()
}

#[test]
fn a_prompt_behind_a_cancelled_one_is_shown_as_it_was_said() {
    for (case, has_ids) in CASES.iter().flat_map(|case| [(*case, false), (*case, true)]) {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = listing(&store, &world, "hermes", &loads(), &[]);
        desk.new_session("s1", CWD);
        for turn in case {
            have(&mut desk, *turn);
        }
        leave(desk);
        let mut turns = case.to_vec();
        for more in [("more", "Yes.", false), ("still more", "Well.", false)] {
            let mut desk = listing(&store, &world, "hermes", &loads(), &[row("s1", "One", LATER)]);
            let out = load(&mut desk, &turns, has_ids);
            assert_eq!(words(&out), as_had(&turns), "{case:?}, ids: {has_ids}");
            assert!(mark(&out, "load")["setAside"].is_null(), "{case:?}, ids: {has_ids}");
            have(&mut desk, more);
            turns.push(more);
            leave(desk);
        }
    }
}

#[test]
fn a_prompt_behind_a_cancelled_one_is_shown_as_it_was_said_outside() {
    for (here, all) in [(1, CASES[0]), (2, CASES[0]), (0, CASES[3]), (2, CASES[3]), (3, CASES[5])] {
        let (store, world) = (Memory::new(), World::unrecorded());
        if here > 0 {
            let mut desk = listing(&store, &world, "hermes", &loads(), &[]);
            desk.new_session("s1", CWD);
            for turn in &all[..here] {
                have(&mut desk, *turn);
            }
            leave(desk);
        }
        for _ in 0..2 {
            let mut desk = listing(&store, &world, "hermes", &loads(), &[row("s1", "One", LATER)]);
            assert_eq!(words(&load(&mut desk, all, true)), as_had(all), "{here}, {all:?}");
            leave(desk);
        }
    }
}
