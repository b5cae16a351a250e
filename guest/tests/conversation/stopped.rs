//! A window that was stopped in the midst of a turn for so long that others take it for gone, and goes on with it. Its agent
//! went on meanwhile, and another program of the agent's tells what it has said.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    CWD, LONG, TOLD, Turns, UNTIL_FORGOTTEN, account, answers, ask_load, ask_prompt, both_open, leave, lines, load,
    load_told, oblige, said, says,
};

/// Behind so much silence of a session's a window that has it open has its agent tell it.
const SILENCE: i64 = 11_000;
/// All that the agent says in the turn.
const ALL: &str = "One two three four";
const WHOLE: Turns<'static> = &[("Third question", ALL)];

fn loads() -> Value {
    json!({"loadSession": true})
}

/// A window on a session `s1` of two turns that is in the midst of a third one, of which so much is written.
fn at_work<'a>(store: &'a Memory, world: &'a World, written: &str) -> Desk<'a> {
    let mut desk = Desk::ready(store, world, &loads());
    desk.new_session("s1", CWD);
    for (user, agent) in TOLD {
        desk.turn("s1", user, &[agent]);
    }
    ask_prompt(&mut desk, "third", "s1", "Third question");
    if !written.is_empty() {
        desk.agent(says(written));
    }
    desk.wait(LONG);
    desk
}

/// The same where another window has the session open already.
fn at_work_beside<'a>(store: &'a Memory, world: &'a World) -> (Desk<'a>, Desk<'a>) {
    let (mut first, mut second) = both_open(store, world, &loads(), TOLD);
    ask_prompt(&mut first, "third", "s1", "Third question");
    first.wait(LONG);
    second.wait(LONG);
    (first, second)
}

/// Time passes in which it is stopped.
fn is_stopped(world: &World) {
    world.now.set(world.now.get() + UNTIL_FORGOTTEN);
}

/// It is told the rest of the answer, piece by piece, and its end. What the client of the other one is shown meanwhile.
fn goes_on(desk: &mut Desk<'_>, rest: &str, other: &mut Desk<'_>) -> Out {
    let mut seen = Out::default();
    for piece in rest.split_inclusive(' ') {
        assert_eq!(said(&desk.agent(says(piece)).client), [piece]);
        assert_eq!(said(&desk.wait(LONG).client), [""; 0]);
        seen.extend(other.wait(LONG));
    }
    desk.agent(answers("third")).answer("third");
    seen.extend(other.wait(LONG));
    seen.extend(other.wait(1000));
    seen
}

/// These turns are what a window is shown whose agent knows nothing of the session, and then one whose agent tells them.
fn is_kept(store: &Memory, world: &World, turns: Turns<'_>) {
    for capabilities in [json!({}), loads()] {
        let mut desk = Desk::ready(store, world, &capabilities);
        assert_eq!(said(&load(&mut desk, "s1", turns).client), lines(&[turns]), "{capabilities}");
        leave(desk);
    }
}

#[test]
fn what_its_agent_has_told_another_window_is_there_once() {
    // What was written, what waited to be, and what the other window's agent tells.
    for (written, waiting, told) in [
        ("One two ", "", ALL),
        ("One two ", "thr", ALL),
        ("", "", ALL),
        ("", "One two ", ALL),
        ("One two ", "", "One two thr"),
        ("One two ", "thr", "One two thr"),
        ("One two ", "three ", "One two thr"),
        ("One two ", "", "One two "),
        ("One two ", "three ", "One two "),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut first = at_work(&store, &world, written);
        if !waiting.is_empty() {
            first.agent(says(waiting));
        }
        is_stopped(&world);
        let mut second = Desk::ready(&store, &world, &loads());
        let mut seen = load(&mut second, "s1", &[TOLD, &[("Third question", told)]].concat());
        seen.extend(goes_on(&mut first, &ALL[written.len() + waiting.len()..], &mut second));
        assert_eq!(said(&seen.client), lines(&[TOLD, WHOLE]), "{written}, {waiting}, {told}");
        // Neither is told what it knows, or has said itself.
        let prompt = ask_prompt(&mut first, "next", "s1", "On");
        assert_eq!(account(&prompt), None, "{written}, {waiting}, {told}");
        first.agent(answers("next"));
        if told == ALL {
            let prompt = account(&ask_prompt(&mut second, "next", "s1", "And on")).unwrap_or_default();
            assert!(!prompt.contains("Third question") && !prompt.contains("two"), "{written}, {waiting}: {prompt}");
            second.agent(answers("next"));
        }
        leave(first);
        leave(second);
        let on: Turns<'_> = if told == ALL { &[("OnAnd on", "")] } else { &[("On", "")] };
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let all = lines(&[TOLD, WHOLE, on]);
        assert_eq!(said(&load(&mut desk, "s1", &[]).client), all[..7], "{written}, {waiting}, {told}");
    }
}

