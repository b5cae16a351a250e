//! What an agent says behind the replay of a session that it has open, and before its answer, and before the replay as well; or before
//! it has refused to resume it.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, Turns, account, answers, ask_load, ask_prompt, leave, lines, listing, load, load_told, mark, row, said,
    says, told, updates,
};

const AGENT: &str = "agent_message_chunk";
const USER: &str = "user_message_chunk";
const FIRST: &str = "By the way, it rains. ";
const SECOND: &str = "It has stopped. ";
const ON: Turns<'static> = &[("On", "Going on")];
/// Longer than it takes to show what has come to the history.
const SHOWN: i64 = 3000;
/// Longer than a comparison holds for an ordinary load.
const LATER: i64 = 12_000;

fn loads() -> Value {
    json!({"loadSession": true})
}

fn resumes() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"resume": {}}})
}

/// A session `s1` of two turns that is open. The agent's list, which another window reads, may say that it `has_moved_on`.
fn opened<'a>(store: &'a Memory, world: &'a World, has_moved_on: bool) -> Desk<'a> {
    told(store, world, &loads());
    let mut desk = Desk::ready(store, world, &loads());
    load(&mut desk, "s1", TOLD).answer("load");
    if has_moved_on {
        leave(listing(store, world, "a", &loads(), &[row("s1", "One", "2025-10-09T12:00:00Z")]));
    }
    desk
}

/// What the agent tells of the session where it has this behind the two turns.
fn as_told(more: &[Value]) -> Vec<Value> {
    let turns = TOLD.iter().flat_map(|(user, agent)| [chunk(USER, user), chunk(AGENT, agent)]);
    turns.chain(more.iter().cloned()).collect()
}

/// The client wants it open with other MCP servers, or only loads it once more.
fn ask_again(desk: &mut Desk<'_>, how: &str) -> Out {
    if how == "once more" {
        desk.wait_awake(LATER);
        return ask_load(desk, "again", "s1");
    }
    let servers = json!([{"name": "two", "command": "/m", "args": [], "env": []}]);
    let params = json!({"sessionId": "s1", "cwd": CWD, "mcpServers": servers});
    desk.client(json!({"id": "again", "method": how, "params": params}))
}

fn tell(desk: &mut Desk<'_>, told: &[Value]) -> Out {
    let mut out = Out::default();
    for told in told {
        out.extend(desk.agent(update("s1", told.clone())));
    }
    out
}

/// The turns, with these words behind them.
fn with_words(words: &str) -> Vec<String> {
    let mut lines = lines(&[TOLD]);
    lines.last_mut().unwrap().push_str(words);
    lines
}

/// The agent has answered: nothing is set aside, the client was shown the words once, behind all, and the agent is given no account
/// of them. They are kept so, where the agent has them in its history by then and where it has not.
fn assert_kept(mut desk: Desk<'_>, out: &Out, (store, world): (&Memory, &World), words: &[Value], what: &str) {
    let all: String = words.iter().filter_map(|word| word["content"]["text"].as_str()).collect();
    assert!(mark(out, "again")["setAside"].is_null(), "{what}");
    let shown = said(&out.client).concat();
    assert_eq!(shown.replace(&lines(&[TOLD]).concat(), ""), all, "{what}");
    let prompted = ask_prompt(&mut desk, "next", "s1", ON[0].0);
    assert_eq!(account(&prompted), None, "{what}");
    desk.agent(says(ON[0].1));
    desk.agent(answers("next"));
    leave(desk);
    let on = [chunk(USER, ON[0].0), chunk(AGENT, ON[0].1)];
    for has in [&[words, &on].concat(), &on[..]] {
        let mut desk = Desk::ready(store, world, &loads());
        let out = load_told(&mut desk, &as_told(has));
        assert_eq!(said(&out.client), [with_words(&all), lines(&[ON])].concat(), "later, {what}");
        assert!(mark(&out, "load")["setAside"].is_null(), "later, {what}");
        leave(desk);
    }
}

/// The same message in pieces, if it `is_one`, or messages of their own.
fn words(pieces: &[&str], is_one: bool) -> Vec<Value> {
    let piece = |(at, text): (usize, &&str)| {
        let mut piece = chunk(AGENT, text);
        piece["messageId"] = if is_one { json!("m9") } else { json!(format!("m{at}")) };
        piece
    };
    pieces.iter().enumerate().map(piece).collect()
}

#[test]
fn what_is_said_behind_a_replay_is_kept_though_that_ends_with_what_was_said_before() {
    for how in ["session/load", "session/resume", "once more"] {
        for first in ["between turns", "before the replay"] {
            for has_moved_on in [false, true] {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut desk = opened(&store, &world, has_moved_on);
                let words = words(&[FIRST, SECOND], false);
                let mut out = Out::default();
                if first == "between turns" {
                    let told = tell(&mut desk, &words[..1]);
                    desk.wait_awake(SHOWN);
                    // Who resumes it is not shown it once more.
                    out = if how == "session/resume" { told } else { out };
                }
                out.extend(ask_again(&mut desk, how));
                let asked = out.request("session/load");
                if first == "before the replay" {
                    out.extend(tell(&mut desk, &words[..1]));
                }
                out.extend(tell(&mut desk, &as_told(&words[..1])));
                out.extend(tell(&mut desk, &words[1..]));
                out.extend(desk.reply(&asked, json!({})));
                out.extend(desk.wait_awake(SHOWN));
                let what = format!("{how}, the first {first}, moved on: {has_moved_on}");
                assert_kept(desk, &out, (&store, &world), &words, &what);
            }
        }
    }
}

