//! An instance is lost while its agent tells a history for a request of it: what is asked next waits until the agent is at
//! the end of that, as it does behind a load that was cancelled.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, ask_fork, ask_load, ask_prompt, ask_resume, begun, converse, leave, lines, load, oblige, replay, said,
    set,
};

const LIMIT: [(&str, &str); 1] = [("agent-timeout-ms", "1000")];

fn loads() -> Value {
    json!({"loadSession": true})
}

/// A session of the agent's own that is open, of which nothing is here.
fn resumed<'a>(store: &'a Memory, world: &'a World) -> Desk<'a> {
    let mut desk = set(store, world, &loads(), &LIMIT);
    let out = ask_resume(&mut desk, "resume", "o1");
    oblige(&mut desk, out, TOLD, "never").answer("resume");
    desk
}

/// The instance is lost, and the fresh one says this at once.
fn lose<'a>(store: &'a Memory, world: &'a World, desk: Desk<'_>) -> (Desk<'a>, Out) {
    let mut desk = Desk::carry_on(store, world, &LIMIT, desk.memos, Vec::new());
    let out = desk.pull();
    (desk, out)
}

/// What has the agent tell the history of a session that is open.
fn ask(desk: &mut Desk<'_>, request: &str) -> Value {
    let out = if request == "fork" { ask_fork(desk, "o1") } else { ask_load(desk, request, "o1") };
    out.request("session/load")
}

#[test]
fn a_prompt_behind_a_lost_load_waits_until_the_agent_has_told_what_it_was_asked_for() {
    let all: Vec<_> = TOLD.iter().copied().chain([("Third question", "Third answer")]).collect();
    for request in ["load", "fork"] {
        for (told_before, is_lost_again, is_refused) in
            [(0, false, false), (1, false, false), (0, true, false), (1, false, true)]
        {
            let what = format!("{request}, {told_before} told, lost again: {is_lost_again}, refused: {is_refused}");
            let (store, world) = (Memory::new(), World::default());
            let mut desk = resumed(&store, &world);
            let asked = ask(&mut desk, request);
            replay(&mut desk, "o1", &TOLD[..told_before]);
            let (mut desk, out) = lose(&store, &world, desk);
            assert_eq!(out.answer(request)["error"]["code"], -32603, "{what}");
            if is_lost_again {
                (desk, _) = lose(&store, &world, desk);
            }
            let out = ask_prompt(&mut desk, "turn", "o1", "Third question");
            assert!(out.asked("session/prompt").is_none(), "{what}: its answer could not be told from the history");
            let told = replay(&mut desk, "o1", &TOLD[told_before..]);
            assert_eq!(said(&told.client), [""; 0], "{what}: nobody waits for it");
            let out = if is_refused { desk.refuse(&asked, -32603) } else { desk.reply(&asked, json!({})) };
            let prompt = out.request("session/prompt");
            desk.agent(update("o1", chunk("agent_message_chunk", "Third answer")));
            desk.reply(&prompt, json!({"stopReason": "end_turn"})).answer("turn");
            for time in ["once", "again"] {
                let mut desk = Desk::ready(&store, &world, &loads());
                assert_eq!(said(&load(&mut desk, "o1", &all).client), lines(&[&all]), "{what}, {time}");
            }
        }
    }
}

#[test]
fn a_load_behind_a_lost_load_shows_the_history_once() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = resumed(&store, &world);
    let lost = ask(&mut desk, "load");
    let (mut desk, _) = lose(&store, &world, desk);
    let mut out = ask_load(&mut desk, "again", "o1");
    out.extend(replay(&mut desk, "o1", TOLD));
    out.extend(desk.reply(&lost, json!({})));
    let out = oblige(&mut desk, out, TOLD, "never");
    assert!(out.answer("again")["error"].is_null());
    assert_eq!(said(&out.client), lines(&[TOLD]));
}

