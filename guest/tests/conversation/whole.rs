//! Requests reach the agent whole, and answers the client.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World};
use crate::scenes::{CWD, TOLD, ask_load, ask_prompt, ask_resume, listing, load, oblige, row, told};

fn lists() -> Value {
    json!({"sessionCapabilities": {"list": {}, "resume": {}}})
}

fn asked_lists(out: &Out) -> Vec<&Value> {
    out.agent.iter().filter(|message| message["method"] == "session/list").map(|asked| &asked["params"]).collect()
}

#[test]
fn what_a_list_says_in_its_metadata_reaches_the_agent() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let out = desk.greet(Some("a"), &lists());
    assert_eq!(asked_lists(&out), [&json!({})]);
    desk.reply(&out.request("session/list"), json!({"sessions": [row("o1", "Old", "2025-01-01T00:00:00Z")]}));
    desk.wait(0);
    let mut list = |meta: Value| {
        let out = desk.client(json!({"id": "list", "method": "session/list", "params": {"_meta": meta}}));
        assert_eq!(out.answer("list")["result"]["sessions"][0]["sessionId"], "o1", "answered at once");
        let mut asked: Vec<Value> = asked_lists(&out).into_iter().cloned().collect();
        // A second page is asked for in the same way.
        if let Some(request) = out.asked("session/list").cloned() {
            let page = json!({"sessions": [row("o1", "Old", "2025-01-01T00:00:00Z")], "nextCursor": "2"});
            let out = desk.reply(&request, page);
            asked.extend(asked_lists(&out).into_iter().cloned());
            desk.reply(&out.request("session/list"), json!({"sessions": []}));
            desk.wait(0);
        }
        asked
    };
    let vendor = json!({"vendor.dev": {"worktrees": true}});
    let pages = |meta: &Value| vec![json!({ "_meta": meta }), json!({"cursor": "2", "_meta": meta})];
    assert_eq!(list(vendor.clone()), pages(&vendor));
    assert_eq!(list(vendor.clone()), [] as [Value; 0], "it has been asked so already");
    assert_eq!(list(json!({"acp-sessions": {"limit": 5}})), [] as [Value; 0], "this is for the layer alone");
    assert_eq!(list(json!({"traceparent": "00-1-1-00"})), [] as [Value; 0], "this asks for nothing else");
    let both = json!({"acp-sessions": {"limit": 5}, "vendor.dev": {"worktrees": false}, "traceparent": "00-2-2-00"});
    let passed = json!({"vendor.dev": {"worktrees": false}, "traceparent": "00-2-2-00"});
    assert_eq!(list(both), pages(&passed));
}

#[test]
fn what_a_list_says_while_the_agents_is_read_is_said_when_it_is_read_again() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let first = desk.greet(Some("a"), &lists()).request("session/list");
    let meta = json!({"vendor.dev": 1});
    let out = desk.client(json!({"id": "list", "method": "session/list", "params": {"_meta": meta}}));
    assert!(out.is_open("list") && out.agent.is_empty(), "the first list waits for the agent's");
    let mut out = desk.reply(&first, json!({"sessions": [row("o1", "Old", "2025-01-01T00:00:00Z")]}));
    out.extend(desk.wait(0));
    assert_eq!(out.answer("list")["result"]["sessions"][0]["sessionId"], "o1");
    assert_eq!(asked_lists(&out), [&json!({ "_meta": meta })]);
}

/// Clients list with these, one right after the other.
fn list_with(desk: &mut Desk<'_>, metas: &[&Value]) -> Out {
    let mut out = Out::default();
    for (nth, meta) in metas.iter().enumerate() {
        out.extend(desk.client(json!({"id": nth, "method": "session/list", "params": {"_meta": meta}})));
        assert!(!out.is_open(nth), "{meta}");
    }
    out
}

/// The agent answers what it is asked by its list, as often as it is; with what it was asked.
fn answer_lists(desk: &mut Desk<'_>, out: Out) -> Vec<Value> {
    let (mut asked, mut open) = (Vec::new(), out.agent);
    while let Some(request) = open.iter().find(|message| message["method"] == "session/list").cloned() {
        asked.push(request["params"]["_meta"].clone());
        let mut out = desk.reply(&request, json!({"sessions": [row("o1", "Old", "2025-01-01T00:00:00Z")]}));
        out.extend(desk.wait(0));
        open = out.agent;
    }
    asked
}

