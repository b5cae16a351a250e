//! What an agent says between turns while it loads a session that it has open: before it begins to tell the history, or behind that
//! and before its answer.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    CWD, LONG, TOLD, Turns, ask_load, ask_prompt, begun, both_open, leave, lines, listing, load, load_told, mark,
    oblige, replay, row, said, says, told, updates,
};

const AGENT: &str = "agent_message_chunk";
const USER: &str = "user_message_chunk";
const WORDS: &str = "By the way, it rains.";
/// Longer than it takes to show what has come to the history.
const SHOWN: i64 = 3000;

fn loads() -> Value {
    json!({"loadSession": true})
}

/// A session `s1` of two turns that is open. Where what the agent has of it is not compared, its list says that nothing was said
/// in it.
fn opened<'a>(store: &'a Memory, world: &'a World, is_compared: bool) -> Desk<'a> {
    told(store, world, &loads());
    let mut desk = if is_compared {
        Desk::ready(store, world, &loads())
    } else {
        listing(store, world, "a", &loads(), &[row("s1", "One", "2025-01-01T00:00:00Z")])
    };
    load(&mut desk, "s1", TOLD).answer("load");
    desk
}

/// The client wants it open with other MCP servers.
fn ask_otherwise(desk: &mut Desk<'_>, method: &str) -> Out {
    let servers = json!([{"name": "two", "command": "/m", "args": [], "env": []}]);
    let params = json!({"sessionId": "s1", "cwd": CWD, "mcpServers": servers});
    desk.client(json!({"id": "again", "method": method, "params": params}))
}

/// The agent says this in two chunks.
fn says_words(desk: &mut Desk<'_>) -> Out {
    let (first, rest) = WORDS.split_at(4);
    let mut out = desk.agent(says(first));
    out.extend(desk.agent(says(rest)));
    out
}

/// The agent, which is asked to load it, says the words before its replay, which has them as well where it `is_replayed`.
fn replays_behind_words(desk: &mut Desk<'_>, mut out: Out, is_replayed: bool) -> Out {
    let asked = out.request("session/load");
    out.extend(says_words(desk));
    out.extend(replay(desk, "s1", TOLD));
    if is_replayed {
        out.extend(desk.agent(says(WORDS)));
    }
    out.extend(desk.reply(&asked, json!({})));
    out
}

/// The turns, with these words behind them.
fn with_words(turns: Turns<'_>) -> Vec<String> {
    let mut lines = lines(&[turns]);
    lines.last_mut().unwrap().push_str(WORDS);
    lines
}

/// What was said is kept once, behind all that was said before: in this window, and when it is opened again by an agent that has
/// the words in its own history, or has not.
fn assert_kept(desk: Desk<'_>, store: &Memory, world: &World, is_replayed: bool, what: &str) {
    assert_kept_by(desk, |desk| ask_otherwise(desk, "session/load"), (store, world), is_replayed, what);
}

/// The same, where the client loads it in this way in the window.
fn assert_kept_by(
    mut desk: Desk<'_>,
    loads_again: impl Fn(&mut Desk<'_>) -> Out,
    (store, world): (&Memory, &World),
    is_replayed: bool,
    what: &str,
) {
    let on: Turns<'_> = &[("On", "Going on")];
    desk.turn("s1", on[0].0, &[on[0].1]);
    let expected = [with_words(TOLD), lines(&[on])].concat();
    let shown = said(&loads_again(&mut desk).client);
    assert_eq!(shown, expected, "in the window, {what}");
    leave(desk);
    let has = if is_replayed { [TOLD, &[("", WORDS)], on].concat() } else { [TOLD, on].concat() };
    let told: Vec<Value> = has.iter().flat_map(|(user, agent)| [chunk(USER, user), chunk(AGENT, agent)]).collect();
    let told: Vec<Value> = told.into_iter().filter(|update| update["content"]["text"] != "").collect();
    let mut desk = Desk::ready(store, world, &loads());
    let out = load_told(&mut desk, &told);
    assert_eq!(said(&out.client), expected, "later, {what}");
    assert!(mark(&out, "load")["setAside"].is_null(), "later, {what}");
    leave(desk);
}

#[test]
fn words_are_shown_and_kept_once_behind_all_that_was_said_before() {
    for is_compared in [true, false] {
        for method in ["session/load", "session/resume"] {
            for (is_before, is_replayed) in [(true, true), (true, false), (false, true), (false, false)] {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut desk = opened(&store, &world, is_compared);
                let mut out = ask_otherwise(&mut desk, method);
                let asked = out.request("session/load");
                if is_before {
                    out.extend(says_words(&mut desk));
                    desk.wait(LONG);
                }
                out.extend(replay(&mut desk, "s1", TOLD));
                if !is_before {
                    out.extend(says_words(&mut desk));
                } else if is_replayed {
                    out.extend(desk.agent(says(WORDS)));
                }
                out.extend(desk.reply(&asked, json!({})));
                out.extend(desk.wait(SHOWN));
                let what = format!(
                    "compared: {is_compared}, {method}, before: {is_before}, in the agent's history: {is_replayed}"
                );
                let shown = if method == "session/load" { with_words(TOLD) } else { vec![WORDS.to_owned()] };
                assert_eq!(said(&out.client), shown, "{what}");
                assert!(mark(&out, "again")["setAside"].is_null(), "{what}");
                assert_kept(desk, &store, &world, is_replayed, &what);
            }
        }
    }
}

#[test]
fn words_that_come_when_the_session_is_only_loaded_once_more_are_shown_and_kept_once() {
    for is_replayed in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = opened(&store, &world, true);
        desk.wait(12_000);
        let out = ask_load(&mut desk, "again", "s1");
        let out = replays_behind_words(&mut desk, out, is_replayed);
        assert_eq!(said(&out.client), with_words(TOLD), "{is_replayed}");
        assert!(mark(&out, "again")["setAside"].is_null(), "{is_replayed}");
        let what = format!("in the agent's history: {is_replayed}");
        assert_kept_by(desk, |desk| ask_load(desk, "again", "s1"), (&store, &world), is_replayed, &what);
    }
}

