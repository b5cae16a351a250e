//! The life of a session in front of agents of every kind.

use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, text_of, update};

const CWD: &str = "/home/x";

fn load(desk: &mut Desk<'_>, id: &str) -> crate::desk::Out {
    desk.client(json!({"id": "load", "method": "session/load", "params": {"sessionId": id, "cwd": CWD, "mcpServers": [{"name": "m", "command": "/m", "args": [], "env": []}]}}))
}

/// A store with one session of two turns.
fn told<'a>(store: &'a Memory, world: &'a World) -> String {
    let mut desk = Desk::ready(store, world, &json!({}));
    let id = desk.new_session("s1", CWD);
    let out = desk.turn(&id, "First question", &["First ", "answer"]);
    assert!(out.client.iter().any(|message| message["params"]["update"]["title"] == "First question"));
    desk.turn(&id, "Second question", &["Second answer"]);
    desk.engine.peer_closed(acp_sessions_guest::engine::Peer::Client);
    id
}

#[test]
fn the_layer_adds_its_capabilities_and_keeps_the_agents() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let result = desk.initialize(&json!({"promptCapabilities": {"image": true}, "custom": {"x": 1}, "sessionCapabilities": {"additionalDirectories": {}}}));
    let capabilities = &result["agentCapabilities"];
    assert_eq!(capabilities["loadSession"], true);
    assert!(capabilities["sessionCapabilities"]["list"].is_object());
    for marker in ["delete", "resume", "close", "fork", "additionalDirectories"] {
        assert_eq!(capabilities["sessionCapabilities"][marker], json!({}), "{marker}");
    }
    assert_eq!(capabilities["promptCapabilities"]["image"], true);
    assert_eq!(capabilities["custom"]["x"], 1);
}

#[test]
fn an_agent_that_keeps_nothing_is_told_what_was_said() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = load(&mut desk, &id);
    assert_eq!(out.agent[0]["method"], "session/new");
    assert_eq!(out.agent[0]["params"]["mcpServers"][0]["name"], "m");
    let texts = (text_of(&out.client, "user_message_chunk"), text_of(&out.client, "agent_message_chunk"));
    assert_eq!(texts, ("First questionSecond question".into(), "First answerSecond answer".into()));
    assert!(out.client.iter().all(|message| message.get("id").is_none()), "answered before the agent was ready");
    let asked = out.agent[0]["id"].clone();
    let out = desk.agent(json!({"id": asked, "result": {"sessionId": "s2"}}));
    assert_eq!(out.client.last().unwrap()["result"]["_meta"]["acp-sessions"]["attached"], "new");
    let out = desk.client(json!({"id": 9, "method": "session/prompt", "params": {"sessionId": id, "prompt": [{"type": "text", "text": "Third"}]}}));
    let prompt = out.agent[0]["params"]["prompt"].as_array().unwrap();
    assert_eq!(out.agent[0]["params"]["sessionId"], "s2");
    assert_eq!(prompt[0]["_meta"]["acp-sessions"]["rehydrated"], true);
    let digest = prompt[0]["text"].as_str().unwrap();
    assert!(digest.contains("User: First question\n\nAssistant: First answer"), "{digest}");
    assert_eq!(prompt[1]["text"], "Third");
    let echoed = desk.agent(update("s2", json!({"sessionUpdate": "user_message_chunk", "content": prompt[0]})));
    assert!(echoed.client.is_empty(), "an agent that repeats what it was told is not heard");
    desk.agent(json!({"id": 9, "result": {"stopReason": "end_turn"}}));
    // Neither recorded nor told twice.
    let out = load(&mut desk, &id);
    assert_eq!(text_of(&out.client, "user_message_chunk"), "First questionSecond questionThird");
    let out = desk.turn(&id, "Fourth", &[]);
    assert_eq!(out.agent[0]["params"]["prompt"].as_array().unwrap().len(), 1);
}

#[test]
fn the_agents_own_replay_is_dropped_and_never_recorded() {
    for (capabilities, expected) in [
        (json!({"loadSession": true}), "session/load"),
        (json!({"loadSession": true, "sessionCapabilities": {"resume": {}}}), "session/load"),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let id = told(&store, &world);
        for _ in 0..2 {
            let mut desk = Desk::ready(&store, &world, &capabilities);
            let mut client = load(&mut desk, &id);
            assert_eq!(client.agent[0]["method"], expected);
            assert_eq!(client.agent[0]["params"]["sessionId"], "s1");
            let asked = client.agent[0]["id"].clone();
            client.client.extend(desk.agent(update("s1", chunk("agent_message_chunk", "REPLAYED"))).client);
            client.client.extend(desk.agent(json!({"id": asked, "result": {}})).client);
            assert_eq!(text_of(&client.client, "agent_message_chunk"), "First answerSecond answer");
            assert_eq!(client.client.iter().filter(|message| message["id"] == "load").count(), 1);
            assert_eq!(client.client.last().unwrap()["id"], "load");
            desk.engine.peer_closed(acp_sessions_guest::engine::Peer::Client);
        }
    }
}

