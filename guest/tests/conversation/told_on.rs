//! Agents that answer a load when they have told the first thing of the history, and tell the rest behind their answer.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::scenes::{CWD, answers, ask_load, ask_prompt, leave, said};

const COMMANDS: &str = "available_commands_update";

/// What the agent tells of two turns, the second of which was had without the layer or not.
fn history(is_gone_on_with: bool) -> Vec<Value> {
    let mut all = vec![chunk("user_message_chunk", "First"), chunk("agent_message_chunk", "One")];
    if is_gone_on_with {
        all.extend([chunk("user_message_chunk", "Second"), chunk("agent_message_chunk", "Two")]);
    }
    all
}

/// The client loads `s1`, and the agent answers when it has told so much of this.
fn told_on(desk: &mut Desk<'_>, history: &[Value], before: usize, has_commands: bool) -> Vec<String> {
    let mut out = ask_load(desk, "load", "s1");
    let asked = out.request("session/load");
    let (first, rest) = history.split_at(before);
    for told in first {
        out.extend(desk.agent(update("s1", told.clone())));
    }
    out.extend(desk.reply(&asked, json!({})));
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