#[test]
fn words_are_shown_and_kept_where_the_agent_refuses_or_its_client_takes_the_request_back() {
    for is_compared in [true, false] {
        for method in ["session/load", "session/resume"] {
            for end in ["refused", "taken back", "taken back and refused"] {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut desk = opened(&store, &world, is_compared);
                let mut out = ask_otherwise(&mut desk, method);
                let asked = out.request("session/load");
                out.extend(says_words(&mut desk));
                if end != "refused" {
                    out.extend(desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "again"}})));
                }
                if end == "taken back" {
                    out.extend(replay(&mut desk, "s1", TOLD));
                    out.extend(desk.reply(&asked, json!({})));
                } else {
                    out.extend(desk.refuse(&asked, -32603));
                }
                out.extend(desk.wait(SHOWN));
                let what = format!("compared: {is_compared}, {method}, {end}");
                let shown = said(&out.client).concat();
                assert_eq!(shown.matches(WORDS).count(), 1, "{what}: {shown}");
                assert!(shown.ends_with(WORDS), "{what}: {shown}");
                let out = ask_prompt(&mut desk, "next", "s1", "On");
                let out = oblige(&mut desk, out, TOLD, "never");
                assert_eq!(out.answer("next")["result"]["stopReason"], "end_turn", "{what}");
                leave(desk);
                let mut desk = Desk::ready(&store, &world, &json!({}));
                let shown = said(&load(&mut desk, "s1", &[]).client);
                assert_eq!(shown, [with_words(TOLD), vec!["> On".to_owned()]].concat(), "{what}");
            }
        }
    }
}

/// The updates of tool calls that a client is told.
fn calls(out: &Out) -> Vec<String> {
    let all = updates(out, "tool_call").into_iter().chain(updates(out, "tool_call_update"));
    all.map(|update| format!("{} {}", update["toolCallId"].as_str().unwrap(), update["status"].as_str().unwrap()))
        .collect()
}