#[test]
fn what_its_agent_has_told_a_window_that_has_it_open_is_there_once() {
    // What was written before the call, whether that was, and what waited to be written.
    let call = json!({"sessionUpdate": "tool_call", "toolCallId": "a", "status": "completed", "title": "Edit"});
    let words = |text: &str| chunk("agent_message_chunk", text);
    for (written, is_called, waiting) in [
        ("", false, ""),
        ("", false, "One "),
        ("", false, "One two "),
        ("One ", false, ""),
        ("One ", false, "two "),
        ("One two ", false, ""),
        ("One two ", true, ""),
        ("One two ", true, "three "),
    ] {
        // What the other window's agent tells each time that it loads: all of it, or what comes before the last words.
        for loads in [&[true][..], &[false], &[false, true]] {
            let case = format!("{written}, {is_called}, {waiting}, {loads:?}");
            let (store, world) = (Memory::new(), World::unrecorded());
            let (mut first, mut second) = at_work_beside(&store, &world);
            if !written.is_empty() {
                first.agent(says(written));
            }
            if is_called {
                first.agent(update("s1", call.clone()));
            }
            first.wait(LONG);
            second.wait(LONG);
            if !waiting.is_empty() {
                first.agent(says(waiting));
            }
            second.wait_awake(UNTIL_FORGOTTEN - SILENCE);
            let mut seen = Out::default();
            for is_whole in loads {
                let mut all: Vec<Value> = Vec::new();
                for (user, agent) in TOLD {
                    all.extend([chunk("user_message_chunk", user), words(agent)]);
                }
                all.extend([chunk("user_message_chunk", "Third question"), words("One two "), call.clone()]);
                all.extend(is_whole.then(|| words("three four")));
                second.wait_awake(SILENCE);
                seen = load_told(&mut second, &all);
            }
            // It is told the rest, piece by piece, and its end.
            let mut rest = Vec::new();
            let said_before = format!("{written}{waiting}");
            if let Some(text) = "One two ".strip_prefix(&said_before).filter(|text| !text.is_empty()) {
                rest.push(words(text));
            }
            rest.extend((!is_called).then(|| call.clone()));
            for piece in ["three ", "four"].iter().skip(usize::from(waiting == "three ")) {
                rest.push(words(piece));
            }
            for piece in rest {
                first.agent(update("s1", piece));
                let shown = first.wait(LONG);
                assert_eq!((said(&shown.client), done(&shown)), (Vec::new(), Vec::new()), "{case}");
                seen.extend(second.wait(LONG));
            }
            first.agent(answers("third")).answer("third");
            let shown = first.wait(LONG);
            assert_eq!((said(&shown.client), done(&shown)), (Vec::new(), Vec::new()), "{case}");
            seen.extend(second.wait(LONG));
            seen.extend(second.wait(1000));
            assert_eq!(said(&seen.client), lines(&[TOLD, WHOLE]), "{case}");
            assert_eq!(done(&seen), ["\"a\" \"completed\""], "{case}");
            let prompt = ask_prompt(&mut first, "next", "s1", "On");
            assert_eq!(account(&prompt), None, "{case}");
            first.agent(answers("next"));
            leave(first);
            leave(second);
            let mut desk = Desk::ready(&store, &world, &json!({}));
            let out = load(&mut desk, "s1", &[]);
            assert_eq!(said(&out.client), lines(&[TOLD, WHOLE, &[("On", "")]])[..7], "{case}");
            assert_eq!(done(&out), ["\"a\" \"completed\""], "{case}");
        }
    }
}

#[test]
fn what_its_agent_has_told_stays_before_what_the_other_window_has_said_since() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = at_work(&store, &world, "One two ");
    is_stopped(&world);
    let mut second = Desk::ready(&store, &world, &loads());
    load(&mut second, "s1", &[TOLD, WHOLE].concat());
    second.turn("s1", "Fourth question", &["Fourth answer"]);
    let seen = goes_on(&mut first, &ALL[8..], &mut second);
    assert_eq!(said(&seen.client), [""; 0]);
    // What it was told meanwhile its agent hears, and nothing else.
    let told = account(&ask_prompt(&mut first, "next", "s1", "On")).unwrap_or_default();
    assert!(told.contains("Fourth answer") && !told.contains("Third question") && !told.contains("two"), "{told}");
    first.agent(says("Yes"));
    first.agent(answers("next"));
    leave(first);
    leave(second);
    is_kept(&store, &world, &[TOLD, WHOLE, &[("Fourth question", "Fourth answer"), ("On", "Yes")]].concat());
}