#[test]
fn a_lost_load_is_waited_for_no_longer_than_the_limit() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = resumed(&store, &world);
    ask(&mut desk, "load");
    let (mut desk, _) = lose(&store, &world, desk);
    ask_prompt(&mut desk, "turn", "o1", "Third question");
    assert!(desk.wait(900).asked("session/prompt").is_none());
    replay(&mut desk, "o1", &TOLD[..1]);
    assert!(desk.wait(900).asked("session/prompt").is_none(), "it is at work on it");
    let out = desk.wait(200);
    let prompt = out.request("session/prompt");
    desk.reply(&prompt, json!({"stopReason": "end_turn"})).answer("turn");
    // Nor is it waited for again.
    let (mut desk, _) = lose(&store, &world, desk);
    ask_prompt(&mut desk, "turn", "o1", "Fourth question").request("session/prompt");
}

#[test]
fn a_session_whose_load_was_lost_can_be_closed_and_what_is_told_then_is_nobodys() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = resumed(&store, &world);
    let lost = ask(&mut desk, "load");
    let (mut desk, _) = lose(&store, &world, desk);
    ask_prompt(&mut desk, "turn", "o1", "Third question");
    let mut out = desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": "o1"}}));
    assert_eq!(out.answer("close")["result"], json!({}));
    assert_eq!(out.answer("turn")["result"]["stopReason"], "cancelled");
    out.extend(replay(&mut desk, "o1", TOLD));
    out.extend(desk.reply(&lost, json!({})));
    assert!(out.asked("session/prompt").is_none() && said(&out.client).is_empty(), "{out:?}");
}

#[test]
fn what_an_agent_replays_on_a_fork_or_for_a_session_that_were_lost_is_nobodys() {
    for (method, capabilities) in
        [("session/fork", json!({"sessionCapabilities": {"fork": {}}})), ("session/load", loads())]
    {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = set(&store, &world, &capabilities, &LIMIT);
        let id = desk.new_session("s1", CWD);
        converse(&mut desk, &id, TOLD);
        if method == "session/load" {
            desk.ask("session/close", json!({"sessionId": id}));
        }
        let out = if method == "session/fork" { ask_fork(&mut desk, &id) } else { ask_load(&mut desk, "load", &id) };
        let asked = out.request(method);
        let (mut desk, _) = lose(&store, &world, desk);
        if method == "session/load" {
            ask_prompt(&mut desk, "turn", &id, "Third question").answer("turn");
        } else {
            ask_prompt(&mut desk, "turn", &id, "Third question").request("session/prompt");
        }
        let told_as = if method == "session/fork" { "f1" } else { "s1" };
        let out = replay(&mut desk, told_as, TOLD);
        assert_eq!(said(&out.client), [""; 0], "{method}");
        let out = desk.reply(&asked, json!({"sessionId": "f1"}));
        assert_eq!(said(&out.client), [""; 0], "{method}");
        assert_eq!(desk.listed(), [id.as_str()], "{method}");
    }
}

#[test]
fn what_is_told_for_a_lost_load_is_nobodys_where_the_store_cannot_be_read_for_a_moment() {
    // More than is read at once.
    let long = "word ".repeat(4000);
    let all = ["First", "Second", "Third", "Fourth", "Fifth", "Sixth", "Seventh"].map(|user| (user, long.as_str()));
    for unread_at in 0..all.len() {
        let (store, world) = (Faulty::default(), World::unrecorded());
        let mut desk = begun(&store, &world, &loads(), &all);
        // For so long that its agent is asked.
        desk.wait_awake(11_000);
        let lost = ask_load(&mut desk, "load", "s1").request("session/load");
        let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
        desk.pull();
        let mut out = Out::default();
        for (at, (user, agent)) in all.iter().enumerate() {
            store.are_logs_unreadable.set(at == unread_at);
            out.extend(desk.agent(update("s1", chunk("user_message_chunk", user))));
            store.are_logs_unreadable.set(false);
            out.extend(desk.agent(update("s1", chunk("agent_message_chunk", agent))));
        }
        assert_eq!(said(&out.client), [""; 0], "{unread_at}");
        desk.reply(&lost, json!({}));
        leave(desk);
        let mut desk = Desk::ready(&store, &world, &loads());
        assert_eq!(said(&load(&mut desk, "s1", &all).client), lines(&[&all]), "{unread_at}");
    }
}