#[test]
fn an_agent_that_forgot_falls_back_and_says_so() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world);
    let mut desk = Desk::ready(&store, &world, &json!({"loadSession": true, "sessionCapabilities": {"resume": {}}}));
    let mut out = load(&mut desk, &id);
    for (method, answer) in [
        // Without a list of its own an agent is asked to tell what it has: the session may have moved on.
        ("session/load", json!({"error": {"code": -32002, "message": "gone"}})),
        ("session/resume", json!({"error": {"code": -32002, "message": "gone too"}})),
        ("session/new", json!({"result": {"sessionId": "s9"}})),
    ] {
        assert_eq!(out.agent[0]["method"], method);
        let mut answer = answer;
        answer["id"] = out.agent[0]["id"].clone();
        out = desk.agent(answer);
    }
    let mark = &out.client.last().unwrap()["result"]["_meta"]["acp-sessions"];
    assert_eq!((mark["attached"].as_str(), mark["reason"].as_str()), (Some("new"), Some("gone too")));
}

#[test]
fn a_prompt_behind_a_load_waits_for_it() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world);
    let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"resume": {}}}));
    let asked = load(&mut desk, &id).agent[0]["id"].clone();
    let out = desk.client(json!({"id": 5, "method": "session/prompt", "params": {"sessionId": id, "prompt": []}}));
    assert!(out.agent.is_empty());
    let out = desk.agent(json!({"id": asked, "result": {}}));
    assert_eq!(out.agent[0]["method"], "session/prompt");
    let out = desk.agent(json!({"id": 5, "result": {"stopReason": "end_turn"}}));
    assert_eq!(out.client[0]["result"]["stopReason"], "end_turn");
}

#[test]
fn mode_and_options_are_put_back() {
    let (store, world) = (Memory::new(), World::default());
    let modes = json!({"currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "code", "name": "Code"}]});
    let options =
        |value: &str| json!([{"id": "m", "name": "M", "type": "select", "currentValue": value, "options": []}]);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    desk.client(json!({"id": 1, "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
    desk.agent(json!({"id": 1, "result": {"sessionId": "s1", "modes": modes, "configOptions": options("a")}}));
    desk.turn("s1", "Hi", &["Ho"]);
    desk.client(json!({"id": 2, "method": "session/set_mode", "params": {"sessionId": "s1", "modeId": "code"}}));
    desk.agent(json!({"id": 2, "result": {}}));
    desk.client(json!({"id": 3, "method": "session/set_config_option", "params": {"sessionId": "s1", "configId": "m", "value": "b"}}));
    desk.agent(json!({"id": 3, "result": {"configOptions": options("b")}}));

    let mut desk = Desk::ready(&store, &world, &json!({}));
    let asked = load(&mut desk, "s1").agent[0]["id"].clone();
    let out =
        desk.agent(json!({"id": asked, "result": {"sessionId": "s2", "modes": modes, "configOptions": options("a")}}));
    let put_back: Vec<_> = out
        .agent
        .iter()
        .map(|message| (message["method"].as_str().unwrap(), message["params"]["sessionId"].as_str().unwrap()))
        .collect();
    assert_eq!(put_back, [("session/set_mode", "s2"), ("session/set_config_option", "s2")]);
    assert!(out.client.is_empty(), "answered before the mode was back");
    desk.agent(json!({"id": out.agent[0]["id"], "result": {}}));
    let out = desk.agent(json!({"id": out.agent[1]["id"], "result": {"configOptions": options("b")}}));
    let result = &out.client.last().unwrap()["result"];
    assert_eq!(result["modes"]["currentModeId"], "code");
    assert_eq!(result["configOptions"][0]["currentValue"], "b");
}

#[test]
fn a_fork_has_the_history_and_goes_its_own_way() {
    let (store, world) = (Memory::new(), World::default());
    let id = told(&store, &world);
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let out = desk.client(json!({"id": 1, "method": "session/fork", "params": {"sessionId": id, "cwd": CWD}}));
    assert_eq!(desk.listed(), [id.as_str()]);
    let out = desk.agent(json!({"id": out.agent[0]["id"], "result": {"sessionId": "f1"}}));
    let fork = out.client[0]["result"]["sessionId"].as_str().unwrap().to_owned();
    assert_eq!(desk.listed().len(), 2);
    let out = desk.turn(&fork, "Only in the fork", &["Yes"]);
    assert!(out.agent[0]["params"]["prompt"][0]["text"].as_str().unwrap().contains("First answer"));
    desk.ask("session/delete", json!({"sessionId": id}));
    let out = load(&mut desk, &fork);
    assert_eq!(text_of(&out.client, "user_message_chunk"), "First questionSecond questionOnly in the fork");
    desk.ask("session/delete", json!({"sessionId": fork}));
    desk.wait(1000);
    let (_, entries, _) = store.counts();
    assert_eq!((desk.listed().len(), entries), (0, 0), "what nobody needs any more is gone");
}

#[test]
fn an_active_session_is_cancelled_and_closed_before_it_is_deleted() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"close": {}, "delete": {}}}));
    let id = desk.new_session("s1", CWD);
    desk.client(json!({"id": 1, "method": "session/prompt", "params": {"sessionId": id, "prompt": []}}));
    let out = desk.client(json!({"id": 2, "method": "session/delete", "params": {"sessionId": id}}));
    assert_eq!(out.agent[0]["method"], "session/cancel");
    assert!(out.client.is_empty());
    let out = desk.agent(json!({"id": 1, "error": {"code": -32603, "message": "aborted"}}));
    assert_eq!(out.client[0]["result"]["stopReason"], "cancelled");
    assert_eq!(out.agent[0]["method"], "session/close");
    let out = desk.agent(json!({"id": out.agent[0]["id"], "result": {}}));
    assert_eq!(out.client[0]["id"], 2);
    assert_eq!(out.agent[0]["method"], "session/delete");
    assert!(desk.listed().is_empty());
    assert!(desk.agent(update("s1", chunk("agent_message_chunk", "late"))).client.is_empty());
    assert_eq!(
        desk.ask("session/load", json!({"sessionId": id, "cwd": CWD, "mcpServers": []}))["error"]["code"],
        -32002
    );
    assert_eq!(desk.ask("session/delete", json!({"sessionId": id}))["result"], json!({}));
}

