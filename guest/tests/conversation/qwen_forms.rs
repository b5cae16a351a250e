//! What Qwen Code tells of a conversation: each message of its transcript with the name of its segment, and the end of an agent that
//! worked in the background in its user's name. Nothing is joined or exchanged for that.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{World, chunk, update};
use crate::scenes::{answers, ask_prompt, begun, leave, listing, load_told, mark, row, says, words};

const BACKGROUND: &str = "Background agent \"look\" completed.";

fn segment(kind: &str, text: &str) -> Value {
    let mut told = chunk(kind, text);
    told["_meta"] = json!({"timestamp": 1, "qwenTranscript": {"segmentId": format!("{text}:0")}});
    told
}

fn turn(prompt: &str, answer: &str) -> [Value; 2] {
    [segment("user_message_chunk", prompt), segment("agent_message_chunk", answer)]
}

fn notice(kind: &str, source: &str) -> Value {
    let mut told = chunk(kind, BACKGROUND);
    told["_meta"] = json!({"source": source, "qwenDiscreteMessage": true});
    told
}

#[test]
fn a_prompt_that_was_kept_alone_and_one_of_its_own_window_are_two() {
    for (answered, error) in [(None, true), (Some("I begin to say "), true), (Some("I begin to say "), false)] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let loads = json!({"loadSession": true});
        let mut desk = begun(&store, &world, &loads, &[("One", "1")]);
        let asked = ask_prompt(&mut desk, "two", "s1", "Two").request("session/prompt");
        if let Some(text) = answered {
            desk.agent(says(text));
        }
        if error {
            desk.refuse(&asked, -32603);
        }
        leave(desk);
        let told = [&turn("One", "1")[..], &[segment("user_message_chunk", "Two")], &turn("Outside", "3")].concat();
        let expected = format!("> One1> Two{}> Outside3", answered.unwrap_or_default());
        for time in ["once", "again"] {
            let changed = row("s1", "One", "2025-10-10T00:00:00Z");
            let mut desk = listing(&store, &world, "a", &loads, &[changed]);
            let out = load_told(&mut desk, &told);
            assert_eq!(words(&out), expected, "{answered:?}, {error}, {time}");
            assert_eq!(mark(&out, "load")["setAside"], Value::Null, "{answered:?}, {error}, {time}");
            leave(desk);
        }
    }
}

#[test]
fn the_end_of_a_background_agent_is_not_the_users() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let loads = json!({"loadSession": true});
    let mut desk = begun(&store, &world, &loads, &[("One", "1")]);
    ask_prompt(&mut desk, "two", "s1", "Two");
    let tells = |told: Value| update("s1", told);
    desk.agent(tells(notice("agent_message_chunk", "background_task_completed")));
    desk.agent(tells(notice("agent_message_chunk", "background_notification")));
    desk.agent(says("Delegated."));
    desk.agent(answers("two"));
    leave(desk);
    let mut told = turn("One", "1").to_vec();
    told.push(segment("user_message_chunk", "Two"));
    told.push(notice("agent_message_chunk", "background_task_completed"));
    told.push(notice("user_message_chunk", "background_notification"));
    told.push(segment("agent_message_chunk", "Delegated."));
    for time in ["once", "again"] {
        let mut desk = listing(&store, &world, "a", &loads, &[row("s1", "One", "2025-10-10T00:00:00Z")]);
        let out = load_told(&mut desk, &told);
        assert_eq!(words(&out), format!("> One1> Two{BACKGROUND}{BACKGROUND}Delegated."), "{time}");
        assert!(mark(&out, "load")["setAside"].is_null());
        leave(desk);
    }
}
