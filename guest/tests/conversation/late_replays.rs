//! Agents that tell what they have of a conversation behind their answer to opening it, or to forking it.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, Turns, account, answers, ask_fork, ask_load, ask_prompt, ask_resume, leave, lines, load, oblige, replay,
    said, told,
};

pub(crate) const NEW: Turns<'static> = &[("New question", "New answer")];

/// Longer than an agent may take to begin, in milliseconds.
pub(crate) const LATER: i64 = 20_000;

/// How a session is opened, and what its agent can do.
pub(crate) fn ways() -> [(&'static str, Value); 5] {
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
pub(crate) fn opened(desk: &mut Desk<'_>, method: &str) -> (String, &'static str, Out) {
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
pub(crate) fn kept(store: &Memory, world: &World, id: &str) -> Vec<String> {
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

/// A session `s1` of another agent's, with which this one goes on by [`NEW`] in its own session `agent_id`; and the account of what
/// was said before that it was given.
pub(crate) fn gone_on_with<'a>(
    store: &'a Memory,
    world: &'a World,
    capabilities: &Value,
    agent_id: &str,
) -> (Desk<'a>, String) {
    let mut desk = Desk::open(store, world, &[]);
    desk.greet(Some("b"), &json!({}));
    desk.new_session("s1", CWD);
    desk.turn("s1", "Theirs", &["Their answer"]);
    leave(desk);
    let mut desk = Desk::ready(store, world, capabilities);
    let out = ask_load(&mut desk, "load", "s1");
    oblige(&mut desk, out, &[], agent_id).answer("load");
    let prompt = ask_prompt(&mut desk, "turn", "s1", NEW[0].0);
    let account = account(&prompt).expect("it is told what was said");
    desk.agent(update(agent_id, chunk("agent_message_chunk", NEW[0].1)));
    desk.agent(answers("turn"));
    (desk, account)
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
fn what_is_told_behind_the_answer_is_nothing_new_though_the_client_has_sent_a_prompt_by_then() {
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
fn an_account_that_is_told_so_too_is_the_layers() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"sessionCapabilities": {"fork": {}, "resume": {}}});
    let (mut desk, account) = gone_on_with(&store, &world, &capabilities, "a1");
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

pub(crate) fn tool(id: &str, title: &str, status: &str) -> Value {
    json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": title, "status": status})
}

/// The updates of these kinds that the client was sent, as texts.
pub(crate) fn updates_told(out: &Out, kinds: &[&str]) -> Vec<String> {
    let updates = out.client.iter().map(|message| &message["params"]["update"]);
    let told = updates.filter(|update| kinds.iter().any(|kind| update["sessionUpdate"] == *kind));
    let without_id = told.cloned().map(|mut update| {
        update.as_object_mut().unwrap().remove("messageId");
        update.to_string()
    });
    without_id.collect()
}

pub(crate) const SAID: [&str; 6] =
    ["user_message_chunk", "agent_message_chunk", "agent_thought_chunk", "tool_call", "tool_call_update", "notice"];

/// A session `s1` with a turn of this prompt and these updates.
pub(crate) fn turn_of(store: &Memory, world: &World, capabilities: &Value, prompt: &[Value], updates: &[Value]) {
    let mut desk = Desk::ready(store, world, capabilities);
    desk.new_session("s1", CWD);
    let params = json!({"sessionId": "s1", "prompt": prompt});
    desk.client(json!({"id": "turn", "method": "session/prompt", "params": params})).request("session/prompt");
    for said in updates {
        desk.agent(update("s1", said.clone()));
    }
    desk.agent(answers("turn"));
    leave(desk);
}

/// What is kept of it, update by update.
pub(crate) fn kept_updates(store: &Memory, world: &World, id: &str) -> Vec<String> {
    let mut desk = Desk::open(store, world, &[]);
    let client = json!({"session": {"notices": {}}});
    desk.client(
        json!({"id": "i", "method": "initialize", "params": {"protocolVersion": 1, "clientCapabilities": client}}),
    );
    let asked = json!({"id": "i", "result": {"protocolVersion": 1, "agentInfo": {"name": "other", "version": "1"}}});
    desk.agent(asked);
    let out = load(&mut desk, id, &[]);
    leave(desk);
    updates_told(&out, &SAID)
}

#[test]
fn prompts_and_answers_of_all_kinds_are_known_again() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let image = json!({"type": "image", "mimeType": "image/png", "data": "AAAA"});
    let link = json!({"type": "resource_link", "uri": "file:///a.rs", "name": "a.rs"});
    let says = |text: &str| chunk("agent_message_chunk", text);
    let cases: [(&str, Vec<Value>, Vec<Value>); 8] = [
        ("white space", vec![text("Fix the test")], vec![says("It is fixed"), says("\n\n"), says("Done.")]),
        ("a short thought", vec![text("Fix the test")], vec![chunk("agent_thought_chunk", "Hm."), says("It is fixed")]),
        (
            "an image of the agent's",
            vec![text("Fix the test")],
            vec![says("It is fixed"), json!({"sessionUpdate": "agent_message_chunk", "content": image})],
        ),
        ("a link first", vec![link.clone(), text("Fix the test")], vec![says("It is fixed")]),
        ("a short text first", vec![text("Look at "), link, text(" and fix it")], vec![says("It is fixed")]),
        ("an image alone", vec![image], vec![says("A nice cat it is")]),
        (
            "tool calls",
            vec![text("Fix the test")],
            vec![
                says("I shall read it"),
                tool("c1", "Read", "pending"),
                json!({"sessionUpdate": "tool_call_update", "toolCallId": "c1", "status": "completed"}),
                says("Done."),
            ],
        ),
        ("a short prompt", vec![text("Go")], vec![says("Gone")]),
    ];
    for (name, prompt, answer) in &cases {
        for (method, capabilities) in ways() {
            let (store, world) = (Memory::new(), World::unrecorded());
            turn_of(&store, &world, &capabilities, prompt, answer);
            let before = kept_updates(&store, &world, "s1");
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let (id, agent_id, _) = opened(&mut desk, method);
            let mut out = Out::default();
            for block in prompt {
                let said = json!({"sessionUpdate": "user_message_chunk", "content": block});
                out.extend(desk.agent(update(agent_id, said)));
            }
            for said in answer {
                out.extend(desk.agent(update(agent_id, said.clone())));
            }
            assert_eq!(updates_told(&out, &SAID), [""; 0], "{name} {method}");
            desk.wait(500);
            leave(desk);
            assert_eq!(kept_updates(&store, &world, &id), before, "{name} {method}");
        }
    }
}

#[test]
fn an_account_that_is_told_between_turns_is_never_the_users_words() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let (mut desk, account) = gone_on_with(&store, &world, &capabilities, "a1");
    // Long after it was opened, and in the agent's own words.
    desk.wait(LATER);
    let mut out = desk.agent(update("a1", chunk("user_message_chunk", &account)));
    out.extend(replay(&mut desk, "a1", &[("Said in the agent's own window", "And answered there")]));
    assert_eq!(said(&out.client), ["> Said in the agent's own window", "And answered there"]);
    desk.wait(500);
    leave(desk);
    assert!(!kept(&store, &world, "s1").concat().contains("restored"));
}

/// What it shows, what is asked, what is answered, and what is told of both later.
type Otherwise = (&'static str, Vec<Value>, Vec<Value>, Vec<Value>);

#[test]
fn a_replay_that_tells_attachments_and_calls_in_ways_of_its_own_is_known_again_up_to_its_end() {
    let text = |text: &str| json!({"type": "text", "text": text});
    let says = |text: &str| chunk("agent_message_chunk", text);
    let user = |content: Value| json!({"sessionUpdate": "user_message_chunk", "content": content});
    let image = json!({"type": "image", "mimeType": "image/png", "data": "AAAA"});
    let otherwise = json!({"type": "image", "mimeType": "image/png", "data": "AAAA", "uri": "file:///a.png"});
    let mut call = tool("c1", "Read", "completed");
    call["rawInput"] = json!({"path": "a.rs"});
    let link = json!({"type": "resource_link", "uri": "file:///a.rs", "name": "a.rs"});
    let linked = json!({"type": "resource_link", "uri": "file:///a.rs", "name": "a.rs", "mimeType": "text/plain"});
    let read = |text: &str| user(json!({"type": "text", "text": text, "annotations": {"audience": ["assistant"]}}));
    let cases: [Otherwise; 5] = [
        (
            "what it has read of a link",
            vec![text("What does this print: "), link.clone()],
            vec![says("It prints nothing")],
            vec![
                user(text("What does this print: ")),
                read("Called the Read tool"),
                read("fn main() {}"),
                user(linked),
                says("It prints nothing"),
            ],
        ),
        (
            "what it has read of a link, first",
            vec![link.clone(), text("What does this print?")],
            vec![says("It prints nothing")],
            vec![
                read("Called the Read tool"),
                read("fn main() {}"),
                user(link),
                user(text("What does this print?")),
                says("It prints nothing"),
            ],
        ),
        (
            "an image with an address",
            vec![text("What is on this picture?"), image.clone()],
            vec![says("A nice cat it is")],
            vec![user(text("What is on this picture?")), user(otherwise), says("A nice cat it is")],
        ),
        (
            "an image that it leaves out",
            vec![text("Why?"), image],
            vec![says("A nice cat it is")],
            vec![user(text("Why?")), says("A nice cat it is")],
        ),
        (
            "a call with more of it",
            vec![text("Read the file")],
            vec![says("I shall read it"), tool("c1", "Read", "completed"), says("Fixed."), says(" Bye.")],
            vec![user(text("Read the file")), says("I shall read it"), call, says("Fixed."), says(" Bye.")],
        ),
    ];
    for (name, prompt, answer, told) in &cases {
        for (method, capabilities) in ways() {
            let (store, world) = (Memory::new(), World::unrecorded());
            turn_of(&store, &world, &capabilities, prompt, answer);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let (id, agent_id, _) = opened(&mut desk, method);
            let before = kept_updates(&store, &world, &id);
            let mut out = Out::default();
            for said in told {
                out.extend(desk.agent(update(agent_id, said.clone())));
            }
            out.extend(replay(&mut desk, agent_id, &[("And more", "More it is")]));
            assert_eq!(said(&out.client), ["> And more", "More it is"], "{name} {method}");
            desk.wait(500);
            leave(desk);
            let kept = kept_updates(&store, &world, &id);
            assert_eq!(kept.len(), before.len() + 2, "{name} {method}: {kept:?}");
        }
    }
}

#[test]
fn the_rest_of_an_answer_that_a_replay_was_telling_is_no_answer_to_a_prompt_that_came_meanwhile() {
    let words: Vec<String> = (0..200).map(|nth| format!("word {nth} ")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    for told_before in [1, 100, 199] {
        for (method, capabilities) in ways() {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = Desk::ready(&store, &world, &capabilities);
            desk.new_session("s1", CWD);
            desk.turn("s1", "Count, please", &words);
            leave(desk);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let (id, agent_id, _) = opened(&mut desk, method);
            desk.agent(update(agent_id, chunk("user_message_chunk", "Count, please")));
            for word in &words[..told_before] {
                desk.agent(update(agent_id, chunk("agent_message_chunk", word)));
            }
            let asked = ask_prompt(&mut desk, "turn", &id, "Go on").request("session/prompt");
            let mut out = Out::default();
            for word in &words[told_before..] {
                out.extend(desk.agent(update(agent_id, chunk("agent_message_chunk", word))));
            }
            assert_eq!(said(&out.client), [""; 0], "{method} {told_before}");
            // What is short may be an answer, unless it is told now what the user said next.
            let shown = if told_before == 199 { vec!["word 199 "] } else { vec![] };
            let out = desk.agent(update(agent_id, chunk("agent_message_chunk", "Gone on")));
            assert_eq!(said(&out.client), [format!("{}Gone on", shown.concat())], "{method} {told_before}");
            desk.reply(&asked, json!({"stopReason": "end_turn"}));
            leave(desk);
            let kept = kept(&store, &world, &id);
            let answer = format!("{}Gone on", shown.concat());
            assert_eq!(kept, ["> Count, please", &words.concat(), "> Go on", &answer], "{method} {told_before}");
        }
    }
}
