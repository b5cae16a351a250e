//! What a user said to one agent and nobody answered is not taken for what was said to another.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::scenes::{CWD, account, ask_load, ask_prompt, leave, listing, load, oblige, row, said};

fn loads() -> Value {
    json!({"loadSession": true})
}

fn agent<'a>(store: &'a Memory, world: &'a World, name: &str, capabilities: &Value) -> Desk<'a> {
    let mut desk = Desk::open(store, world, &[]);
    desk.greet(Some(name), capabilities);
    desk
}

#[test]
fn prompts_to_two_agents_that_nobody_answered_are_not_put_together() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = agent(&store, &world, "a", &loads());
    let id = desk.new_session("s1", CWD);
    desk.turn(&id, "First question", &["First answer"]);
    desk.turn(&id, "Second question. ", &[]);
    desk.turn(&id, "Are you there? ", &[]);
    leave(desk);
    let mut desk = agent(&store, &world, "b", &json!({}));
    let out = ask_load(&mut desk, "load", &id);
    oblige(&mut desk, out, &[], "b1").answer("load");
    desk.turn(&id, "Third question", &[]);
    leave(desk);
    for time in ["once", "twice"] {
        let mut desk = agent(&store, &world, "a", &loads());
        let out = ask_load(&mut desk, "load", &id);
        let asked = out.request("session/load");
        for (kind, text) in [
            ("user_message_chunk", "First question"),
            ("agent_message_chunk", "First answer"),
            ("user_message_chunk", "Second question. "),
            ("user_message_chunk", "Are you there? "),
        ] {
            desk.agent(update("s1", chunk(kind, text)));
        }
        let out = desk.reply(&asked, json!({}));
        let all = ["> First question", "First answer", "> Second question. Are you there? Third question"];
        assert_eq!(said(&out.client), all, "{time}");
        leave(desk);
    }
    let mut desk = agent(&store, &world, "a", &loads());
    let replayed = &[("First question", "First answer"), ("Second question. Are you there? ", "")];
    load(&mut desk, &id, replayed).answer("load");
    let account = account(&ask_prompt(&mut desk, "prompt", &id, "Fourth question")).unwrap();
    assert!(account.contains("Third question") && !account.contains("Second question"), "{account}");
}

#[test]
fn an_answer_that_is_replayed_without_a_prompt_does_not_tell_that_its_agent_has_heard_another_ones() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = agent(&store, &world, "b", &json!({}));
    let id = desk.new_session("b1", CWD);
    desk.turn(&id, "First question", &[]);
    leave(desk);
    let mut desk = agent(&store, &world, "a", &json!({}));
    let out = ask_load(&mut desk, "load", &id);
    oblige(&mut desk, out, &[], "s1").answer("load");
    desk.agent(update("s1", chunk("agent_message_chunk", "Here I am")));
    leave(desk);
    for time in ["once", "twice"] {
        let mut desk = agent(&store, &world, "a", &loads());
        let out = load(&mut desk, &id, &[("", "Here I am")]);
        assert_eq!(said(&out.client), ["> First question", "Here I am"], "{time}");
        assert_eq!(out.answer("load")["result"]["_meta"]["acp-sessions"]["rehydrate"], true, "{time}");
        leave(desk);
    }
    let mut desk = agent(&store, &world, "a", &loads());
    load(&mut desk, &id, &[("", "Here I am")]).answer("load");
    let account = account(&ask_prompt(&mut desk, "prompt", &id, "Second question")).unwrap();
    assert!(account.contains("First question"), "{account}");
}

#[test]
fn a_summary_that_an_agent_replays_does_not_tell_that_it_has_heard_what_went_to_its_stand_in() {
    let (store, world) = (Memory::new(), World::default());
    let rows = [row("o1", "One", "2025-01-01T00:00:00Z")];
    let mut desk = listing(&store, &world, "a", &json!({}), &rows);
    let out = ask_load(&mut desk, "load", "o1");
    oblige(&mut desk, out, &[], "s2").answer("load");
    desk.turn("o1", "Second question", &[]);
    leave(desk);
    for time in ["once", "twice"] {
        let mut desk = agent(&store, &world, "a", &loads());
        let out = load(&mut desk, "o1", &[("", "A summary")]);
        assert_eq!(said(&out.client), ["> Second question", "A summary"], "{time}");
        assert_eq!(out.answer("load")["result"]["_meta"]["acp-sessions"]["rehydrate"], true, "{time}");
        leave(desk);
    }
    let mut desk = agent(&store, &world, "a", &loads());
    load(&mut desk, "o1", &[("", "A summary")]).answer("load");
    let account = account(&ask_prompt(&mut desk, "prompt", "o1", "Third question")).unwrap();
    assert!(account.contains("Second question"), "{account}");
}
