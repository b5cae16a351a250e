//! An agent that was started again: its sessions are attached as they are used, and the conversation goes on in them.

use acp_sessions_guest::storage::{Memory, StorageError};
use serde_json::{Value, json};

use crate::desk::{Desk, Faulty, Out, World, chunk, update};
use crate::scenes::{
    CWD, TOLD, account, ask_fork, ask_load, ask_prompt, ask_resume, begun, lines, listing, load, mark, oblige, replay,
    revived, row, said, told, updates,
};

fn resumes() -> Value {
    json!({"sessionCapabilities": {"resume": {}}})
}

fn loads() -> Value {
    json!({"loadSession": true})
}

/// A prompt to such a session, and all that follows from it.
fn goes_on(desk: &mut Desk<'_>, session: &str, text: &str) -> Out {
    let out = ask_prompt(desk, "next", session, text);
    let out = oblige(desk, out, TOLD, "fresh");
    assert_eq!(out.answer("next")["result"]["stopReason"], "end_turn");
    out
}

/// What the client has said and heard, as it is loaded later.
fn kept(store: &Memory, world: &World) -> Vec<String> {
    let mut desk = Desk::ready(store, world, &json!({}));
    said(&load(&mut desk, "s1", &[]).client)
}

#[test]
fn a_session_is_resumed_with_all_that_it_was_opened_with() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &resumes());
    let servers = json!([{"name": "m", "command": "/m", "args": [], "env": [{"name": "KEY", "value": "secret"}]}]);
    let params = json!({"cwd": CWD, "mcpServers": servers, "additionalDirectories": ["/more"], "_meta": {"x": 1}});
    desk.client(json!({"id": "new", "method": "session/new", "params": params}));
    let modes =
        json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "A"}, {"id": "code", "name": "C"}]});
    let options = json!([{"id": "o", "name": "O", "type": "select", "currentValue": "a", "options": []}]);
    let opened = json!({"modes": modes, "configOptions": options});
    let mut answer = opened.clone();
    answer["sessionId"] = "s1".into();
    desk.agent(json!({"id": "new", "result": answer}));
    let mode = json!({"sessionId": "s1", "modeId": "code"});
    let out = desk.client(json!({"id": "mode", "method": "session/set_mode", "params": mode}));
    desk.reply(&out.request("session/set_mode"), json!({}));
    let mut chosen = options.clone();
    chosen[0]["currentValue"] = "b".into();
    let option = json!({"sessionId": "s1", "configId": "o", "value": "b"});
    let out = desk.client(json!({"id": "option", "method": "session/set_config_option", "params": option}));
    desk.reply(&out.request("session/set_config_option"), json!({"configOptions": chosen}));
    desk.revive(&resumes());

    let out = ask_prompt(&mut desk, "next", "s1", "On");
    let resume = out.request("session/resume");
    let mut expected = params.clone();
    expected["sessionId"] = "s1".into();
    assert_eq!(resume["params"], expected);
    assert_eq!(out.agent.len(), 1, "the prompt waits");
    let out = desk.reply(&resume, opened);
    assert_eq!(out.request("session/set_mode")["params"]["modeId"], "code");
    assert_eq!(out.request("session/set_config_option")["params"]["value"], "b");
    desk.reply(&out.request("session/set_mode"), json!({}));
    let out = desk.reply(&out.request("session/set_config_option"), json!({"configOptions": chosen}));
    out.request("session/prompt");
    assert!(out.client.is_empty(), "all is as the client knows it: {:?}", out.client);
    assert!(!format!("{store:?}").contains("secret"), "it is nowhere in the store");
}

#[test]
fn what_cannot_be_put_back_is_told() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &resumes());
    desk.new_session("s1", CWD);
    let mode = json!({"sessionId": "s1", "modeId": "code"});
    let out = desk.client(json!({"id": "mode", "method": "session/set_mode", "params": mode}));
    desk.reply(&out.request("session/set_mode"), json!({}));
    desk.revive(&resumes());
    let out = ask_prompt(&mut desk, "next", "s1", "On");
    let modes =
        json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "A"}, {"id": "code", "name": "C"}]});
    let options = json!([{"id": "new", "name": "N", "type": "select", "currentValue": "a", "options": []}]);
    let out = desk.reply(&out.request("session/resume"), json!({"modes": modes, "configOptions": options}));
    let out = desk.refuse(&out.request("session/set_mode"), -32603);
    assert_eq!(updates(&out, "current_mode_update")[0]["currentModeId"], "ask");
    assert_eq!(updates(&out, "config_option_update")[0]["configOptions"], options);
    out.request("session/prompt");
}

