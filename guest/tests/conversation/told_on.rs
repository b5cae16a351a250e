//! Agents that answer a load when they have told the first thing of the history, and tell the rest behind their answer; and agents that
//! are known to tell all of it there.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{
    CWD, LONG, Turns, answers, ask_load, ask_prompt, begun, leave, lines, listing, prompt_until_sent, replay, row,
    said, says, told_all,
};

const COMMANDS: &str = "available_commands_update";
/// Earlier than anything that is said here.
const EARLIER: &str = "2020-01-01T00:00:00Z";

/// What the agent tells of two turns, the second of which was had without the layer or not.
fn history(is_gone_on_with: bool) -> Vec<Value> {
    let mut all = vec![chunk("user_message_chunk", "First"), chunk("agent_message_chunk", "One")];
    if is_gone_on_with {
        all.extend([chunk("user_message_chunk", "Second"), chunk("agent_message_chunk", "Two")]);
    }
    all
}

/// The client loads `s1`, and the agent answers when it has told this.
fn answered_behind(desk: &mut Desk<'_>, told: &[Value]) -> Out {
    let mut out = ask_load(desk, "load", "s1");
    let asked = out.request("session/load");
    for told in told {
        out.extend(desk.agent(update("s1", told.clone())));
    }
    out.extend(desk.reply(&asked, json!({})));
    out
}

/// What is said where it answers when it has told so much of this, and then tells the rest.
fn told_on(desk: &mut Desk<'_>, history: &[Value], before: usize, has_commands: bool) -> Vec<String> {
    let (first, rest) = history.split_at(before);
    let mut out = answered_behind(desk, first);
    for told in rest {
        out.extend(desk.agent(update("s1", told.clone())));
        out.extend(desk.wait(200));
    }
    if has_commands {
        out.extend(desk.agent(update("s1", json!({"sessionUpdate": COMMANDS, "availableCommands": []}))));
    }
    assert!(out.is_open("load"), "it may be telling more");
    out.extend(desk.wait(if has_commands { 300 } else { 1000 }));
    assert!(!out.is_open("load"), "it is silent");
    said(&out.client)
}

#[test]
fn what_is_told_behind_the_answer_to_a_load_is_the_rest_of_the_history() {
    for is_gone_on_with in [false, true] {
        for has_commands in [false, true] {
            for is_split in [false, true] {
                let case = format!("gone on with: {is_gone_on_with}, commands: {has_commands}, split: {is_split}");
                let (store, world) = (Memory::new(), World::unrecorded());
                let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
                desk.new_session("s1", CWD);
                desk.turn("s1", "First", &["One"]);
                leave(desk);
                let (mut history, mut before) = (history(is_gone_on_with), 1);
                if is_split {
                    history.splice(0..1, [chunk("user_message_chunk", "Fi"), chunk("user_message_chunk", "rst")]);
                    before = 2;
                }
                let mut expected = vec!["> First", "One"];
                if is_gone_on_with {
                    expected.extend(["> Second", "Two"]);
                }
                for load in 0..3 {
                    world.now.set(world.now.get() + 60_000);
                    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
                    let shown = told_on(&mut desk, &history, before, has_commands);
                    assert_eq!(shown, expected, "{case}, load {load}");
                    leave(desk);
                }
            }
        }
    }
}

/// What two turns and those behind them are told as.
fn told(turns: Turns<'_>) -> Vec<Value> {
    let both = |(user, agent): &(&str, &str)| [chunk("user_message_chunk", user), chunk("agent_message_chunk", agent)];
    turns.iter().flat_map(both).collect()
}

