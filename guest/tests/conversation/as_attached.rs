//! What was sent with a prompt besides words stays in the conversation where the agent tells another answer to it, or more of it, than
//! was heard: agents tell a file as a link in words, an image as a mark, or leave it out.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::scenes::{CWD, answers, begun, leave, listing, load_told, mark, prompt_until_sent, row, says, updates};

fn text(text: &str) -> Value {
    json!({"type": "text", "text": text})
}

fn image() -> Value {
    json!({"type": "image", "data": "aGk=", "mimeType": "image/png"})
}

fn file() -> Value {
    json!({"type": "resource_link", "uri": "file:///work/a.rs", "name": "a.rs"})
}

fn thinks(text: &str) -> Value {
    update("s1", chunk("agent_thought_chunk", text))
}

fn users(content: &Value) -> Value {
    json!({"sessionUpdate": "user_message_chunk", "content": content})
}

/// What is shown of `s1` a minute later where its agent tells this: content blocks as they are, the user's behind a mark.
fn shown(store: &Memory, world: &World, told: &[Value]) -> Vec<String> {
    world.now.set(world.now.get() + 60_000);
    shown_by(Desk::ready(store, world, &json!({"loadSession": true})), told)
}

/// The same in this window.
fn shown_by(mut desk: Desk<'_>, told: &[Value]) -> Vec<String> {
    let out = load_told(&mut desk, told);
    leave(desk);
    let mut said: Vec<String> = Vec::new();
    for message in &out.client {
        let update = &message["params"]["update"];
        let (content, is_users) = (&update["content"], update["sessionUpdate"] == "user_message_chunk");
        if !is_users && update["sessionUpdate"] != "agent_message_chunk" {
            continue;
        }
        let words =
            content["text"].as_str().map_or_else(|| format!("[{}]", content["type"].as_str().unwrap()), str::to_owned);
        match said.last_mut().filter(|last| last.starts_with('>') == is_users) {
            Some(last) => *last += &words,
            None => said.push(if is_users { format!("> {words}") } else { words }),
        }
    }
    said
}

/// How a turn was left.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Left {
    Ended,
    Failed,
    Killed,
}

#[test]
fn a_prompt_stays_as_it_was_sent_where_its_answer_is_told_otherwise() {
    let prompts = [
        (vec![text("What is this?"), image()], vec![text("What is this?")], "> What is this?[image]"),
        (
            vec![text("What is this?"), image()],
            vec![text("What is this?"), text("[Image #1]")],
            "> What is this?[image]",
        ),
        (vec![text("Fix "), file()], vec![text("Fix "), text("[@a.rs](file:///work/a.rs)")], "> Fix [resource_link]"),
        (vec![file(), text("Fix it")], vec![text("[@a.rs](file:///work/a.rs)Fix it")], "> [resource_link]Fix it"),
    ];
    for (sent, told, expected) in &prompts {
        for (left, heard, kept) in [
            (Left::Ended, "That is a cat, I think.", "It may be a dog."),
            (Left::Failed, "That is a c", "It may be a dog."),
            (Left::Killed, "That is a c", "That is a cat, I think."),
        ] {
            for has_next in [true, false] {
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut desk = begun(&store, &world, &json!({"loadSession": true}), &[("one", "First.")]);
                prompt_until_sent(&mut desk, "turn", sent);
                desk.agent(says(heard));
                desk.wait(1000);
                match left {
                    Left::Ended => drop(desk.agent(answers("turn"))),
                    Left::Failed => {
                        drop(desk.agent(json!({"id": "turn", "error": {"code": -32603, "message": "overloaded"}})));
                    }
                    Left::Killed => {}
                }
                if has_next && left != Left::Killed {
                    desk.turn("s1", "three", &["Third."]);
                }
                leave(desk);
                let mut replay = vec![users(&text("one")), chunk("agent_message_chunk", "First.")];
                replay.extend(told.iter().map(users));
                replay.push(chunk("agent_message_chunk", kept));
                let mut stays = vec!["> one".to_owned(), "First.".to_owned(), (*expected).to_owned(), kept.to_owned()];
                if has_next {
                    replay.extend([users(&text("three")), chunk("agent_message_chunk", "Third.")]);
                    stays.extend(["> three".to_owned(), "Third.".to_owned()]);
                }
                for time in ["first", "second", "third"] {
                    assert_eq!(shown(&store, &world, &replay), stays, "{time} {left:?} {has_next} {told:?}");
                }
            }
        }
    }
}