#[test]
fn what_an_agent_begins_to_tell_before_it_goes_on_is_there_once() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = at_work(&store, &world, "One two ");
    is_stopped(&world);
    let mut second = Desk::ready(&store, &world, &loads());
    let asked = ask_load(&mut second, "load", "s1");
    first.agent(says("three "));
    first.wait(LONG);
    let mut seen = oblige(&mut second, asked, &[TOLD, WHOLE].concat(), "never");
    seen.extend(goes_on(&mut first, "four", &mut second));
    assert_eq!(said(&seen.client), lines(&[TOLD, WHOLE]));
    leave(first);
    leave(second);
    is_kept(&store, &world, &[TOLD, WHOLE].concat());
}

#[test]
fn a_window_whose_agent_tells_nothing_is_shown_the_rest_when_it_goes_on() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = at_work(&store, &world, "One two ");
    is_stopped(&world);
    let mut second = Desk::ready(&store, &world, &json!({}));
    let mut seen = load(&mut second, "s1", &[]);
    seen.extend(goes_on(&mut first, &ALL[8..], &mut second));
    assert_eq!(said(&seen.client), lines(&[TOLD, WHOLE]));
    leave(first);
    leave(second);
    is_kept(&store, &world, &[TOLD, WHOLE].concat());
}

/// While the turn goes on another window is sent a prompt, whose agent tells a turn once it has ended, and so in another order.
fn is_overtaken(store: &Memory, world: &World, first: Desk<'_>, second: Desk<'_>, case: &str) {
    let (mut first, mut second) = (first, second);
    let mut seen = load(&mut second, "s1", TOLD);
    seen.extend(second.turn("s1", "Fourth question", &["Fourth answer"]));
    seen.extend(goes_on(&mut first, &ALL[8..], &mut second));
    // Its client has shown the prompt by itself.
    let shown = [lines(&[TOLD]), ["> Third question", "One two Fourth answerthree four"].map(str::to_owned).to_vec()];
    assert_eq!(said(&seen.client), shown.concat(), "{case}");
    leave(first);
    leave(second);
    let told = [TOLD, &[("Fourth question", "Fourth answer")], WHOLE].concat();
    let kept = [TOLD, WHOLE, &[("Fourth question", "Fourth answer")]].concat();
    for time in ["once", "again"] {
        let mut desk = Desk::ready(store, world, &loads());
        assert_eq!(said(&load(&mut desk, "s1", &told).client), lines(&[&kept]), "{case}, {time}");
        leave(desk);
    }
}

#[test]
fn as_the_computer_wakes_up_a_window_that_has_not_said_yet_that_it_is_there_is_at_its_turn() {
    // By what the other window comes to know that it was asleep: a request, or that time has passed.
    for is_told in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let first = at_work(&store, &world, "One two ");
        let mut second = Desk::ready(&store, &world, &loads());
        is_stopped(&world);
        if is_told {
            second.wait(0);
        }
        is_overtaken(&store, &world, first, second, if is_told { "by time" } else { "by a request" });
    }
}

#[test]
fn what_it_says_when_it_goes_on_is_a_part_of_its_turn() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let first = at_work(&store, &world, "One two ");
    is_stopped(&world);
    let second = Desk::ready(&store, &world, &loads());
    is_overtaken(&store, &world, first, second, "taken for gone");
}

#[test]
fn what_is_attached_to_its_prompt_may_be_told_as_text() {
    let link = json!({"type": "resource_link", "uri": "file:///w/a.rs", "name": "a.rs"});
    let image = json!({"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"});
    let text = |text: &str| json!({"type": "text", "text": text});
    for (prompt, told, words) in [
        (json!([text("Look at "), link, text(" for me")]), "Look at [@a.rs](file:///w/a.rs) for me", "Look at  for me"),
        (json!([text("Look at this"), image]), "Look at this[Image]", "Look at this"),
        (json!([text("Look at this"), image]), "Look at this", "Look at this"),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut first = Desk::ready(&store, &world, &loads());
        first.new_session("s1", CWD);
        first.turn("s1", TOLD[0].0, &[TOLD[0].1]);
        let params = json!({"sessionId": "s1", "prompt": prompt});
        first.client(json!({"id": "third", "method": "session/prompt", "params": params}));
        first.agent(says("One two "));
        first.wait(LONG);
        is_stopped(&world);
        let mut second = Desk::ready(&store, &world, &loads());
        let mut seen = load(&mut second, "s1", &[TOLD[0], (told, ALL)]);
        seen.extend(goes_on(&mut first, &ALL[8..], &mut second));
        let is_attached =
            |update: &Value| update["params"]["update"]["content"]["type"].as_str().is_some_and(|kind| kind != "text");
        let (attached, spoken): (Vec<Value>, Vec<Value>) = seen.client.into_iter().partition(is_attached);
        assert_eq!(said(&spoken), lines(&[&[TOLD[0], (words, ALL)]]));
        assert_eq!(attached.len(), 1, "it is shown as it was sent");
    }
}

