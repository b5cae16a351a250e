//! Prompts that end while they wait for their session: the agent never has them, and what the user has said is kept all the
//! same and told the agent later.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::{Memory, Storage, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, account, answers, ask_load, ask_prompt, lines, load, oblige, revived, said, told, updates,
};

/// Agents that open a session in each of the ways there are.
fn kinds() -> [Value; 3] {
    [json!({"sessionCapabilities": {"resume": {}}}), json!({"loadSession": true}), json!({})]
}

/// The client takes the prompt `one` back: by its session, or by its id.
fn cancel<S: Storage>(desk: &mut Desk<'_, S>, method: &str) -> Out {
    desk.client(json!({"method": method, "params": {"sessionId": "s1", "requestId": "one"}}))
}

/// What was said in `s1`, as it is loaded later with another agent.
fn kept(store: &Memory, world: &World) -> Vec<String> {
    let mut desk = Desk::open(store, world, &[]);
    desk.greet(Some("other"), &json!({}));
    said(&load(&mut desk, "s1", &[]).client)
}

/// What was said, and these words of the user's behind it.
fn and_then(user: &str) -> Vec<String> {
    [lines(&[TOLD]), vec![format!("> {user}")]].concat()
}

/// The agent, which has the session by this id, is told of the words that it has not heard with the next prompt, and once.
fn is_told(desk: &mut Desk<'_>, agent_id: &str, unheard: &str) {
    let next = ask_prompt(desk, "next", "s1", "Two");
    let account = account(&next).unwrap_or_default();
    assert!(account.contains(&format!("User: {unheard}")), "{account}");
    assert!(said(&next.client).is_empty(), "its client has said that itself: {:?}", next.client);
    desk.agent(update(agent_id, chunk("agent_message_chunk", "Done")));
    desk.agent(answers("next")).answer("next");
    assert_eq!(account_of(desk, "Three"), None, "it was told");
}

fn account_of(desk: &mut Desk<'_>, text: &str) -> Option<String> {
    let out = ask_prompt(desk, "more", "s1", text);
    let account = account(&out);
    desk.agent(answers("more"));
    account
}

#[test]
fn a_prompt_that_is_cancelled_while_its_session_is_put_back_is_kept_and_told_later() {
    for capabilities in kinds() {
        let (store, world) = (Memory::new(), World::unrecorded());
        let mut desk = revived(&store, &world, &capabilities);
        let opening = ask_prompt(&mut desk, "one", "s1", "One");
        let out = cancel(&mut desk, "session/cancel");
        assert_eq!(out.answer("one")["result"], json!({"stopReason": "cancelled"}));
        assert_eq!(kept(&store, &world), and_then("One"), "{capabilities}");
        let out = oblige(&mut desk, opening, TOLD, "fresh");
        assert!(out.asked("session/prompt").is_none() && said(&out.client).is_empty(), "{out:?}");
        let agent_id = if capabilities == json!({}) { "fresh" } else { "s1" };
        is_told(&mut desk, agent_id, "One");
        let all = [lines(&[TOLD]), vec!["> OneTwo".to_owned(), "Done".to_owned(), "> Three".to_owned()]].concat();
        assert_eq!(kept(&store, &world), all, "{capabilities}");
    }
}

#[test]
fn a_prompt_that_is_cancelled_behind_a_load_is_kept_whatever_becomes_of_that() {
    for capabilities in kinds() {
        for is_loaded in [true, false] {
            let (store, world) = (Memory::new(), World::unrecorded());
            told(&store, &world, &capabilities);
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let opening = ask_load(&mut desk, "load", "s1");
            ask_prompt(&mut desk, "one", "s1", "One");
            let out = cancel(&mut desk, "session/cancel");
            assert_eq!(out.answer("one")["result"], json!({"stopReason": "cancelled"}));
            if is_loaded {
                let out = oblige(&mut desk, opening, TOLD, "fresh");
                assert!(out.answer("load")["error"].is_null(), "{capabilities}");
                is_told(&mut desk, if capabilities == json!({}) { "fresh" } else { "s1" }, "One");
            } else {
                desk.client(json!({"method": "$/cancel_request", "params": {"requestId": "load"}})).answer("load");
            }
            let said = kept(&store, &world);
            assert!(said[TOLD.len() * 2].starts_with("> One"), "{capabilities} {is_loaded}: {said:?}");
        }
    }
}