#[test]
fn the_rest_is_history_where_nothing_is_compared_because_another_window_is_at_a_turn() {
    for has_commands in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut first = Desk::ready(&store, &world, &json!({"loadSession": true}));
        first.new_session("s1", CWD);
        first.turn("s1", "First", &["One"]);
        ask_prompt(&mut first, "turn", "s1", "Long");
        first.agent(says("Begun"));
        first.wait(LONG);
        let mut second = Desk::ready(&store, &world, &json!({"loadSession": true}));
        let history = told(&[("First", "One"), ("Long", "Begun")]);
        assert_eq!(told_on(&mut second, &history, 1, has_commands), ["> First", "One", "> Long", "Begun"]);
        second.turn("s1", "Beside", &["Two"]);
        leave(second);
        let mut second = Desk::ready(&store, &world, &json!({"loadSession": true}));
        let history = told(&[("First", "One"), ("Long", "Begun"), ("Beside", "Two")]);
        let shown = told_on(&mut second, &history, 1, has_commands);
        assert_eq!(shown, ["> First", "One", "> Long", "Begun", "> Beside", "Two"], "{has_commands}");
        let mut out = first.agent(says(" and over"));
        out.extend(first.agent(answers("turn")));
        out.extend(first.wait(2000));
        assert_eq!(said(&out.client), [" and over", "> Beside", "Two"], "{has_commands}");
        second.wait(2000);
        leave(second);
        leave(first);
        world.now.set(world.now.get() + 60_000);
        let mut last = Desk::ready(&store, &world, &json!({"loadSession": true}));
        let history = told(&[("First", "One"), ("Long", "Begun and over"), ("Beside", "Two")]);
        let shown = told_on(&mut last, &history, 1, has_commands);
        assert_eq!(shown, ["> First", "One", "> Long", "Begun and over", "> Beside", "Two"], "{has_commands}");
        leave(last);
    }
}

#[test]
fn the_rest_is_history_where_nothing_is_compared_because_the_agents_list_says_that_nothing_has_changed() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let opened = || listing(&store, &world, "a", &json!({"loadSession": true}), &[row("s1", "One", EARLIER)]);
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
    desk.new_session("s1", CWD);
    desk.turn("s1", "First", &["One"]);
    leave(desk);
    for load in 0..4 {
        world.now.set(world.now.get() + 60_000);
        let mut desk = opened();
        assert_eq!(told_on(&mut desk, &history(false), 1, load % 2 == 0), ["> First", "One"], "load {load}");
        leave(desk);
    }
}

#[test]
fn the_rest_is_history_where_the_agent_was_started_again_and_is_made_to_open_the_session_by_itself() {
    for is_other_at_turn in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        desk.new_session("s1", CWD);
        desk.turn("s1", "First", &["One"]);
        desk.turn("s1", "Second", &["Two"]);
        let mut other = Desk::ready(&store, &world, &json!({"loadSession": true}));
        if is_other_at_turn {
            told_on(&mut other, &history(true), 1, true);
            ask_prompt(&mut other, "long", "s1", "Long");
            other.agent(says("Begun"));
            other.wait(LONG);
        }
        desk.revive(&json!({"loadSession": true}));
        let mut out = ask_prompt(&mut desk, "turn", "s1", "Third");
        let asked = out.request("session/load");
        let history = history(true);
        out.extend(desk.agent(update("s1", history[0].clone())));
        out.extend(desk.reply(&asked, json!({})));
        for told in &history[1..] {
            out.extend(desk.agent(update("s1", told.clone())));
        }
        out.extend(desk.wait(1000));
        out.request("session/prompt");
        desk.agent(says("Three"));
        out.extend(desk.agent(answers("turn")));
        assert_eq!(said(&out.client), [""; 0], "the client has it");
        leave(desk);
        other.wait(2000);
        leave(other);
        let kept = [history, told(&[("Third", "Three")])].concat();
        let mut expected = vec!["> First", "One", "> Second", "Two", "> Third", "Three"];
        if is_other_at_turn {
            expected.splice(4..4, ["> Long", "Begun"]);
        }
        world.now.set(world.now.get() + 60_000);
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        assert_eq!(told_on(&mut desk, &kept, 1, true), expected);
        leave(desk);
    }
}