/// What somebody was told of tool calls and thoughts.
fn done(out: &Out) -> Vec<String> {
    let updates = out.client.iter().map(|message| &message["params"]["update"]);
    let told = updates.filter_map(|update| match update["sessionUpdate"].as_str()? {
        "tool_call" | "tool_call_update" => Some(format!("{} {}", update["toolCallId"], update["status"])),
        "agent_thought_chunk" => update["content"]["text"].as_str().map(str::to_owned),
        _ => None,
    });
    told.collect()
}

#[test]
fn of_tool_calls_and_thoughts_what_is_told_is_there_once_and_what_is_not_is_written() {
    let call = |kind: &str, id: &str, status: &str| json!({"sessionUpdate": kind, "toolCallId": id, "status": status});
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut first = at_work(&store, &world, "One ");
    first.agent(update("s1", call("tool_call", "a", "pending")));
    first.wait(LONG);
    is_stopped(&world);
    let mut second = Desk::ready(&store, &world, &loads());
    let asked = ask_load(&mut second, "load", "s1").request("session/load");
    let mut seen = Out::default();
    let all = TOLD.iter().chain(&[("Third question", "One ")]);
    for (user, agent) in all {
        seen.extend(second.agent(update("s1", chunk("user_message_chunk", user))));
        seen.extend(second.agent(update("s1", chunk("agent_message_chunk", agent))));
    }
    for (id, status) in [("a", "completed"), ("b", "pending")] {
        seen.extend(second.agent(update("s1", call("tool_call", id, status))));
    }
    seen.extend(second.agent(says("two ")));
    seen.extend(second.reply(&asked, json!({})));
    assert_eq!(done(&seen), ["\"a\" \"completed\"", "\"b\" \"pending\""]);
    first.agent(update("s1", call("tool_call_update", "a", "completed")));
    first.agent(update("s1", chunk("agent_thought_chunk", "A thought that is told nowhere")));
    first.agent(update("s1", call("tool_call", "b", "pending")));
    first.agent(says("two "));
    first.wait(LONG);
    first.agent(update("s1", call("tool_call_update", "b", "completed")));
    let more = goes_on(&mut first, "three four", &mut second);
    assert_eq!(done(&more), ["A thought that is told nowhere", "\"b\" \"completed\""]);
    seen.extend(more);
    assert_eq!(said(&seen.client), lines(&[TOLD, WHOLE]));
}

/// Updates of a tool call: their kind, its status, its title and its content, as far as they say anything of these.
type Updates<'t> = &'t [(&'t str, &'t str, &'t str, &'t str)];

/// Says something of the tool call `a`.
fn of_call((kind, status, title, content): (&str, &str, &str, &str)) -> Value {
    let mut update = json!({"sessionUpdate": kind, "toolCallId": "a"});
    let block = |text: &str| json!([{"type": "content", "content": {"type": "text", "text": text}}]);
    let members = [("status", json!(status), status), ("title", json!(title), title)];
    for (name, value, said) in members.into_iter().chain([("content", block(content), content)]) {
        if !said.is_empty() {
            update[name] = value;
        }
    }
    update
}

/// What somebody was told of tool calls.
fn calls(out: &Out) -> Vec<Value> {
    let updates = out.client.iter().map(|message| message["params"]["update"].clone());
    updates.filter(|update| !update["toolCallId"].is_null()).collect()
}