#[test]
fn a_prompt_whose_client_or_agent_ends_for_good_is_kept() {
    for peer in [Peer::Client, Peer::Agent] {
        for waits_for in ["initialize", "attach", "load"] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let capabilities = json!({"loadSession": true});
            let mut desk = if waits_for == "load" {
                told(&store, &world, &capabilities);
                Desk::ready(&store, &world, &capabilities)
            } else {
                revived(&store, &world, &capabilities)
            };
            match waits_for {
                "initialize" => drop(desk.restart()),
                "load" => drop(ask_load(&mut desk, "load", "s1")),
                _ => {}
            }
            assert!(ask_prompt(&mut desk, "one", "s1", "One").is_open("one"));
            desk.engine.peer_closed(peer);
            let out = desk.pull();
            if peer == Peer::Agent {
                assert_eq!(out.answer("one")["error"]["code"], -32603, "{waits_for}");
            }
            assert_eq!(kept(&store, &world), and_then("One"), "{peer:?} {waits_for}");
        }
    }
}

#[test]
fn a_prompt_that_waits_for_an_agent_to_be_initialized_once_more_can_be_taken_back() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let mut desk = revived(&store, &world, &capabilities);
    let asked = desk.restart().request("initialize");
    ask_prompt(&mut desk, "one", "s1", "One");
    assert_eq!(cancel(&mut desk, "$/cancel_request").answer("one")["error"]["code"], -32800);
    assert_eq!(kept(&store, &world), lines(&[TOLD]));
    let profile = json!({"protocolVersion": 1, "agentCapabilities": capabilities});
    assert!(desk.reply(&asked, profile).asked("session/resume").is_none());
}

#[test]
fn a_prompt_whose_session_is_not_put_back_is_kept_and_told_later() {
    for capabilities in kinds() {
        for why in ["the agent ends again", "it wants a login", "it refuses to be initialized"] {
            let (store, world) = (Memory::new(), World::unrecorded());
            let mut desk = revived(&store, &world, &capabilities);
            let profile = json!({"protocolVersion": 1, "agentCapabilities": capabilities});
            let out = if why == "it refuses to be initialized" {
                let asked = desk.restart().request("initialize");
                ask_prompt(&mut desk, "one", "s1", "One");
                desk.refuse(&asked, -32000)
            } else {
                let out = ask_prompt(&mut desk, "one", "s1", "One");
                let asked = out.agent[0].clone();
                if why == "it wants a login" { desk.refuse(&asked, -32000) } else { desk.revive(&capabilities) }
            };
            assert!(out.answer("one")["error"]["code"].is_i64(), "{why}");
            assert_eq!(kept(&store, &world), and_then("One"), "{capabilities}, {why}");
            let out = ask_prompt(&mut desk, "two", "s1", "Two");
            let out = match out.asked("initialize").cloned() {
                Some(asked) => desk.reply(&asked, profile),
                None => out,
            };
            let out = oblige(&mut desk, out, TOLD, "fresh");
            let told = account(&out).unwrap_or_default();
            assert!(told.contains("User: One"), "{capabilities}, {why}: {told}");
        }
    }
}

#[test]
fn a_session_is_called_as_its_first_prompt_though_that_is_unheard() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let mut desk = Desk::ready(&store, &world, &capabilities);
    desk.new_session("s1", CWD);
    desk.revive(&capabilities);
    ask_prompt(&mut desk, "one", "s1", "The first thing");
    let out = cancel(&mut desk, "session/cancel");
    assert_eq!(updates(&out, "session_info_update")[0]["title"], "The first thing");
    assert_eq!(desk.ask("session/list", json!({}))["result"]["sessions"][0]["title"], "The first thing");
}

#[test]
fn other_windows_are_shown_it() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = revived(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("other"), &json!({}));
    load(&mut other, "s1", &[]);
    ask_prompt(&mut desk, "one", "s1", "One");
    cancel(&mut desk, "session/cancel");
    assert_eq!(said(&other.wait(2000).client), ["> One"]);
    let told = account_of(&mut other, "Go on").unwrap_or_default();
    assert!(told.contains("User: One"), "{told}");
}

#[test]
fn where_it_cannot_be_kept_its_client_is_told() {
    let (store, world) = (Faulty::default(), World::unrecorded());
    let mut desk = revived(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    ask_prompt(&mut desk, "one", "s1", "One");
    store.fail(0, 5, StorageError::Full);
    let out = cancel(&mut desk, "session/cancel");
    assert_eq!(out.answer("one")["result"]["_meta"]["acp-sessions"]["stored"], false, "{out:?}");
}

#[test]
fn what_is_no_prompt_is_not_kept() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let mut desk = revived(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    let params = json!({"sessionId": "s1", "prompt": "One"});
    desk.client(json!({"id": "one", "method": "session/prompt", "params": params}));
    assert_eq!(cancel(&mut desk, "session/cancel").answer("one")["result"]["stopReason"], "cancelled");
    assert_eq!(kept(&store, &world), lines(&[TOLD]));
}