#[test]
fn what_is_asked_meanwhile_waits_for_the_rest() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
    desk.new_session("s1", CWD);
    desk.turn("s1", "First", &["One"]);
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
    let asked = ask_load(&mut desk, "load", "s1").request("session/load");
    let [prompt, answer] = &history(false)[..] else { unreachable!("it has one turn") };
    desk.agent(update("s1", prompt.clone()));
    desk.reply(&asked, json!({}));
    let out = ask_prompt(&mut desk, "turn", "s1", "Next");
    assert!(out.agent.is_empty(), "{out:?}");
    desk.agent(update("s1", answer.clone()));
    let out = desk.wait(1000);
    assert_eq!(out.request("session/prompt")["params"]["prompt"], json!([{"type": "text", "text": "Next"}]));
    desk.agent(update("s1", chunk("agent_message_chunk", "Three")));
    desk.agent(answers("turn"));
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
    let told =
        [history(false), vec![chunk("user_message_chunk", "Next"), chunk("agent_message_chunk", "Three")]].concat();
    assert_eq!(told_on(&mut desk, &told, 1, true), ["> First", "One", "> Next", "Three"]);
    leave(desk);
}

#[test]
fn a_mode_that_is_put_back_is_not_said_once_more() {
    const MODES: &str =
        r#"{"currentModeId":"default","availableModes":[{"id":"default","name":"D"},{"id":"yolo","name":"Y"}]}"#;
    let modes: Value = serde_json::from_str(MODES).unwrap();
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"loadSession": true});
    let mut desk = Desk::ready(&store, &world, &capabilities);
    desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
    desk.agent(json!({"id": "new", "result": {"sessionId": "s1", "modes": modes}}));
    desk.turn("s1", "First", &["One"]);
    let says = || update("s1", chunk("agent_message_chunk", "[MODE_UPDATE] yolo"));
    desk.client(json!({"id": "mode", "method": "session/set_mode", "params": {"sessionId": "s1", "modeId": "yolo"}}));
    let out = desk.agent(says());
    assert_eq!(said(&out.client), ["[MODE_UPDATE] yolo"], "its user has set it");
    desk.agent(json!({"id": "mode", "result": {}}));
    leave(desk);
    for load in 0..3 {
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let mut out = ask_load(&mut desk, "load", "s1");
        let asked = out.request("session/load");
        for told in history(false) {
            out.extend(desk.agent(update("s1", told)));
        }
        let restored = desk.reply(&asked, json!({"modes": modes}));
        let put_back = restored.request("session/set_mode");
        out.extend(restored);
        out.extend(desk.agent(says()));
        out.extend(desk.reply(&put_back, json!({})));
        assert_eq!(said(&out.client), ["> First", "One[MODE_UPDATE] yolo"], "load {load}");
        leave(desk);
    }
}

#[test]
fn what_comes_after_a_longer_pause_is_no_more_than_the_history_either() {
    const THREE: Turns<'static> = &[("First", "One"), ("Second", "Two"), ("Third", "Three")];
    let (history, all) = (told(THREE), lines(&[THREE]));
    for pause in 1..history.len() {
        let (store, world) = (Memory::new(), World::unrecorded());
        leave(begun(&store, &world, &json!({"loadSession": true}), THREE));
        for load in 0..2 {
            world.now.set(world.now.get() + 60_000);
            let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
            let (before, behind) = history.split_at(pause);
            assert_eq!(told_on(&mut desk, before, 1, false), all, "{pause}, load {load}");
            let mut out = desk.wait(1500);
            for told in behind {
                out.extend(desk.agent(update("s1", told.clone())));
            }
            out.extend(desk.wait(LONG));
            assert_eq!(said(&out.client), Vec::<String>::new(), "{pause}, load {load}");
            leave(desk);
        }
        world.now.set(world.now.get() + 60_000);
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        assert_eq!(told_on(&mut desk, &history, 1, false), all, "{pause}");
        desk.turn("s1", "Fourth", &["Four"]);
        leave(desk);
    }
}