#[test]
fn all_that_lists_say_while_the_agents_is_read_is_said_to_it_one_after_the_other() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let rows = [row("o1", "Old", "2025-01-01T00:00:00Z")];
    let mut desk = listing(&store, &world, "a", &lists(), &rows);
    let metas: Vec<Value> = (0..40).map(|number| json!({ "vendor.dev": number })).collect();
    let [a, b, c] = [&metas[0], &metas[1], &metas[2]];
    let out = list_with(&mut desk, &[a, b, a, c, b]);
    assert_eq!(answer_lists(&mut desk, out), [a, b, c].map(Clone::clone), "equal ones are one while it is read");
    // Of very many the last ones count.
    let out = list_with(&mut desk, &metas.iter().collect::<Vec<_>>());
    let asked = answer_lists(&mut desk, out);
    assert_eq!((asked.len(), &asked[0], &asked[1..]), (17, a, &metas[24..]));
}

#[test]
fn what_a_list_says_once_more_is_said_to_the_agent_once_more_but_not_at_once() {
    let (store, world) = (Memory::new(), World::unrecorded());
    let rows = [row("o1", "Old", "2025-01-01T00:00:00Z")];
    let mut desk = listing(&store, &world, "a", &lists(), &rows);
    let (meta, other) = (json!({"vendor.dev": 1}), json!({"vendor.dev": 2}));
    let out = list_with(&mut desk, &[&meta]);
    assert_eq!(answer_lists(&mut desk, out), std::slice::from_ref(&meta));
    assert!(asked_lists(&list_with(&mut desk, &[&meta, &meta])).is_empty(), "the agent is left alone for a moment");
    let out = list_with(&mut desk, &[&other]);
    assert_eq!(answer_lists(&mut desk, out), [other], "another one does not wait for that");
    let out = desk.wait(1000);
    assert_eq!(answer_lists(&mut desk, out), [meta]);
    assert!(asked_lists(&desk.wait(30_000)).is_empty());
    // An agent that takes its time is left alone for longer.
    let out = list_with(&mut desk, &[&json!({})]);
    assert!(asked_lists(&out).is_empty());
    let meta = json!({"vendor.dev": 3});
    let asked = list_with(&mut desk, &[&meta]);
    desk.wait(200);
    answer_lists(&mut desk, asked);
    list_with(&mut desk, &[&meta]);
    assert!(asked_lists(&desk.wait(19_000)).is_empty());
    let out = desk.wait(1000);
    assert_eq!(answer_lists(&mut desk, out), [meta]);
}

#[test]
fn an_agent_that_refuses_to_list_so_is_known_as_before() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true, "sessionCapabilities": {"resume": {}}});
    let id = told(&store, &world, &capabilities);
    let listed = [row("s1", "First question", "2025-10-10T00:00:00Z")];
    world.now.set(2 * 86_400_000);
    let mut desk = listing(&store, &world, "a", &capabilities, &listed);
    load(&mut desk, &id, TOLD).answer("load");
    desk.engine.peer_closed(Peer::Client);
    for is_answered in [false, true] {
        let mut desk = listing(&store, &world, "a", &capabilities, &listed);
        let params = json!({"_meta": {"vendor.dev": 1}});
        let asked =
            desk.client(json!({"id": "list", "method": "session/list", "params": params})).request("session/list");
        if is_answered {
            desk.refuse(&asked, -32602);
        }
        // Its list has said that nothing was said elsewhere, so there is nothing to compare.
        let out = ask_load(&mut desk, "load", &id);
        assert!(out.asked("session/resume").is_some(), "answered: {is_answered}: {:?}", out.agent);
        desk.engine.peer_closed(Peer::Client);
    }
}

#[test]
fn an_option_may_have_a_value_of_any_type_and_it_is_put_back() {
    for (value, kind) in [
        (json!("b"), None),
        (json!(true), Some("boolean")),
        (json!(2.5), Some("number")),
        (json!({"x": [1]}), Some("_own")),
        (json!(["a", "b"]), Some("list")),
        (Value::Null, Some("choice")),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let option = |current: Value| {
            let mut option = json!({"id": "o", "name": "O", "currentValue": current, "options": []});
            option["type"] = kind.unwrap_or("select").into();
            json!([option])
        };
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
        desk.agent(json!({"id": "new", "result": {"sessionId": "s1", "configOptions": option(json!("before"))}}));
        let mut params = json!({"sessionId": "s1", "configId": "o", "value": value, "_meta": {"x": 1}});
        if let Some(kind) = kind {
            params["type"] = kind.into();
        }
        let out = desk.client(json!({"id": "set", "method": "session/set_config_option", "params": params}));
        let asked = out.request("session/set_config_option");
        assert_eq!(asked["params"], params);
        let out = desk.reply(&asked, json!({"configOptions": option(value.clone())}));
        assert!(out.answer("set")["error"].is_null());
        desk.turn("s1", "Hi", &["Ho"]);
        desk.engine.peer_closed(Peer::Client);

        let mut desk = Desk::ready(&store, &world, &json!({}));
        let new = ask_load(&mut desk, "load", "s1").request("session/new");
        let out = desk.reply(&new, json!({"sessionId": "s2", "configOptions": option(json!("before"))}));
        let mut expected = json!({"sessionId": "s2", "configId": "o", "value": value});
        if let Some(kind) = kind {
            expected["type"] = kind.into();
        }
        assert_eq!(out.request("session/set_config_option")["params"], expected);
    }
}

