//! What Gemini CLI tells of a conversation in its user's name, and no user has said, and what it writes into its own words: the
//! context that it begins with, the results of tools, hints to its model, the summary of a compression. Codex goes on with a plan
//! that was approved in its user's name. Nothing of the conversation is lost, doubled or cut apart for that.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{CWD, ask_load, ask_prompt, leave, mark, says, words};

const CONTEXT: &str = "<session_context>\nThis is the Gemini CLI. We are setting up the context for our chat.\nToday's date is \
                       Sunday, November 29, 2026 (formatted according to the user's locale).\n</session_context>";
const SNAPSHOT: &str =
    "<state_snapshot>\n    <overall_goal>\n        To count.\n    </overall_goal>\n</state_snapshot>";
const TAKEN: &str = "Got it. Thanks for the additional context!";
const LOOP: &str = "System: Potential loop detected. Details: Repetitive patterns identified. Please take a step back and confirm \
                    you're making forward progress. If not, take a step back, analyze your previous actions and rethink how you're \
                    approaching the problem. Avoid repeating the same tool calls or responses without new results.";
const INTERRUPTED: &str = "[The previous response was interrupted before it completed.]";

/// What comes of a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Thinks(&'static str),
    Says(&'static str),
    Calls(&'static str),
    /// The agent tells its model this, and replays it in its user's name.
    Tells(&'static str),
    /// The agent replays this as its own, and has said nothing.
    Adds(&'static str),
}

use Part::{Adds, Calls, Says, Tells, Thinks};

/// What a user said, and what came of it.
type Turn = (&'static str, &'static [Part]);

struct Case {
    name: &'static str,
    /// What stands in a prompt from `<` on a hook has added.
    turns: &'static [Turn],
    /// From which turn on the agent has them in their own words: a summary stands for those before.
    kept: Option<usize>,
}

const TOOLS: Turn =
    ("run", &[Says("I run it. "), Calls("run_shell_command"), Says("It ran."), Calls("read_file"), Says("Done.")]);
const SILENT: Turn = ("do", &[Calls("write_file"), Calls("mcp_a_b-c.d"), Says("All is done.")]);
const THOUGHT: Turn = (
    "think",
    &[Thinks("**Plan**\nit"), Thinks("**More**\nof it"), Says("Thought over."), Calls("glob"), Says("Well.")],
);
const ONE: Turn = ("one", &[Says("The first answer.")]);
const TWO: Turn = ("two", &[Says("The second answer.")]);
const CUT: &[Part] = &[Says("Part of "), Says("an answer")];

#[rustfmt::skip]
const CASES: &[Case] = &[
    Case { name: "words alone", turns: &[ONE, TWO], kept: None },
    Case { name: "one turn", turns: &[ONE], kept: None },
    Case { name: "tools", turns: &[TOOLS, TWO, SILENT], kept: None },
    Case { name: "a tool before any word", turns: &[ONE, SILENT, TWO], kept: None },
    Case { name: "thoughts", turns: &[THOUGHT, TWO], kept: None },
    Case { name: "a tool last", turns: &[ONE, ("run", &[Says("I run it."), Calls("glob")])], kept: None },
    Case { name: "a call that was interrupted", turns: &[ONE, ("run", &[Says("I run it."), Calls("glob"), Adds(INTERRUPTED)]), TWO], kept: None },
    Case { name: "asked to go on", turns: &[("go", &[Says("Half. "), Tells("Please continue."), Says("All.")]), TWO], kept: None },
    Case { name: "asked to go on twice", turns: &[ONE, ("go", &[Says("Half. "), Tells("Please continue."), Says("More. "), Tells("Please continue."), Says("All.")])], kept: None },
    Case { name: "asked to go on by an earlier version", turns: &[("go", &[Says("Half. "), Tells("System: Please continue."), Says("All.")]), TWO], kept: None },
    Case { name: "a loop", turns: &[("go", &[Says("Half. "), Calls("glob"), Tells(LOOP), Says("All.")]), TWO], kept: None },
    Case { name: "a hook's context", turns: &[("go", &[Says("Half. "), Tells("<hook_context>It rains.</hook_context>"), Says("All.")]), TWO], kept: None },
    Case { name: "an approved plan", turns: &[("plan it", &[Says("# The plan"), Tells("Implement the approved plan."), Says("Implemented.")]), TWO], kept: None },
    Case { name: "a hook's context behind each prompt", turns: &[("one<hook_context>It rains.</hook_context>", &[Says("First.")]), ("two<hook_context>It rains.</hook_context>", &[Says("Second.")])], kept: None },
    Case { name: "compressed", turns: &[ONE, TWO, ("three", &[Says("The third answer.")]), ("four", &[Says("The fourth answer.")])], kept: Some(2) },
    Case { name: "compressed to the last turn", turns: &[ONE, TWO, THOUGHT], kept: Some(2) },
    Case { name: "all compressed", turns: &[ONE, TOOLS], kept: Some(2) },
];

/// Where something else is said, of which one side alone knows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Besides {
    /// Behind how many turns one was cancelled that the agent has dropped.
    dropped: Option<usize>,
    /// Something was said behind all without the layer.
    outside: bool,
    has_context: bool,
}

fn loads() -> Value {
    json!({"loadSession": true})
}

fn call(name: &str, at: usize) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": format!("{name}-{at}"), "title": name, "kind": "execute", "status": "completed"})
}

fn have(desk: &mut Desk<'_>, (prompt, parts): Turn, ends: &str) {
    let asked = ask_prompt(desk, "turn", "s1", prompt.split('<').next().unwrap()).request("session/prompt");
    for (at, part) in parts.iter().enumerate() {
        match part {
            Says(text) => drop(desk.agent(says(text))),
            Thinks(text) => drop(desk.agent(update("s1", chunk("agent_thought_chunk", text)))),
            Calls(name) => drop(desk.agent(update("s1", call(name, at)))),
            Tells(_) | Adds(_) => {}
        }
    }
    if ends == "cancelled" {
        desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
    }
    desk.reply(&asked, json!({"stopReason": ends}));
}

/// What the agent tells of a turn. `loaded`: how often it has read it from its file before.
fn replay_of((prompt, parts): Turn, loaded: usize) -> Vec<Value> {
    let mut told = vec![chunk("user_message_chunk", prompt)];
    let mut rest = parts;
    let is_call = |part: &Part| matches!(part, Calls(_));
    while let Some(first) = rest.first() {
        if let Tells(text) | Adds(text) = first {
            told.push(chunk(
                if matches!(first, Tells(_)) { "user_message_chunk" } else { "agent_message_chunk" },
                text,
            ));
            rest = &rest[1..];
            continue;
        }
        // A round: thoughts, words, calls.
        let thoughts = rest.iter().take_while(|part| matches!(part, Thinks(_))).count();
        let words = rest[thoughts..].iter().take_while(|part| matches!(part, Says(_))).count();
        let calls = rest[thoughts + words..].iter().take_while(|part| is_call(part)).count();
        let (round, behind) = rest.split_at(thoughts + words + calls);
        let mut text = String::new();
        for part in round {
            match part {
                Thinks(thought) => told.push(chunk("agent_thought_chunk", thought)),
                Says(words) => text += words,
                Calls(_) | Tells(_) | Adds(_) => {}
            }
        }
        if loaded > 0 {
            let called: String = round
                .iter()
                .filter_map(|part| match part {
                    Calls(name) => Some(format!("[Function Call: {name}]")),
                    _ => None,
                })
                .collect();
            text = "[Thought: true]".repeat(thoughts) + &text + &called;
        }
        if !text.is_empty() {
            told.push(chunk("agent_message_chunk", &text));
        }
        let at = parts.len() - rest.len();
        let named = round.iter().enumerate().filter_map(|(index, part)| match part {
            Calls(name) => Some((at + index, *name)),
            _ => None,
        });
        let named: Vec<(usize, &str)> = named.collect();
        told.extend(named.iter().map(|(at, name)| call(name, *at)));
        if !named.is_empty() {
            let answered: Vec<String> = named.iter().map(|(_, name)| format!("[Function Response: {name}]")).collect();
            let answered = answered.concat();
            told.push(chunk("user_message_chunk", &answered.repeat(loaded + 1)));
        }
        rest = behind;
    }
    told
}

/// What the agent tells of all of it.
fn replay(case: &Case, more: &[Turn], has_context: bool, loaded: usize) -> Vec<Value> {
    let mut told = Vec::new();
    if has_context {
        told.push(chunk("user_message_chunk", CONTEXT));
    }
    if case.kept.is_some() {
        told.push(chunk("user_message_chunk", SNAPSHOT));
        told.push(chunk("agent_message_chunk", TAKEN));
    }
    for turn in case.turns.iter().skip(case.kept.unwrap_or_default()).chain(more) {
        told.extend(replay_of(*turn, loaded));
    }
    told
}

fn shown((prompt, parts): Turn) -> String {
    let words = parts.iter().filter_map(|part| if let Says(text) = part { Some(*text) } else { None });
    format!("> {}{}", prompt.split('<').next().unwrap(), words.collect::<String>())
}

fn load(desk: &mut Desk<'_>, told: &[Value]) -> Out {
    let mut out = ask_load(desk, "load", "s1");
    let asked = out.request("session/load");
    for telling in told {
        out.extend(desk.agent(update("s1", telling.clone())));
    }
    out.extend(desk.reply(&asked, json!({})));
    out
}

/// How many tool calls are shown, and of how many.
fn calls(out: &Out) -> (usize, usize) {
    let ids = out.client.iter().filter_map(|message| message["params"]["update"]["toolCallId"].as_str());
    let ids: Vec<&str> = ids.collect();
    let of = ids.iter().collect::<std::collections::BTreeSet<_>>().len();
    (ids.len(), of)
}

const NEXT: [&str; 3] = ["first", "second", "third"];
const OUTSIDE: Turn =
    ("outside", &[Thinks("**Else**\nwhere"), Says("Said elsewhere. "), Calls("web_fetch"), Says("Fetched.")]);

fn everywhere() -> Vec<Besides> {
    let mut all = Vec::new();
    for dropped in [None, Some(1), Some(usize::MAX)] {
        for outside in [false, true] {
            all.extend([false, true].map(|has_context| Besides { dropped, outside, has_context }));
        }
    }
    all
}

#[test]
fn nothing_that_was_said_is_lost_or_doubled() {
    let mut wrong = Vec::new();
    for case in CASES {
        for besides in everywhere() {
            // What is told behind a turn that was cut off, and not that, tells that its user went back behind it.
            if besides.outside && besides.dropped.is_some_and(|behind| behind >= case.turns.len()) {
                continue;
            }
            let when = format!("{}, {besides:?}", case.name);
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = Desk::ready(&store, &world, &loads());
            desk.new_session("s1", CWD);
            let cut = ("Go", CUT);
            let mut expected = String::new();
            for (at, turn) in case.turns.iter().enumerate() {
                have(&mut desk, *turn, "end_turn");
                expected += &shown(*turn);
                if besides.dropped.is_some_and(|behind| behind.min(case.turns.len()) == at + 1) {
                    have(&mut desk, cut, "cancelled");
                    expected += &shown(cut);
                }
            }
            leave(desk);
            let mut more = Vec::new();
            if besides.outside {
                more.push(OUTSIDE);
                expected += &shown(OUTSIDE);
            }
            // Each time it is loaded twice, and something is said behind that.
            for loaded in 0..6 {
                let mut desk = Desk::ready(&store, &world, &loads());
                let out = load(&mut desk, &replay(case, &more, besides.has_context, loaded));
                let is_right = words(&out) == expected && mark(&out, "load")["setAside"].is_null();
                if !is_right || calls(&out).0 != calls(&out).1 {
                    wrong.push(format!("{when}, {loaded}:\n  {}\n  {expected}\n  {}", words(&out), mark(&out, "load")));
                    break;
                }
                if loaded % 2 == 1 {
                    let next = (NEXT[loaded / 2], &[Says("Yes.")][..]);
                    have(&mut desk, next, "end_turn");
                    more.push(next);
                    expected += &shown(next);
                }
                leave(desk);
            }
        }
    }
    assert!(wrong.is_empty(), "{} wrong\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn what_only_the_agent_has_is_shown_without_its_marks() {
    for case in CASES {
        // Nothing tells a hint to its model that it gives here from what its user has said.
        let has_hook = case.turns.iter().any(|(prompt, _)| prompt.contains('<'));
        if has_hook || case.turns.iter().flat_map(|(_, parts)| parts.iter()).any(|part| matches!(part, Tells(_))) {
            continue;
        }
        for loaded in [0, 1, 2] {
            let when = format!("{}, loaded {loaded} times", case.name);
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut expected: String =
                case.turns.iter().skip(case.kept.unwrap_or_default()).map(|turn| shown(*turn)).collect();
            let mut more = Vec::new();
            for time in ["first", "second"] {
                let mut desk = Desk::ready(&store, &world, &loads());
                let out = load(&mut desk, &replay(case, &more, true, loaded));
                assert_eq!(words(&out), expected, "{when}, {time}");
                let next = (time, &[Says("Yes.")][..]);
                have(&mut desk, next, "end_turn");
                more.push(next);
                expected += &shown(next);
                leave(desk);
            }
        }
    }
}

#[test]
fn a_user_may_say_the_same_as_the_agent_tells_its_model() {
    for text in ["Please continue.", "Implement the approved plan."] {
        for (through_layer, first) in [(true, "Half."), (false, "Half."), (false, "")] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = Desk::ready(&store, &world, &loads());
            desk.new_session("s1", CWD);
            let (go, on) = (("go", &[Says("Half.")][..]), (text, &[Says("All of it.")][..]));
            have(&mut desk, if first.is_empty() { ONE } else { go }, "end_turn");
            if through_layer {
                have(&mut desk, on, "end_turn");
            }
            leave(desk);
            let begins = if first.is_empty() { ONE } else { go };
            let told = [replay_of(begins, 0), replay_of(on, 0)].concat();
            for time in ["first", "second"] {
                let mut desk = Desk::ready(&store, &world, &loads());
                let out = load(&mut desk, &told);
                let when = format!("{text}, through the layer: {through_layer}, {time}");
                assert_eq!(words(&out), shown(begins) + &shown(on), "{when}");
                assert!(mark(&out, "load")["setAside"].is_null(), "{when}");
                leave(desk);
            }
        }
    }
}
