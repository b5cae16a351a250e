//! What an agent agrees to that its client had set just before it put the session away, or left.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::scenes::{CWD, ask_load, leave, oblige};

/// What a client sets, by its method: the params beside the session's id.
fn settings() -> [(&'static str, Value); 3] {
    [
        ("session/set_mode", json!({"modeId": "set"})),
        ("session/set_model", json!({"modelId": "set"})),
        ("session/set_config_option", json!({"configId": "effort", "value": "set"})),
    ]
}

/// What an agent gives of a session, with the first of everything in force.
fn given() -> Value {
    let all = |name: &str| ["first", "set"].map(|id| json!({ name: id, "name": id }));
    let effort =
        json!({"id": "effort", "name": "effort", "type": "select", "currentValue": "first", "options": all("value")});
    json!({
        "modes": {"currentModeId": "first", "availableModes": all("id")},
        "models": {"currentModelId": "first", "availableModels": all("modelId")},
        "configOptions": [effort],
    })
}

fn closes() -> Value {
    json!({"loadSession": true, "sessionCapabilities": {"close": {}, "delete": {}}})
}

fn loads() -> Value {
    json!({"loadSession": true})
}

/// A session `s1` in which the client has just set this: what the agent is asked.
fn set<'a>(
    store: &'a Memory,
    world: &'a World,
    capabilities: &Value,
    (method, setting): &(&str, Value),
) -> (Desk<'a>, Value) {
    let mut desk = Desk::ready(store, world, capabilities);
    let params = json!({"cwd": CWD, "mcpServers": []});
    let asked = desk.client(json!({"id": "new", "method": "session/new", "params": params}));
    let mut answer = given();
    answer["sessionId"] = "s1".into();
    desk.reply(&asked.request("session/new"), answer);
    desk.turn("s1", "Hi", &["Ho"]);
    let mut params = setting.clone();
    params["sessionId"] = "s1".into();
    let asked = desk.client(json!({"id": "set", "method": method, "params": params})).request(method);
    (desk, asked)
}

fn put_away(desk: &mut Desk<'_>, method: &str) -> Out {
    desk.client(json!({"id": "away", "method": method, "params": {"sessionId": "s1"}}))
}

/// The requests that were answered, in this order.
fn answered(out: &Out) -> Vec<&str> {
    let answers = out.client.iter().filter(|message| message.get("method").is_none());
    answers.map(|answer| answer["id"].as_str().unwrap()).collect()
}

/// What the agent is asked to put back when the session is opened by another connection.
fn put_back(store: &Memory, world: &World) -> Vec<(String, Value)> {
    let mut desk = Desk::ready(store, world, &loads());
    let asked = ask_load(&mut desk, "load", "s1").request("session/load");
    let out = desk.reply(&asked, given());
    let put_back = asked_to_set(&out);
    oblige(&mut desk, out, &[], "never").answer("load");
    leave(desk);
    put_back
}

fn asked_to_set(out: &Out) -> Vec<(String, Value)> {
    let asked = out.agent.iter().filter(|asked| asked["method"].as_str().is_some_and(|name| name.contains("/set_")));
    let without_id = |params: &Value| {
        let mut params = params.clone();
        params.as_object_mut().unwrap().remove("sessionId");
        params
    };
    asked.map(|asked| (asked["method"].as_str().unwrap().to_owned(), without_id(&asked["params"]))).collect()
}

#[test]
fn what_was_set_before_a_session_is_put_away_comes_back_though_the_agent_agrees_to_it_later() {
    for capabilities in [loads(), closes()] {
        for method in ["session/close", "session/archive"] {
            for setting in settings() {
                let case = format!("{setting:?} {method} {capabilities}");
                let (store, world) = (Memory::new(), World::unrecorded());
                let (mut desk, asked) = set(&store, &world, &capabilities, &setting);
                let mut all = put_away(&mut desk, method);
                all.extend(desk.reply(&asked, json!({})));
                if let Some(close) = all.asked("session/close").cloned() {
                    all.extend(desk.reply(&close, json!({})));
                }
                assert_eq!(answered(&all), ["set", "away"], "{case}");
                leave(desk);
                assert_eq!(put_back(&store, &world), [(setting.0.to_owned(), setting.1.clone())], "{case}");
            }
        }
    }
}