#[test]
fn a_session_is_loaded_and_its_replay_is_not_shown() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = revived(&store, &world, &loads());
    let out = goes_on(&mut desk, "s1", "On");
    assert_eq!(out.request("session/load")["params"]["mcpServers"], json!([]));
    assert!(said(&out.client).is_empty(), "{:?}", out.client);
    assert!(account(&out).is_none(), "it knows all");
    let mut all = lines(&[TOLD]);
    all.push("> On".to_owned());
    assert_eq!(kept(&store, &world), all);
}

#[test]
fn what_the_agent_has_kept_of_the_turn_that_was_cut_off_is_there_once() {
    for has_kept in
        [&[][..], &[("Third question", "")], &[("Third question", "Third")], &[("Third question", "Third answer")]]
    {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = begun(&store, &world, &loads(), TOLD);
        ask_prompt(&mut desk, "third", "s1", "Third question");
        desk.agent(update("s1", chunk("agent_message_chunk", "Third")));
        desk.revive(&loads());
        let out = ask_prompt(&mut desk, "next", "s1", "On");
        let asked = out.request("session/load");
        let turns = [TOLD, has_kept].concat();
        assert!(said(&replay(&mut desk, "s1", &turns).client).is_empty());
        let out = desk.reply(&asked, json!({}));
        assert!(said(&out.client).is_empty());
        let account = account(&out);
        let is_told = account.as_ref().is_some_and(|account| account.contains("Third question"));
        assert_eq!(is_told, has_kept.is_empty(), "it is told what it has not: {account:?}");
        desk.agent(crate::scenes::answers("next"));
        let kept = kept(&store, &world);
        let last = has_kept.first().map_or("Third", |(_, answer)| if answer.is_empty() { "Third" } else { answer });
        let expected =
            [lines(&[TOLD]), vec!["> Third question".to_owned(), last.to_owned(), "> On".to_owned()]].concat();
        assert_eq!(kept, expected, "{has_kept:?}");
    }
}

#[test]
fn what_the_store_has_not_taken_yet_is_not_doubled_by_what_the_agent_replays() {
    let (store, world) = (Faulty::default(), World::default());
    let mut desk = begun(&store, &world, &loads(), &[("Hello", "Hi")]);
    store.fail(0, 50, StorageError::Full);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    desk.agent(update("s1", chunk("agent_message_chunk", "Half")));
    desk.revive(&loads());
    let out = ask_prompt(&mut desk, "next", "s1", "On");
    let out = oblige(&mut desk, out, &[("Hello", "Hi"), ("Go", "Half")], "fresh");
    assert!(said(&out.client).is_empty(), "{:?}", out.client);
    assert_eq!(mark(&out, "next")["stored"], false);
    assert!(store.mend());
    desk.wait(60_000);
    let mut other = Desk::ready(&store, &world, &json!({}));
    let kept = said(&load(&mut other, "s1", &[]).client);
    assert_eq!(kept, ["> Hello", "Hi", "> Go", "Half", "> On"]);
}

#[test]
fn what_the_store_has_not_taken_yet_of_an_agents_own_session_is_not_doubled_either() {
    for is_loaded in [true, false] {
        let (store, world) = (Faulty::default(), World::default());
        let mut desk = listing(&store, &world, "a", &loads(), &[row("o1", "Old", "2025-01-01T00:00:00Z")]);
        // Its history stays with the agent.
        let out = ask_resume(&mut desk, "resume", "o1");
        oblige(&mut desk, out, TOLD, "fresh").answer("resume");
        store.fail(0, usize::MAX, StorageError::Full);
        ask_prompt(&mut desk, "turn", "o1", "Go");
        for _ in 0..100 {
            // The store is asked less and less often.
            desk.wait(1000);
        }
        desk.agent(update("o1", chunk("agent_message_chunk", "Half")));
        desk.revive(&loads());
        let all = [TOLD, &[("Go", "Half")]].concat();
        let ask = |desk: &mut Desk<'_, Faulty>| {
            let out = if is_loaded { ask_load(desk, "on", "o1") } else { ask_prompt(desk, "on", "o1", "On") };
            oblige(desk, out, &all, "fresh")
        };
        assert!(ask(&mut desk).answer("on")["error"].is_object(), "the store takes nothing");
        assert!(store.mend());
        assert!(ask(&mut desk).answer("on")["error"].is_null());
        desk.wait(60_000);
        let mut other = listing(&store, &world, "b", &json!({}), &[]);
        let mut expected = lines(&[&all]);
        expected.extend((!is_loaded).then(|| "> On".to_owned()));
        assert_eq!(said(&load(&mut other, "o1", &[]).client), expected);
    }
}

