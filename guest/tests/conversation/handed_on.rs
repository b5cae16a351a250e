//! Hermes keeps the first turns of a conversation and the last ones, and a summary of those between, which it tells as a message of the
//! user's, as one of its own, or before a prompt in one message with that. What was said is shown as it was, once, and no summary.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{CWD, ask_load, leave, listing, mark, row, told_all, words};

const LATER: &str = "2025-10-10T00:00:00Z";
const SUMMARY: &str = "[CONTEXT COMPACTION — REFERENCE ONLY] Earlier turns were compacted into the summary below. This is a handoff \
                       from a previous context window.\n\n## Goal\nTo count.";
const END: &str = "\n\n--- END OF CONTEXT SUMMARY — respond to the message below, not the summary above ---";

/// A prompt, and in what pieces it was answered.
type Turn = (&'static str, [&'static str; 2]);

const TURNS: [Turn; 5] = [
    ("one", ["The first ", "answer."]),
    ("two", ["The second ", "answer, which is longer."]),
    ("three", ["The third answer ", "has two parts that can be told apart."]),
    ("four", ["The fourth ", "one is another."]),
    ("five", ["The fifth ", "is the last answer."]),
];

/// How the summary is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum As {
    Users,
    UsersWithEnd,
    Agents,
    /// Before the next prompt.
    BeforePrompt,
    /// As the user's, in the midst of the answer to the last turn that is compacted.
    AmidAnswer,
}

const WAYS: [As; 5] = [As::Users, As::UsersWithEnd, As::Agents, As::BeforePrompt, As::AmidAnswer];

/// What is compacted: all turns behind so many of the first, but for so many of the last.
#[derive(Debug, Clone, Copy)]
struct Compacted {
    first: usize,
    last: usize,
    way: As,
}

fn user(text: &str) -> Value {
    chunk("user_message_chunk", text)
}

fn agent(text: &str) -> Value {
    chunk("agent_message_chunk", text)
}

/// What the agent replays of these turns.
fn replay(turns: &[Turn], compacted: Compacted) -> Vec<Value> {
    let Compacted { first, last, way } = compacted;
    let whole = |(prompt, pieces): &Turn| [user(prompt), agent(&pieces.concat())];
    let mut told: Vec<Value> = turns[..first].iter().flat_map(whole).collect();
    let (summed, kept) = turns[first..].split_at(turns.len() - first - last);
    let mut rest: Vec<Value> = kept.iter().flat_map(whole).collect();
    match way {
        As::Users => told.push(user(SUMMARY)),
        As::UsersWithEnd => told.push(user(&format!("{SUMMARY}{END}"))),
        As::Agents => told.push(agent(SUMMARY)),
        As::BeforePrompt => {
            let prompt = rest[0]["content"]["text"].as_str().unwrap().to_owned();
            rest[0] = user(&format!("{SUMMARY}{END}\n\n{prompt}"));
        }
        As::AmidAnswer => told.extend([user(SUMMARY), agent(summed.last().unwrap().1[1])]),
    }
    told.extend(rest);
    told
}

fn load(desk: &mut Desk<'_>, told: Vec<Value>, has_ids: bool) -> Out {
    let mut out = ask_load(desk, "load", "s1");
    let asked = out.request("session/load");
    for (at, mut telling) in told.into_iter().enumerate() {
        if has_ids {
            telling["messageId"] = format!("m{at}").into();
        }
        out.extend(desk.agent(update("s1", telling)));
    }
    out.extend(desk.reply(&asked, json!({})));
    told_all(desk, out)
}

fn as_had(turns: &[Turn]) -> String {
    let turns: Vec<String> = turns.iter().map(|(prompt, pieces)| format!("> {prompt}{}", pieces.concat())).collect();
    turns.concat()
}

/// All that can be compacted of so many turns.
fn all_compacted(turns: usize) -> impl Iterator<Item = Compacted> {
    let ends = (0..turns).flat_map(move |first| (0..turns - first).map(move |last| (first, last)));
    let ways = ends.flat_map(|(first, last)| WAYS.map(|way| Compacted { first, last, way }));
    ways.filter(|compacted| compacted.way != As::BeforePrompt || compacted.last > 0)
}

fn connect<'a>(store: &'a Memory, world: &'a World, has_list: bool) -> Desk<'a> {
    let loads = json!({"loadSession": true});
    if has_list {
        listing(store, world, "hermes", &loads, &[row("s1", "One", LATER)])
    } else {
        let mut desk = Desk::open(store, world, &[]);
        desk.greet(Some("hermes"), &loads);
        desk
    }
}

fn begun<'a>(store: &'a Memory, world: &'a World, turns: &[Turn]) -> Desk<'a> {
    let mut desk = connect(store, world, false);
    desk.new_session("s1", CWD);
    for (prompt, pieces) in turns {
        desk.turn("s1", prompt, pieces);
    }
    desk
}

#[test]
fn what_was_compacted_is_shown_as_it_was_said_and_so_is_what_is_said_since() {
    for compacted in all_compacted(4) {
        for (has_ids, has_list) in [(false, false), (false, true), (true, false), (true, true)] {
            let what = format!("{compacted:?}, ids: {has_ids}, list: {has_list}");
            let (store, world) = (Memory::new(), World::unrecorded());
            leave(begun(&store, &world, &TURNS[..4]));
            let mut desk = connect(&store, &world, has_list);
            let out = load(&mut desk, replay(&TURNS[..4], compacted), has_ids);
            assert_eq!(words(&out), as_had(&TURNS[..4]), "{what}");
            assert!(mark(&out, "load")["setAside"].is_null(), "{what}");
            let (prompt, pieces) = TURNS[4];
            desk.turn("s1", prompt, &pieces);
            leave(desk);
            let once_more = Compacted { last: compacted.last + 1, ..compacted };
            for _ in 0..2 {
                let mut desk = connect(&store, &world, has_list);
                let out = load(&mut desk, replay(&TURNS, once_more), has_ids);
                assert_eq!(words(&out), as_had(&TURNS), "{what}");
                leave(desk);
            }
        }
    }
}

#[test]
fn what_was_said_outside_behind_it_is_shown_behind_what_was_said_here() {
    for compacted in all_compacted(4) {
        let (store, world) = (Memory::new(), World::unrecorded());
        leave(begun(&store, &world, &TURNS[..4]));
        for _ in 0..2 {
            let mut desk = connect(&store, &world, true);
            let out = load(&mut desk, replay(&TURNS, Compacted { last: compacted.last + 1, ..compacted }), true);
            assert_eq!(words(&out), as_had(&TURNS), "{compacted:?}");
            leave(desk);
        }
    }
}

#[test]
fn what_only_the_agent_has_is_shown_with_the_summary_as_what_it_has_in_mind() {
    for way in [As::Users, As::UsersWithEnd, As::Agents, As::BeforePrompt] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = connect(&store, &world, true);
        let out = load(&mut desk, replay(&TURNS, Compacted { first: 1, last: 2, way }), false);
        assert_eq!(words(&out), as_had(&[TURNS[0], TURNS[3], TURNS[4]]), "{way:?}");
        let updates = out.client.iter().map(|message| &message["params"]["update"]);
        let thoughts = updates.filter(|update| update["sessionUpdate"] == "agent_thought_chunk");
        let thoughts: Vec<&str> = thoughts.map(|update| update["content"]["text"].as_str().unwrap()).collect();
        assert!(thoughts.len() == 1 && thoughts[0].starts_with(SUMMARY), "{way:?}: {thoughts:?}");
    }
}