#[test]
fn servers_that_are_null_reach_the_agent_as_they_are() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let new = json!({"cwd": CWD, "mcpServers": null, "_meta": {"x": 1}});
    let out = desk.client(json!({"id": "new", "method": "session/new", "params": new}));
    assert_eq!(out.request("session/new")["params"], new);
    desk.agent(json!({"id": "new", "result": {"sessionId": "s1"}}));
    desk.turn("s1", "Hi", &["Ho"]);
    desk.engine.peer_closed(Peer::Client);
    for (method, capabilities) in [
        ("session/load", json!({"loadSession": true})),
        ("session/resume", json!({"sessionCapabilities": {"resume": {}}})),
        ("session/fork", json!({"sessionCapabilities": {"fork": {}}})),
    ] {
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let params = json!({"sessionId": "s1", "cwd": CWD, "mcpServers": null, "_meta": {"x": 1}});
        let out = desk.client(json!({"id": 1, "method": method, "params": params}));
        assert_eq!(out.request(method)["params"], params);
    }
}

#[test]
fn what_is_meant_for_the_layer_does_not_reach_the_agent() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"loadSession": true});
    let id = told(&store, &world, &capabilities);
    for (meta, passed) in [
        (json!({"acp-sessions": {"replay": {"last": 1}}, "x": 1}), json!({"x": 1})),
        (json!({"acp-sessions": {"replay": {"last": 1}}}), Value::Null),
    ] {
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let params = json!({"sessionId": id, "cwd": CWD, "mcpServers": [], "_meta": meta});
        let out = desk.client(json!({"id": "load", "method": "session/load", "params": params}));
        assert_eq!(out.request("session/load")["params"]["_meta"], passed, "an inner layer would show it a part only");
    }
}

/// What an agent answers that has fields beside the schema.
fn with_models(id: &str, current: &str) -> Value {
    let models = json!({"currentModelId": current, "availableModels": [{"modelId": "fast"}, {"modelId": "good"}]});
    json!({"sessionId": id, "models": models, "vendor": {"x": 1}, "_meta": {"y": 2}})
}

#[test]
fn a_load_of_a_live_session_has_all_that_the_agent_answered() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &lists());
    desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
    desk.agent(json!({"id": "new", "result": with_models("s1", "fast")}));
    desk.turn("s1", "Hi", &["Ho"]);
    let check = |desk: &mut Desk<'_>, current: &str| {
        for request in ["load", "resume"] {
            let out = if request == "load" { load(desk, "s1", &[]) } else { ask_resume(desk, "resume", "s1") };
            let result = &out.answer(request)["result"];
            assert_eq!(result["_meta"]["acp-sessions"]["attached"], "live");
            assert_eq!(result["models"]["currentModelId"], current, "{request}");
            assert_eq!(result["models"]["availableModels"][1]["modelId"], "good");
            assert_eq!(result["vendor"], json!({"x": 1}));
            assert_eq!(result["_meta"]["y"], 2);
            assert_eq!(result.get("sessionId"), None);
        }
    };
    check(&mut desk, "fast");
    let params = json!({"sessionId": "s1", "modelId": "good"});
    let out = desk.client(json!({"id": "model", "method": "session/set_model", "params": params}));
    desk.reply(&out.request("session/set_model"), json!({}));
    check(&mut desk, "good");
    // Another instance has it from the store.
    desk.wait(200);
    let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
    check(&mut desk, "good");
    // A session that another agent opens is shown with what that agent has.
    desk.engine.peer_closed(Peer::Client);
    let mut other = Desk::open(&store, &world, &[]);
    other.greet(Some("b"), &json!({}));
    let out = ask_load(&mut other, "load", "s1");
    oblige(&mut other, out, &[], "b1");
    let out = load(&mut other, "s1", &[]);
    assert_eq!(out.answer("load")["result"].get("models"), None);
}

#[test]
fn a_load_that_has_an_agent_that_was_started_again_resume_its_session_has_it_too() {
    let (store, world) = (Memory::new(), World::default());
    let capabilities = json!({"sessionCapabilities": {"resume": {}}});
    let mut desk = Desk::ready(&store, &world, &capabilities);
    desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
    desk.agent(json!({"id": "new", "result": with_models("s1", "fast")}));
    desk.turn("s1", "Hi", &["Ho"]);
    for (answer, current) in [(json!({}), "fast"), (with_models("s1", "good"), "good")] {
        desk.revive(&capabilities);
        let asked = ask_load(&mut desk, "load", "s1").request("session/resume");
        let out = desk.reply(&asked, answer);
        let result = &out.answer("load")["result"];
        assert_eq!(result["_meta"]["acp-sessions"]["attached"], "resume");
        assert_eq!(result["models"]["currentModelId"], current);
        assert_eq!(result["vendor"], json!({"x": 1}));
    }
}