#[test]
fn of_a_call_that_another_window_is_told_as_a_whole_only_what_is_new_is_written_as_an_update_of_it() {
    let live = [
        ("tool_call", "pending", "Edit", ""),
        ("tool_call_update", "in_progress", "", ""),
        ("tool_call_update", "completed", "", "done"),
    ];
    let titled = [("tool_call", "pending", "Draft", ""), ("tool_call_update", "completed", "Edit", "done")];
    // What the other window's agent tells of the call, what its own says of it, and what of that is written.
    let cases: [(Updates<'_>, Updates<'_>, Updates<'_>); 8] = [
        (&[("tool_call", "completed", "Edit", "done")], &live, &[]),
        (&[("tool_call", "in_progress", "Edit", "")], &live, &[live[2]]),
        (&[("tool_call", "pending", "Edit", "")], &live, &live[1..]),
        (&[live[0], live[2]], &live, &[]),
        (&[("tool_call", "failed", "Edit", "")], &live, &[live[2]]),
        // What was told is told again behind something new; the call has ended all the same.
        (
            &[("tool_call", "completed", "Edit", "done")],
            &titled,
            &[("tool_call_update", "", "Draft", ""), ("tool_call_update", "", "Edit", "done")],
        ),
        (&[("tool_call", "pending", "Edit", "")], &titled, &[("tool_call_update", "", "Draft", ""), titled[1]]),
        (&[], &live, &live),
    ];
    for (told, said_of_it, written) in cases {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut first = at_work(&store, &world, "One ");
        is_stopped(&world);
        let mut second = Desk::ready(&store, &world, &loads());
        let before = [TOLD, &[("Third question", "One ")]].concat();
        let mut all: Vec<Value> = Vec::new();
        for (user, agent) in before {
            all.extend([chunk("user_message_chunk", user), chunk("agent_message_chunk", agent)]);
        }
        all.extend(told.iter().copied().map(of_call));
        all.push(chunk("agent_message_chunk", "two three four"));
        load_told(&mut second, &all);
        second.turn("s1", "Fourth question", &["Fourth answer"]);
        for piece in said_of_it {
            first.agent(update("s1", of_call(*piece)));
            first.wait(LONG);
        }
        let seen = goes_on(&mut first, "two three four", &mut second);
        let expected: Vec<Value> = written.iter().copied().map(of_call).collect();
        assert_eq!(calls(&seen), expected, "{told:?}");
        assert_eq!(said(&seen.client), [""; 0], "{told:?}");
        leave(first);
        leave(second);
        let mut fresh = Desk::ready(&store, &world, &json!({}));
        let out = load(&mut fresh, "s1", &[]);
        assert_eq!(said(&out.client), lines(&[TOLD, WHOLE, &[("Fourth question", "Fourth answer")]]), "{told:?}");
        let expected: Vec<Value> = told.iter().chain(written).copied().map(of_call).collect();
        assert_eq!(calls(&out), expected, "{told:?}");
    }
}

#[test]
fn a_window_that_has_it_open_is_shown_the_rest_of_what_it_was_shown_in_part() {
    // What was written, what comes to that before anything else, and what else comes.
    for (written, rest) in
        [("One ", ["two ", "three four"]), ("One two ", ["three four", ""]), ("", ["One two ", "three four"])]
    {
        for is_stopped_twice in [false, true] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut first = at_work(&store, &world, "");
            let mut second = Desk::ready(&store, &world, &json!({}));
            let mut seen = load(&mut second, "s1", &[]);
            if !written.is_empty() {
                first.agent(says(written));
                first.wait(LONG);
            }
            let mut stops = |seen: &mut Out| {
                is_stopped(&world);
                seen.extend(second.wait(LONG));
                seen.extend(second.wait(LONG));
            };
            stops(&mut seen);
            first.agent(says(rest[0]));
            first.wait(LONG);
            if is_stopped_twice {
                stops(&mut seen);
            }
            let call = json!({"sessionUpdate": "tool_call", "toolCallId": "a", "status": "completed", "title": "Edit"});
            first.agent(update("s1", call));
            seen.extend(goes_on(&mut first, rest[1], &mut second));
            assert_eq!(said(&seen.client), lines(&[TOLD, WHOLE]), "{written}, {rest:?}, {is_stopped_twice}");
            assert_eq!(done(&seen), ["\"a\" \"completed\""], "{written}, {rest:?}, {is_stopped_twice}");
            // So it is where nothing else comes but the end.
            ask_prompt(&mut first, "third", "s1", "Fourth question");
            first.agent(says("Fourth "));
            first.wait(LONG);
            let mut seen = Out::default();
            is_stopped(&world);
            seen.extend(second.wait(LONG));
            seen.extend(second.wait(LONG));
            seen.extend(goes_on(&mut first, "answer", &mut second));
            assert_eq!(said(&seen.client), ["> Fourth question", "Fourth answer"], "{written}, {rest:?}");
        }
    }
}