#[test]
fn what_was_attached_is_known_by_its_place_among_the_words_whatever_is_told_for_it() {
    // As Crow tells a link, and a file.
    let read = || text("/work/a.rs\n     0\tbee");
    let located = || text("file_location:file:///work/a.rs\nbee");
    for (sent, told, expected) in [
        (vec![text("Fix "), file()], vec![text("Fix "), read()], "> Fix [resource_link]"),
        (vec![text("Fix "), file()], vec![text("Fix "), located()], "> Fix [resource_link]"),
        (vec![file(), text(" now")], vec![read(), text(" now")], "> [resource_link] now"),
        (
            vec![text("Fix "), file(), text(" and "), file(), file()],
            vec![text("Fix "), read(), text(" and "), located(), read()],
            "> Fix [resource_link] and [resource_link][resource_link]",
        ),
    ] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = begun(&store, &world, &json!({"loadSession": true}), &[("one", "First.")]);
        prompt_until_sent(&mut desk, "turn", &sent);
        desk.agent(says("It is fixed."));
        desk.agent(answers("turn"));
        leave(desk);
        let mut replay = vec![users(&text("one")), chunk("agent_message_chunk", "First.")];
        replay.extend(told.iter().map(users));
        replay.push(chunk("agent_message_chunk", "It is fixed."));
        for time in ["first", "second"] {
            assert_eq!(
                shown(&store, &world, &replay),
                ["> one", "First.", expected, "It is fixed."],
                "{time} {told:?}"
            );
        }
    }
}

#[test]
fn a_prompt_that_was_stopped_stays_as_it_was_sent_before_what_was_said_outside() {
    for (sent, expected) in [
        (vec![text("What is this?"), image()], "> What is this?[image]"),
        (vec![text("Fix "), file(), text(" now")], "> Fix [resource_link] now"),
        (vec![image()], "> [image]"),
        (vec![text("Go on")], "> Go on"),
    ] {
        for has_ids in [true, false] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = begun(&store, &world, &json!({"loadSession": true}), &[("one", "First.")]);
            let asked = prompt_until_sent(&mut desk, "turn", &sent).request("session/prompt");
            desk.agent(says("That is a c"));
            desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
            desk.reply(&asked, json!({"stopReason": "cancelled"}));
            leave(desk);
            let told = |content: &Value, id: &str| {
                let mut told = users(content);
                if has_ids {
                    told["messageId"] = id.into();
                }
                told
            };
            let mut replay = vec![users(&text("one")), chunk("agent_message_chunk", "First.")];
            replay.extend(sent.iter().map(|block| told(block, "m1")));
            replay.push(told(&text("Outside"), "m2"));
            replay.push(chunk("agent_message_chunk", "Said outside."));
            let said = [expected, "That is a c", "> Outside", "Said outside."];
            for time in ["first", "second"] {
                assert_eq!(shown(&store, &world, &replay)[2..], said, "{time} {sent:?} {has_ids}");
            }
        }
    }
}