/// Since then the agent is known to tell all of a history behind its answer to a load.
fn make_known(store: &Memory, world: &World) {
    let capabilities = json!({"loadSession": true});
    let mut desk = Desk::ready(store, world, &capabilities);
    desk.new_session("s0", CWD);
    desk.turn("s0", "Hello", &["there"]);
    leave(desk);
    let mut desk = Desk::ready(store, world, &capabilities);
    let asked = ask_load(&mut desk, "load", "s0").request("session/load");
    desk.reply(&asked, json!({})).answer("load");
    assert_eq!(said(&replay(&mut desk, "s0", &[("Hello", "there")]).client), [""; 0], "nothing is doubled");
    leave(desk);
}

/// A turn that its agent tells otherwise than it was had.
struct Otherwise {
    name: &'static str,
    prompt: Vec<Value>,
    answer: &'static [&'static str],
    told: &'static [(bool, &'static str)],
}

fn otherwise() -> [Otherwise; 4] {
    let text = |text: &str| json!({"type": "text", "text": text});
    let file = || json!({"type": "resource", "resource": {"uri": "file:///x/b.txt", "text": "body of b"}});
    [
        Otherwise {
            name: "a file",
            prompt: vec![text("Look at this"), file()],
            answer: &["I have looked at it."],
            told: &[
                (true, "Look at thisContent from `/x/b.txt`:\n```\nbody of b\n```"),
                (false, "I have looked at it."),
            ],
        },
        Otherwise {
            name: "a command",
            prompt: vec![text("/goal all green")],
            answer: &["Goal set: all green"],
            told: &[],
        },
        Otherwise {
            name: "a stream that was begun again",
            prompt: vec![text("Try it")],
            answer: &["Half an ans", "Half an answer and the rest."],
            told: &[(true, "Try it"), (false, "Half an answer and the rest.")],
        },
        Otherwise {
            name: "a note that is not kept",
            prompt: vec![text("Try it")],
            answer: &["Conversation compacted: a summary.", "After that an answer."],
            told: &[(true, "Try it"), (false, "After that an answer.")],
        },
    ]
}

/// What is shown of `s1` a minute later, where its agent tells so much of this before its answer: contents as they are.
fn shown(store: &Memory, world: &World, told: &[Value], before: usize) -> Vec<Value> {
    world.now.set(world.now.get() + 60_000);
    let mut desk = Desk::ready(store, world, &json!({"loadSession": true}));
    let (first, rest) = told.split_at(before);
    let mut out = answered_behind(&mut desk, first);
    for told in rest {
        assert!(out.is_open("load"), "it tells all of it yet");
        out.extend(desk.agent(update("s1", told.clone())));
        out.extend(desk.wait(200));
    }
    let mut out = told_all(&mut desk, out);
    out.extend(desk.wait(LONG));
    leave(desk);
    let updates = out.client.iter().map(|message| &message["params"]["update"]);
    updates.filter(|update| update["sessionUpdate"].is_string()).map(|update| update["content"].clone()).collect()
}

#[test]
fn what_an_agent_tells_behind_its_answer_that_is_known_for_that_is_compared_like_any_history() {
    for otherwise in otherwise() {
        let told = [
            told(&[("First", "One")]),
            otherwise
                .told
                .iter()
                .map(|(is_user, text)| chunk(if *is_user { "user_message_chunk" } else { "agent_message_chunk" }, text))
                .collect(),
            told(&[("Last", "Well")]),
        ]
        .concat();
        let shown_by = |is_behind: bool| {
            let (store, world) = (Memory::new(), World::unrecorded());
            if is_behind {
                make_known(&store, &world);
            }
            let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
            desk.new_session("s1", CWD);
            desk.turn("s1", "First", &["One"]);
            prompt_until_sent(&mut desk, "turn", &otherwise.prompt);
            for answer in otherwise.answer {
                desk.agent(says(answer));
            }
            desk.agent(answers("turn"));
            desk.turn("s1", "Last", &["Well"]);
            leave(desk);
            [(); 3].map(|()| shown(&store, &world, &told, if is_behind { 0 } else { told.len() }))
        };
        let shown = shown_by(true);
        assert_eq!(shown, shown_by(false), "{}", otherwise.name);
        assert_eq!(shown[2], shown[0], "{}", otherwise.name);
    }
}