/// A session's id at the agent is another than the client's, so that the one has to be put in place of the other.
fn begun_anew<'a>(store: &'a Memory, world: &'a World, capabilities: &Value) -> Desk<'a> {
    told(store, world, capabilities);
    let mut desk = Desk::ready(store, world, capabilities);
    let out = ask_load(&mut desk, "load", "s1");
    oblige(&mut desk, out, &[], "s2");
    desk
}

#[test]
fn what_a_client_says_when_it_puts_a_session_away_reaches_the_agent_whole() {
    let capabilities = json!({"sessionCapabilities": {"close": {}, "delete": {}, "archive": {}, "title": {}}});
    let said = json!({"x": 1, "_meta": {"acp-sessions": {"y": 1}, "vendor.dev": {"keep": true}}});
    for (methods, asked) in [
        (&["session/close"][..], &[("session/close", true)][..]),
        // What the layer has the agent do before, on its own account, is not what the client speaks of.
        (&["session/delete"], &[("session/close", false), ("session/delete", true)]),
        (&["session/archive"], &[("session/close", false), ("session/archive", true)]),
        (&["session/archive", "session/unarchive"], &[("session/unarchive", true)]),
        (&["session/set_title"], &[("session/set_title", true)]),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = begun_anew(&store, &world, &capabilities);
        desk.turn("s1", "Go on", &["Yes"]);
        let mut params = said.clone();
        params["sessionId"] = "s1".into();
        params["title"] = "Mine".into();
        let mut out = Out::default();
        for method in methods {
            out = desk.client(json!({"id": "away", "method": method, "params": params}));
            out = oblige(&mut desk, out, &[], "never");
            assert!(out.answer("away")["error"].is_null(), "{method}");
        }
        for (method, is_whole) in asked {
            let whole = json!({"sessionId": "s2", "x": 1, "title": "Mine", "_meta": {"vendor.dev": {"keep": true}}});
            let expected = if *is_whole { whole } else { json!({"sessionId": "s2"}) };
            let asked: Vec<_> = out.agent.iter().filter(|asked| asked["method"] == *method).collect();
            let own = asked.iter().find(|asked| asked["params"]["sessionId"] == "s2");
            assert_eq!(own.map(|asked| &asked["params"]), Some(&expected), "{methods:?}: {:?}", out.agent);
        }
    }
}

#[test]
fn what_a_client_says_with_a_delete_is_said_of_all_that_goes_with_it_and_of_what_only_the_agent_has() {
    let meta = json!({"vendor.dev": {"keep": true}});
    let capabilities = json!({"sessionCapabilities": {"delete": {}}});
    for session in ["s1", "of-the-agents"] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = begun_anew(&store, &world, &capabilities);
        desk.turn("s1", "Go on", &["Yes"]);
        let params = json!({"sessionId": session, "_meta": meta});
        let out = desk.client(json!({"id": "away", "method": "session/delete", "params": params}));
        let asked: Vec<_> = out.agent.iter().filter(|asked| asked["method"] == "session/delete").collect();
        let ids: Vec<_> = asked.iter().map(|asked| asked["params"]["sessionId"].as_str().unwrap()).collect();
        assert_eq!(ids, if session == "s1" { vec!["s2", "s1"] } else { vec![session] });
        assert!(asked.iter().all(|asked| asked["params"]["_meta"] == meta), "{asked:?}");
        // It is not confirmed, and asked for again on the next connection.
        let mut desk = Desk::open(&store, &world, &[]);
        let out = desk.greet(Some("a"), &capabilities);
        assert!(out.request("session/delete")["params"]["_meta"].is_null(), "{:?}", out.agent);
    }
}

#[test]
fn a_close_that_waits_for_a_turn_to_end_says_what_its_client_said() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({"sessionCapabilities": {"close": {}}}));
    desk.new_session("s1", CWD);
    ask_prompt(&mut desk, "turn", "s1", "Go");
    let ask = |method: &str, meta: Value| json!({"id": method, "method": method, "params": {"sessionId": "s1", "_meta": meta}});
    desk.client(ask("session/archive", json!({"x": 1})));
    let out = desk.client(ask("session/close", json!({"x": 2})));
    assert!(out.agent.is_empty(), "{:?}", out.agent);
    let out = desk.agent(json!({"id": "turn", "result": {"stopReason": "cancelled"}}));
    assert_eq!(out.request("session/close")["params"], json!({"sessionId": "s1", "_meta": {"x": 2}}));
}