#[test]
fn what_the_agent_refuses_keeps_no_session_from_being_closed() {
    for capabilities in [loads(), closes()] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut desk, asked) = set(&store, &world, &capabilities, &settings()[0]);
        let mut all = put_away(&mut desk, "session/close");
        all.extend(desk.refuse(&asked, -32602));
        if let Some(close) = all.asked("session/close").cloned() {
            all.extend(desk.reply(&close, json!({})));
        }
        assert_eq!(answered(&all), ["set", "away"], "{capabilities}");
        leave(desk);
        assert_eq!(put_back(&store, &world), [], "{capabilities}");
    }
}

#[test]
fn what_was_set_before_its_client_leaves_comes_back() {
    for setting in settings() {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut desk, asked) = set(&store, &world, &loads(), &setting);
        desk.engine.peer_closed(Peer::Client);
        desk.pull();
        desk.reply(&asked, json!({}));
        assert_eq!(put_back(&store, &world), [(setting.0.to_owned(), setting.1.clone())]);
    }
}

#[test]
fn an_agent_that_does_not_answer_is_not_waited_for_and_counts_when_it_does() {
    for setting in settings() {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut desk, asked) = set(&store, &world, &closes(), &setting);
        assert!(put_away(&mut desk, "session/close").is_open("away"));
        desk.wait_awake(600_000).answer("away");
        desk.reply(&asked, json!({})).answer("set");
        leave(desk);
        assert_eq!(put_back(&store, &world), [(setting.0.to_owned(), setting.1.clone())]);
    }
}

#[test]
fn what_is_agreed_to_late_counts_though_the_load_that_was_begun_meanwhile_fails() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let setting = &settings()[0];
    let (mut desk, asked) = set(&store, &world, &loads(), setting);
    put_away(&mut desk, "session/close");
    desk.wait_awake(600_000).answer("away");
    let load = ask_load(&mut desk, "load", "s1").request("session/load");
    desk.reply(&asked, json!({})).answer("set");
    let out = desk.refuse(&load, -32000);
    assert_eq!(out.answer("load")["error"]["code"], -32000);
    leave(desk);
    assert_eq!(put_back(&store, &world), [(setting.0.to_owned(), setting.1.clone())]);
}

#[test]
fn a_load_behind_the_close_puts_back_what_was_set_before_it() {
    for capabilities in [loads(), closes()] {
        for setting in settings() {
            let (store, world) = (Memory::new(), World::unrecorded());
            let (mut desk, asked) = set(&store, &world, &capabilities, &setting);
            let mut all = put_away(&mut desk, "session/close");
            all.extend(ask_load(&mut desk, "load", "s1"));
            all.extend(desk.reply(&asked, json!({})));
            if let Some(close) = all.asked("session/close").cloned() {
                all.extend(desk.reply(&close, json!({})));
            }
            let out = desk.reply(&all.request("session/load"), given());
            assert_eq!(asked_to_set(&out), [(setting.0.to_owned(), setting.1.clone())], "{capabilities}");
            oblige(&mut desk, out, &[], "never").answer("load");
        }
    }
}

#[test]
fn a_delete_does_not_wait_for_what_was_set_and_keeps_nothing_of_it() {
    for is_closed_first in [false, true] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let (mut desk, asked) = set(&store, &world, &loads(), &settings()[0]);
        let mut all = Out::default();
        if is_closed_first {
            let params = json!({"sessionId": "s1"});
            all.extend(desk.client(json!({"id": "close", "method": "session/close", "params": params})));
            assert!(all.is_open("close"));
        }
        all.extend(put_away(&mut desk, "session/delete"));
        assert_eq!(all.answer("away")["result"], json!({}));
        let counts = store.counts();
        desk.reply(&asked, json!({})).answer("set");
        assert_eq!(store.counts(), counts);
        leave(desk);
    }
}

#[test]
fn what_an_agent_agrees_to_before_it_forks_holds_for_the_fork() {
    let (method, setting) = &settings()[0];
    let (store, world) = (Memory::new(), World::unrecorded());
    let forks = json!({"sessionCapabilities": {"fork": {}}});
    let (mut desk, asked) = set(&store, &world, &forks, &(*method, setting.clone()));
    let fork = desk.client(json!({"id": "fork", "method": "session/fork", "params": {"sessionId": "s1", "cwd": CWD}}));
    let fork = fork.request("session/fork");
    desk.reply(&asked, json!({}));
    let mut answer = given();
    answer["sessionId"] = "f1".into();
    answer["modes"]["currentModeId"] = "set".into();
    let out = desk.reply(&fork, answer);
    assert!(out.agent.iter().all(|asked| asked["method"] != *method), "{:?}", out.agent);
    assert_eq!(out.answer("fork")["result"]["modes"]["currentModeId"], "set");
}