#[test]
fn an_agent_is_known_for_that_once_it_begins_with_its_users_first_words_though_it_tells_them_otherwise() {
    let file = json!({"type": "resource", "resource": {"uri": "file:///x/b.txt", "text": "body of b"}});
    for (is_told_first, is_prompted, is_known) in [(true, false, true), (true, true, false), (false, false, false)] {
        let case = format!("first: {is_told_first}, prompted: {is_prompted}");
        let (store, world) = (Memory::new(), World::unrecorded());
        let capabilities = json!({"loadSession": true});
        let mut desk = Desk::ready(&store, &world, &capabilities);
        desk.new_session("s1", CWD);
        prompt_until_sent(&mut desk, "turn", &[json!({"type": "text", "text": "Look"}), file.clone()]);
        desk.agent(says("I have."));
        desk.agent(answers("turn"));
        leave(desk);
        for load in 0..2 {
            world.now.set(world.now.get() + 60_000);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let asked = ask_load(&mut desk, "load", "s1").request("session/load");
            let mut out = desk.reply(&asked, json!({}));
            assert_eq!(out.is_open("load"), is_known && load > 0, "{case}, load {load}");
            if load == 0 && is_prompted {
                ask_prompt(&mut desk, "turn", "s1", "Next");
            }
            if !is_told_first {
                desk.agent(says("By the way"));
            }
            let told = "Look: Content from `/x/b.txt`: body of b";
            out.extend(desk.agent(update("s1", chunk("user_message_chunk", told))));
            out.extend(desk.agent(says("I have.")));
            if load == 0 && is_prompted {
                desk.agent(answers("turn"));
            }
            out.extend(desk.wait(1000));
            assert!(!out.is_open("load"), "{case}, load {load}");
            leave(desk);
        }
    }
}

#[test]
fn an_agent_that_is_known_for_that_and_tells_nothing_is_waited_for_no_longer_than_it_takes_to_begin() {
    let commands = || update("s1", json!({"sessionUpdate": COMMANDS, "availableCommands": []}));
    for (says_first, waits) in [(None, 1000), (Some(commands()), 300), (Some(says("By the way")), 0)] {
        let case = format!("{says_first:?}");
        let (store, world) = (Memory::new(), World::unrecorded());
        make_known(&store, &world);
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        desk.new_session("s1", CWD);
        desk.turn("s1", "First", &["One"]);
        leave(desk);
        let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
        let asked = ask_load(&mut desk, "load", "s1").request("session/load");
        let mut out = desk.reply(&asked, json!({}));
        assert!(out.is_open("load"), "{case}");
        out.extend(says_first.clone().map(|first| desk.agent(first)).unwrap_or_default());
        if waits > 0 {
            out.extend(desk.wait(waits - 100));
            assert!(out.is_open("load"), "{case}");
            out.extend(desk.wait(100));
        }
        assert!(!out.is_open("load"), "{case}");
        let last = if waits == 0 { "OneBy the way" } else { "One" };
        assert_eq!(said(&out.client), ["> First", last], "{case}");
        leave(desk);
    }
}

#[test]
fn nobody_waits_for_agents_that_are_not_known_for_that_or_where_there_is_nothing_to_tell() {
    for (agent, has_history) in [("a", false), ("b", true)] {
        let (store, world) = (Memory::new(), World::unrecorded());
        make_known(&store, &world);
        let opened = || {
            let mut desk = Desk::open(&store, &world, &[]);
            desk.greet(Some(agent), &json!({"loadSession": true}));
            desk
        };
        let mut desk = opened();
        desk.new_session("s1", CWD);
        if has_history {
            desk.turn("s1", "First", &["One"]);
        }
        leave(desk);
        let mut desk = opened();
        let asked = ask_load(&mut desk, "load", "s1").request("session/load");
        assert!(!desk.reply(&asked, json!({})).is_open("load"), "{agent}");
        leave(desk);
    }
}