#[test]
fn a_message_that_is_said_all_the_while_is_kept_however_much_of_it_is_replayed() {
    let pieces = ["One, ", "two, ", "three, ", "four, ", "five, ", "six."];
    for how in ["session/load", "session/resume", "once more"] {
        for has_moved_on in [false, true] {
            for (before, replayed) in [(3, 3), (3, 2), (3, 0), (0, 0), (6, 2), (6, 0), (6, 6)] {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut desk = opened(&store, &world, has_moved_on);
                let words = words(&pieces, true);
                let mut out = ask_again(&mut desk, how);
                let asked = out.request("session/load");
                out.extend(tell(&mut desk, &words[..before]));
                out.extend(tell(&mut desk, &as_told(&words[..replayed])));
                out.extend(tell(&mut desk, &words[before..]));
                out.extend(desk.reply(&asked, json!({})));
                out.extend(desk.wait_awake(SHOWN));
                let what = format!("{how}, {before} before, {replayed} replayed, moved on: {has_moved_on}");
                assert_kept(desk, &out, (&store, &world), &words, &what);
            }
        }
    }
}

#[test]
fn what_was_said_before_a_resume_was_refused_is_kept_once_where_the_load_tells_it() {
    for how in ["session/load", "session/resume"] {
        for (refused, replayed) in [(1, 1), (1, 0), (2, 2), (2, 1)] {
            let (store, world) = (Memory::new(), World::unrecorded());
            told(&store, &world, &resumes());
            // Its list says that nothing was said since, so that it need not be compared.
            let mut desk = listing(&store, &world, "a", &resumes(), &[row("s1", "One", "2025-01-01T00:00:00Z")]);
            load(&mut desk, "s1", TOLD).answer("load");
            let words = words(&[FIRST, SECOND], false);
            let mut out = ask_again(&mut desk, how);
            let asked = out.request("session/resume");
            out.extend(tell(&mut desk, &words[..refused]));
            let refusal = desk.refuse(&asked, -32603);
            let asked = refusal.request("session/load");
            out.extend(refusal);
            out.extend(tell(&mut desk, &as_told(&words[..replayed])));
            out.extend(desk.reply(&asked, json!({})));
            out.extend(desk.wait_awake(SHOWN));
            let what = format!("{how}, {refused} said, {replayed} replayed");
            assert_kept(desk, &out, (&store, &world), &words[..refused], &what);
        }
    }
}

#[test]
fn a_tool_call_that_begins_behind_the_replay_is_kept_to_its_end() {
    let call = |kind: &str, status: &str| json!({"sessionUpdate": kind, "toolCallId": "b", "title": "Build", "status": status});
    let (begins, ends) = (call("tool_call", "in_progress"), call("tool_call_update", "completed"));
    for how in ["session/load", "session/resume", "once more"] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = opened(&store, &world, false);
        let mut out = ask_again(&mut desk, how);
        let asked = out.request("session/load");
        out.extend(tell(&mut desk, &as_told(&[])));
        out.extend(tell(&mut desk, &[begins.clone(), ends.clone()]));
        out.extend(desk.reply(&asked, json!({})));
        leave(desk);
        let mut desk = Desk::ready(&store, &world, &loads());
        let later = load_told(&mut desk, &as_told(&[]));
        for out in [&out, &later] {
            let told = ["tool_call", "tool_call_update"].map(|kind| updates(out, kind));
            let told = told.concat().into_iter().map(|update| &update["status"]).collect::<Vec<_>>();
            assert_eq!(told, ["in_progress", "completed"], "{how}");
        }
    }
}

#[test]
fn what_stands_before_further_prompts_of_the_replay_is_a_part_of_the_history() {
    for how in ["session/load", "once more"] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = opened(&store, &world, false);
        let mut out = ask_again(&mut desk, how);
        let asked = out.request("session/load");
        let history = as_told(&[chunk(AGENT, FIRST), chunk(USER, ON[0].0), chunk(AGENT, ON[0].1)]);
        out.extend(tell(&mut desk, &history));
        out.extend(desk.reply(&asked, json!({})));
        let all = [with_words(FIRST), lines(&[ON])].concat();
        assert_eq!(said(&out.client), all, "{how}");
        leave(desk);
        let mut desk = Desk::ready(&store, &world, &loads());
        let out = load_told(&mut desk, &history);
        assert_eq!(said(&out.client), all, "later, {how}");
    }
}