#[test]
fn a_summary_of_all_that_was_said_is_no_prompt_without_words() {
    const SUMMARY: &str =
        "This session is being continued from a previous conversation that ran out of context. The summary: ...";
    let prompts = || [vec![image()], vec![file()], vec![image(), image()], vec![image(), text("What is this?")]];
    for (at, told_behind, prompt) in
        (0..4).flat_map(|at| (0..3).flat_map(move |behind| prompts().map(|prompt| (at, behind, prompt))))
    {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        desk.new_session("s1", CWD);
        let (mut expected, mut turns) = (Vec::new(), Vec::new());
        for turn in 0..4 {
            let answer = format!("The answer {turn} is this.");
            let prompt = if turn == at { prompt.clone() } else { vec![text(&format!("Prompt {turn}"))] };
            prompt_until_sent(&mut desk, "turn", &prompt);
            desk.agent(says(&answer));
            desk.agent(answers("turn"));
            let as_text = |block: &Value| match block["text"].as_str() {
                Some(words) => words.to_owned(),
                None => format!("[{}]", block["type"].as_str().unwrap()),
            };
            expected.extend([format!("> {}", prompt.iter().map(as_text).collect::<String>()), answer.clone()]);
            turns.push(prompt.iter().map(users).chain([chunk("agent_message_chunk", &answer)]).collect::<Vec<Value>>());
        }
        leave(desk);
        let mut replay = vec![users(&text(SUMMARY))];
        replay.extend(turns[4 - told_behind..].concat());
        for time in ["first", "second"] {
            let changed = row("s1", "One", "2025-10-10T00:00:00Z");
            let desk = listing(&store, &world, "a", &json!({"loadSession": true}), &[changed]);
            assert_eq!(shown_by(desk, &replay), expected, "{time}: {prompt:?} at {at}, {told_behind} told");
        }
    }
}

/// Prompts that are one turn to readers: the second was sent while the agent was at the first.
#[test]
fn a_prompt_without_words_that_is_sent_while_a_turn_runs_leaves_both_as_they_were() {
    for attached in [vec![image()], vec![file()], vec![image(), file()]] {
        for (next, is_elsewhere) in [(false, false), (true, false), (false, true), (true, true)] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let loads = json!({"loadSession": true});
            let mut desk = begun(&store, &world, &loads, &[("One", "1")]);
            let mut other = is_elsewhere.then(|| {
                let mut other = Desk::ready(&store, &world, &loads);
                load_told(&mut other, &[users(&text("One")), chunk("agent_message_chunk", "1")]);
                other
            });
            prompt_until_sent(&mut desk, "two", &[text("Two")]);
            desk.agent(says("2a "));
            desk.agent(thinks("Thought of 2"));
            let asking = other.as_mut().unwrap_or(&mut desk);
            prompt_until_sent(asking, "attached", &attached);
            desk.agent(says("2b"));
            desk.agent(answers("two"));
            desk.wait(1000);
            let asking = other.as_mut().unwrap_or(&mut desk);
            asking.agent(says("3"));
            asking.agent(answers("attached"));
            other.into_iter().for_each(leave);
            if next {
                prompt_until_sent(&mut desk, "four", &[text("Four")]);
                desk.agent(says("4"));
                desk.agent(answers("four"));
            }
            leave(desk);
            let mut told = vec![users(&text("One")), chunk("agent_message_chunk", "1"), users(&text("Two"))];
            told.push(chunk("agent_message_chunk", "2a 2b"));
            told.extend(attached.iter().map(users).chain([chunk("agent_message_chunk", "3")]));
            if next {
                told.extend([users(&text("Four")), chunk("agent_message_chunk", "4")]);
            }
            // What was shown while it was had, of which an agent that knows nothing tells nothing.
            let stays = shown(&store, &world, &[]);
            assert_eq!(stays.concat().matches("Two").count(), 1);
            for time in ["first", "second"] {
                let about = format!("{time}, {attached:?}, {next}, {is_elsewhere}");
                assert_eq!(shown(&store, &world, &told), stays, "{about}");
                let mut desk = Desk::ready(&store, &world, &loads);
                let out = load_told(&mut desk, &told);
                leave(desk);
                assert!(mark(&out, "load")["setAside"].is_null(), "{about}");
                let thoughts = updates(&out, "agent_thought_chunk");
                assert_eq!(thoughts.len(), 1, "{about}");
            }
        }
    }
}