#[test]
fn the_end_of_a_tool_call_is_shown_and_kept_once() {
    let begins = json!({"sessionUpdate": "tool_call", "toolCallId": "b", "title": "Build", "status": "in_progress"});
    let ends = json!({"sessionUpdate": "tool_call_update", "toolCallId": "b", "status": "completed"});
    for is_compared in [true, false] {
        for method in ["session/load", "session/resume"] {
            // Also where the agent has it in its history by then.
            for place in ["before", "before and among it", "among it", "behind"] {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut desk = begun(&store, &world, &loads(), &TOLD[..1]);
                ask_prompt(&mut desk, "turn", "s1", TOLD[1].0).request("session/prompt");
                desk.agent(update("s1", begins.clone()));
                desk.agent(says(TOLD[1].1));
                desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
                let has = |is_ended: bool| {
                    let words = TOLD.iter().map(|(user, agent)| [chunk(USER, user), chunk(AGENT, agent)]);
                    let mut has = words.collect::<Vec<_>>().concat();
                    has.insert(3, begins.clone());
                    if is_ended {
                        has.push(ends.clone());
                    }
                    has
                };
                if !is_compared {
                    leave(desk);
                    let rows = [row("s1", "One", "2025-01-01T00:00:00Z")];
                    desk = listing(&store, &world, "a", &loads(), &rows);
                    load_told(&mut desk, &has(false)).answer("load");
                }
                let mut out = ask_otherwise(&mut desk, method);
                let asked = out.request("session/load");
                if place.starts_with("before") {
                    out.extend(desk.agent(update("s1", ends.clone())));
                }
                for told in has(place.ends_with("among it")) {
                    out.extend(desk.agent(update("s1", told)));
                }
                if place == "behind" {
                    out.extend(desk.agent(update("s1", ends.clone())));
                }
                out.extend(desk.reply(&asked, json!({})));
                out.extend(desk.wait(SHOWN));
                let what = format!("compared: {is_compared}, {method}, {place}");
                let all: &[&str] = &["b in_progress", "b completed"];
                assert_eq!(calls(&out), if method == "session/load" { all } else { &all[1..] }, "{what}");
                assert!(mark(&out, "again")["setAside"].is_null(), "{what}");
                leave(desk);
                for is_ended in [false, true] {
                    let mut desk = Desk::ready(&store, &world, &loads());
                    let out = load_told(&mut desk, &has(is_ended));
                    assert_eq!(calls(&out), all, "later, {is_ended}, {what}");
                    assert_eq!(said(&out.client), lines(&[TOLD]), "later, {is_ended}, {what}");
                    leave(desk);
                }
            }
        }
    }
}

#[test]
fn a_conversation_that_its_agent_has_begun_is_told_from_its_beginning() {
    const GREETING: &str = "Hello, what can I do for you?";
    for words in ["", "before", "behind the greeting"] {
        for method in ["session/load", "session/resume"] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = Desk::ready(&store, &world, &loads());
            desk.new_session("s1", CWD);
            desk.agent(says("Hello, "));
            desk.agent(says("what can I do for you?"));
            for (user, agent) in TOLD {
                desk.turn("s1", user, &[agent]);
            }
            let mut out = ask_otherwise(&mut desk, method);
            let asked = out.request("session/load");
            if words == "before" {
                out.extend(says_words(&mut desk));
            }
            out.extend(desk.agent(says(GREETING)));
            if words == "behind the greeting" {
                out.extend(says_words(&mut desk));
            }
            out.extend(replay(&mut desk, "s1", TOLD));
            out.extend(desk.reply(&asked, json!({})));
            out.extend(desk.wait(SHOWN));
            let all = if words.is_empty() { lines(&[TOLD]) } else { with_words(TOLD) };
            let all = [vec![GREETING.to_owned()], all].concat();
            let what = format!("{method}, {words}");
            let is_shown = |line: &&String| method == "session/load" || line.ends_with(WORDS);
            let shown: String = all.iter().filter(is_shown).map(String::as_str).collect();
            let shown = if method == "session/load" { shown } else { shown.replace(TOLD[1].1, "") };
            assert_eq!(said(&out.client).concat(), shown, "{what}");
            assert!(mark(&out, "again")["setAside"].is_null(), "{what}");
            assert_eq!(said(&ask_otherwise(&mut desk, "session/load").client), all, "{what}");
        }
    }
}

#[test]
fn a_summary_before_a_history_that_does_not_begin_where_the_conversation_did_is_a_part_of_it() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = opened(&store, &world, true);
    let out = ask_otherwise(&mut desk, "session/load");
    let asked = out.request("session/load");
    desk.agent(says("A summary"));
    replay(&mut desk, "s1", &TOLD[1..]);
    let out = desk.reply(&asked, json!({}));
    let of_open = said(&out.client);
    leave(desk);
    // It is as where the session was not open.
    let (store, world) = (Memory::new(), World::unrecorded());
    told(&store, &world, &loads());
    let mut desk = Desk::ready(&store, &world, &loads());
    let telling = [chunk(AGENT, "A summary"), chunk(USER, TOLD[1].0), chunk(AGENT, TOLD[1].1)];
    assert_eq!(of_open, said(&load_told(&mut desk, &telling).client));
}

#[test]
fn other_windows_that_have_it_open_are_shown_them_once() {
    for is_replayed in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut first, mut second) = both_open(&store, &world, &loads(), TOLD);
        let out = ask_otherwise(&mut second, "session/load");
        let mut out = replays_behind_words(&mut second, out, is_replayed);
        out.extend(second.wait(SHOWN));
        assert_eq!(said(&out.client), with_words(TOLD), "{is_replayed}");
        let mut out = first.wait(SHOWN);
        out.extend(first.wait(SHOWN));
        assert_eq!(said(&out.client), [WORDS], "{is_replayed}");
        leave(first);
        assert_kept(second, &store, &world, is_replayed, &format!("in the agent's history: {is_replayed}"));
    }
}