#[test]
fn the_agents_own_sessions_are_listed_loaded_once_and_stay_deleted() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"list": {}}});
    let discover = |desk: &mut Desk<'_>| {
        desk.client(json!({"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}));
        let result = json!({"protocolVersion": 1, "agentInfo": {"name": "a", "version": "1"}, "agentCapabilities": capabilities});
        let out = desk.agent(json!({"id": 0, "result": result}));
        let rows =
            |id: &str| json!([{"sessionId": id, "cwd": CWD, "title": "Old", "updatedAt": "2025-01-01T00:00:00Z"}]);
        let out = desk.agent(json!({"id": out.agent[0]["id"], "result": {"sessions": rows("o1"), "nextCursor": "2"}}));
        assert_eq!(out.agent[0]["params"]["cursor"], "2");
        desk.agent(json!({"id": out.agent[0]["id"], "result": {"sessions": rows("o2")}}));
    };
    let mut desk = Desk::open(&store, &world, &[]);
    discover(&mut desk);
    assert_eq!(desk.listed(), ["o2", "o1"]);
    let asked = load(&mut desk, "o1").agent[0]["id"].clone();
    let out = desk.agent(update("o1", chunk("agent_message_chunk", "from the agent")));
    assert_eq!(text_of(&out.client, "agent_message_chunk"), "from the agent");
    let out = desk.agent(json!({"id": asked, "result": {}}));
    assert_eq!(out.client.last().unwrap()["id"], "load");
    desk.ask("session/delete", json!({"sessionId": "o2"}));

    let mut desk = Desk::open(&store, &world, &[]);
    discover(&mut desk);
    assert_eq!(desk.listed(), ["o1"], "deleted stays deleted");
    let out = load(&mut desk, "o1");
    assert_eq!(text_of(&out.client, "agent_message_chunk"), "from the agent", "now from the log");
}

#[test]
fn an_echoed_prompt_is_recorded_once_and_state_comes_back_once() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", CWD);
    desk.client(json!({"id": 1, "method": "session/prompt", "params": {"sessionId": id, "prompt": [{"type": "text", "text": "Say it"}]}}));
    let out = desk.agent(update("s1", chunk("user_message_chunk", "Say it")));
    assert_eq!(out.client.len(), 1, "the client still sees the echo");
    let plan = |text: &str| json!({"sessionUpdate": "plan", "entries": [{"content": text, "priority": "low", "status": "pending"}]});
    for update_of in [plan("a"), plan("b"), json!({"sessionUpdate": "usage_update", "used": 1, "size": 2})] {
        desk.agent(update("s1", update_of));
    }
    desk.agent(json!({"id": 1, "result": {"stopReason": "end_turn"}}));
    let out = load(&mut desk, &id);
    assert_eq!(text_of(&out.client, "user_message_chunk"), "Say it");
    let states: Vec<&Value> =
        out.client.iter().filter(|message| message["params"]["update"]["entries"].is_array()).collect();
    assert_eq!(states.len(), 1);
    assert_eq!(states[0]["params"]["update"]["entries"][0]["content"], "b");
}

#[test]
fn an_id_that_is_taken_is_mapped() {
    let (store, world) = (Memory::new(), World::default());
    let mut first = Desk::ready(&store, &world, &json!({}));
    assert_eq!(first.new_session("1", CWD), "1");
    let mut second = Desk::ready(&store, &world, &json!({}));
    let id = second.new_session("1", CWD);
    assert_ne!(id, "1");
    let out = second.turn(&id, "Hello", &["there"]);
    assert_eq!(out.agent[0]["params"]["sessionId"], "1");
    assert!(
        out.client
            .iter()
            .filter(|message| message["method"] == "session/update")
            .all(|message| message["params"]["sessionId"] == *id)
    );
}
