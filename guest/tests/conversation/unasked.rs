//! What an agent says between turns, unasked.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::scenes::{TOLD, account, ask_fork, ask_load, ask_prompt, leave, lines, load, oblige, said, told};

fn says(session: &str, text: &str) -> Value {
    update(session, chunk("agent_message_chunk", text))
}

#[test]
fn in_a_fork_of_a_session_that_stands_in_it_is_said_once_though_the_agent_replays_it_alone() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &json!({}));
    // The agent begins the first fork afresh, and forks that one itself.
    let forks = json!({"sessionCapabilities": {"fork": {}}});
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let asked = ask_fork(&mut desk, &id).request("session/new");
    desk.reply(&asked, json!({"sessionId": "f1"})).answer("fork");
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &forks);
    let asked = ask_fork(&mut desk, "f1").request("session/fork");
    desk.reply(&asked, json!({"sessionId": "f2"})).answer("fork");
    desk.agent(says("f2", "By the way"));
    let asked = ask_prompt(&mut desk, "prompt", "f2", "Third question");
    let account = account(&asked).unwrap();
    desk.agent(says("f2", "Third answer"));
    desk.reply(&asked.request("session/prompt"), json!({"stopReason": "end_turn"})).answer("prompt");
    leave(desk);
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true}));
    let asked = ask_load(&mut desk, "load", "f2").request("session/load");
    desk.agent(says("f2", "By the way"));
    for text in [account.as_str(), "Third question"] {
        desk.agent(update("f2", chunk("user_message_chunk", text)));
    }
    desk.agent(says("f2", "Third answer"));
    let seen = said(&desk.reply(&asked, json!({})).client).concat();
    assert_eq!(seen, lines(&[TOLD]).concat() + "By the way> Third questionThird answer");
}

#[test]
fn by_another_agent_it_does_not_change_the_turn_of_the_first() {
    let (store, world) = (Memory::new(), World::default());
    let loads = json!({"loadSession": true});
    let id = told(&store, &world, &loads);
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    let out = ask_load(&mut other, "load", &id);
    oblige(&mut other, out, &[], "b1").answer("load");
    other.agent(says("b1", "By the way"));
    leave(other);
    for time in ["once", "again"] {
        let mut desk = Desk::ready(&store, &world, &loads);
        let seen = said(&load(&mut desk, &id, TOLD).client).concat();
        assert_eq!(seen, lines(&[TOLD]).concat() + "By the way", "{time}");
        if time == "again" {
            let account = account(&ask_prompt(&mut desk, "prompt", &id, "Third question")).unwrap_or_default();
            assert!(account.contains("By the way") && !account.contains("First"), "{account}");
        }
        leave(desk);
    }
}