#[test]
fn an_agent_that_keeps_nothing_is_told_what_was_said() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = revived(&store, &world, &json!({}));
    let out = goes_on(&mut desk, "s1", "On");
    assert_eq!(out.request("session/new")["params"], json!({"cwd": CWD, "mcpServers": []}));
    let account = account(&out).unwrap();
    assert!(account.contains("First question") && account.contains("Second answer"), "{account}");
    // It goes by the id that the client knows.
    desk.agent(update("fresh", chunk("agent_message_chunk", "Still here")));
    let mut all = lines(&[TOLD]);
    all.extend(["> On".to_owned(), "Still here".to_owned()]);
    desk.wait(500);
    assert_eq!(kept(&store, &world), all);
}

#[test]
fn whatever_is_asked_of_a_session_attaches_it_once() {
    for (method, params) in [
        ("session/set_mode", json!({"sessionId": "s1", "modeId": "code"})),
        ("session/set_model", json!({"sessionId": "s1", "modelId": "large"})),
        ("session/set_config_option", json!({"sessionId": "s1", "configId": "o", "value": "b"})),
        ("_x/y", json!({"sessionId": "s1"})),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = revived(&store, &world, &resumes());
        let mut out = desk.client(json!({"id": "first", "method": method, "params": params}));
        out.extend(ask_prompt(&mut desk, "next", "s1", "On"));
        let out = oblige(&mut desk, out, &[], "fresh");
        assert_eq!(out.agent.iter().filter(|message| message["method"] == "session/resume").count(), 1);
        assert_eq!(out.answer("first")["result"], json!({}), "{method}");
        assert_eq!(out.answer("next")["result"]["stopReason"], "end_turn");
    }
}

#[test]
fn what_needs_no_agent_attaches_nothing() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = revived(&store, &world, &json!({"sessionCapabilities": {"resume": {}, "close": {}}}));
    assert_eq!(desk.listed(), ["s1"]);
    assert_eq!(desk.ask("session/status", json!({"sessionId": "s1"}))["result"]["status"], "open");
    assert_eq!(desk.ask("session/set_title", json!({"sessionId": "s1", "title": "T"}))["result"]["title"], "T");
    assert!(desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}})).agent.is_empty());
    let out = desk.client(json!({"id": "close", "method": "session/close", "params": {"sessionId": "s1"}}));
    assert_eq!(out.answer("close")["result"], json!({}));
    assert!(out.agent.is_empty(), "it is open there no more: {:?}", out.agent);
    assert_eq!(desk.memos.keys().collect::<Vec<_>>(), ["again", "agent", "client"]);
}

#[test]
fn a_client_that_loads_it_again_is_shown_all() {
    for can in [resumes(), loads(), json!({})] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = revived(&store, &world, &can);
        let servers = json!([{"name": "other", "command": "/o", "args": [], "env": []}]);
        let params = json!({"sessionId": "s1", "cwd": CWD, "mcpServers": servers});
        let out = desk.client(json!({"id": "load", "method": "session/load", "params": params}));
        assert_eq!(out.agent[0]["params"]["mcpServers"], servers);
        let out = oblige(&mut desk, out, TOLD, "fresh");
        assert_eq!(said(&out.client), lines(&[TOLD]));
        assert_ne!(mark(&out, "load")["attached"], "live");
        // From now on it is opened so.
        desk.revive(&can);
        assert_eq!(ask_prompt(&mut desk, "next", "s1", "On").agent[0]["params"]["mcpServers"], servers);
    }
}

#[test]
fn where_it_cannot_be_attached_the_prompt_fails_and_the_next_one_tries_again() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = revived(&store, &world, &resumes());
    let out = ask_prompt(&mut desk, "one", "s1", "One");
    // It wants its user logged in: nothing is kept that could do that.
    let out = desk.refuse(&out.request("session/resume"), -32000);
    assert_eq!(out.answer("one")["error"]["code"], -32000);
    assert!(out.agent.is_empty());
    let out = desk.client(json!({"id": "login", "method": "authenticate", "params": {"methodId": "m"}}));
    desk.reply(&out.request("authenticate"), json!({}));
    goes_on(&mut desk, "s1", "Two");
    let mut all = lines(&[TOLD]);
    // What the user has said is kept, as where the agent itself refuses a prompt.
    all.push("> OneTwo".to_owned());
    assert_eq!(kept(&store, &world), all);
}

#[test]
fn a_cancelled_prompt_that_waits_for_it_is_never_seen() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = revived(&store, &world, &resumes());
    let out = ask_prompt(&mut desk, "one", "s1", "One");
    let cancelled = desk.client(json!({"method": "session/cancel", "params": {"sessionId": "s1"}}));
    assert_eq!(cancelled.answer("one")["result"]["stopReason"], "cancelled");
    assert!(desk.reply(&out.request("session/resume"), json!({})).agent.is_empty());
    ask_prompt(&mut desk, "two", "s1", "Two").request("session/prompt");
}

#[test]
fn an_id_that_the_new_one_hands_out_again_is_another_sessions() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = revived(&store, &world, &json!({}));
    let other = desk.new_session("s1", CWD);
    assert_ne!(other, "s1");
    desk.turn(&other, "Other question", &["Other answer"]);
    let out = ask_prompt(&mut desk, "next", "s1", "On");
    let out = desk.reply(&out.request("session/new"), json!({"sessionId": "s2"}));
    assert!(!account(&out).unwrap().contains("Other"));
    let out = desk.agent(update("s2", chunk("agent_message_chunk", "First session")));
    assert_eq!(out.client[0]["params"]["sessionId"], "s1");
    desk.agent(crate::scenes::answers("next"));
    let mut all = lines(&[TOLD]);
    all.extend(["> On".to_owned(), "First session".to_owned()]);
    assert_eq!(kept(&store, &world), all);
}

#[test]
fn each_session_is_attached_by_itself() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &resumes());
    for id in ["s1", "s2"] {
        desk.new_session(id, CWD);
        desk.turn(id, "Hello", &["Hi"]);
    }
    desk.revive(&resumes());
    let first = ask_prompt(&mut desk, "one", "s1", "One").request("session/resume");
    let second = ask_prompt(&mut desk, "two", "s2", "Two").request("session/resume");
    assert_eq!(desk.reply(&second, json!({})).request("session/prompt")["params"]["sessionId"], "s2");
    assert_eq!(desk.reply(&first, json!({})).request("session/prompt")["params"]["sessionId"], "s1");
}

#[test]
fn a_session_is_forked_though_it_is_not_attached() {
    for can in [json!({"sessionCapabilities": {"resume": {}, "fork": {}}}), json!({})] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = revived(&store, &world, &can);
        let out = ask_fork(&mut desk, "s1");
        assert!(out.asked("session/resume").is_none());
        let out = oblige(&mut desk, out, &[], "f1");
        let fork = out.answer("fork")["result"]["sessionId"].as_str().unwrap().to_owned();
        assert_eq!(said(&load(&mut desk, &fork, &[]).client), lines(&[TOLD]));
        goes_on(&mut desk, "s1", "On");
    }
}

#[test]
fn a_session_that_was_loaded_is_attached_as_it_was_loaded() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world, &loads());
    let mut desk = Desk::ready(&store, &world, &loads());
    let out = ask_load(&mut desk, "load", &id);
    oblige(&mut desk, out, TOLD, "fresh");
    let again = desk.revive(&loads());
    assert!(again.client.is_empty());
    let out = goes_on(&mut desk, &id, "On");
    assert!(said(&out.client).is_empty());
}

#[test]
fn a_session_that_was_opened_with_more_than_is_remembered_is_to_be_loaded() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &resumes());
    let params = json!({"cwd": CWD, "mcpServers": [], "_meta": {"x": "x".repeat(300_000)}});
    desk.client(json!({"id": "new", "method": "session/new", "params": params}));
    desk.agent(json!({"id": "new", "result": {"sessionId": "s1"}}));
    desk.turn("s1", "Hello", &["Hi"]);
    desk.revive(&resumes());
    let error = ask_prompt(&mut desk, "next", "s1", "On").answer("next")["error"].clone();
    assert_eq!(error["code"], -32002);
    assert!(error["message"].as_str().unwrap().contains("load or resume it first"), "{error}");
    assert_eq!(said(&load(&mut desk, "s1", &[]).client), ["> Hello", "Hi"]);
    ask_prompt(&mut desk, "then", "s1", "On").request("session/prompt");
}
