//! What only a client is shown that has asked for it when it initialized.

use acp_sessions_guest::engine::Peer;
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, Out, World, chunk, update};
use crate::scenes::{CWD, ask_load, ask_prompt, leave, load, met, said, updates};

fn resumes() -> Value {
    json!({"sessionCapabilities": {"resume": {}}})
}

/// All that a client can ask for.
fn everything() -> Value {
    let session = json!({"notices": {}, "compaction": {}, "configOptions": {"boolean": {}}});
    json!({"session": session, "plan": {}, "subagents": {}})
}

/// Updates that have to be asked for, and the ones that do not.
fn said_in_a_turn() -> Vec<Value> {
    let content = json!({"type": "text", "text": "x"});
    vec![
        chunk("agent_message_chunk", "Before."),
        json!({"sessionUpdate": "notice", "severity": "info", "title": "Limit near"}),
        json!({"sessionUpdate": "compaction_update", "compactionId": "c", "status": "completed"}),
        json!({"sessionUpdate": "compaction_summary_chunk", "compactionId": "c", "content": content}),
        json!({"sessionUpdate": "plan_update", "plan": {"type": "items", "planId": "p", "entries": []}}),
        json!({"planId": "p", "sessionUpdate": "plan_removed"}),
        json!({"sessionUpdate": "subagent_update", "sessionId": "c1"}),
        json!({"sessionUpdate": "session_message", "messageId": "m", "content": []}),
        json!({"_meta": {"sessionUpdate": "agent_message_chunk"}, "sessionUpdate": "session_message_chunk", "messageId": "m", "content": content}),
        json!({"sessionUpdate": "tool_call", "toolCallId": "t", "title": "T", "rawInput": {"sessionUpdate": "notice"}}),
        json!({"sessionUpdate": "_own_update"}),
        chunk("agent_message_chunk", "After."),
    ]
}

fn had(store: &Memory, world: &World) {
    let mut desk = met(store, world, &everything(), &resumes());
    desk.new_session("s1", CWD);
    let asked = ask_prompt(&mut desk, "turn", "s1", "Go").request("session/prompt");
    for said in said_in_a_turn() {
        assert_eq!(desk.agent(update("s1", said.clone())).client.len(), 1, "what comes live passes: {said}");
    }
    desk.reply(&asked, json!({"stopReason": "end_turn"}));
    desk.engine.peer_closed(Peer::Client);
}

#[test]
fn what_a_client_has_not_asked_for_is_not_replayed_to_it() {
    const GATED: [(&str, &[&str]); 4] = [
        ("notices", &["notice"]),
        ("compaction", &["compaction_update", "compaction_summary_chunk"]),
        ("plan", &["plan_update", "plan_removed"]),
        ("subagents", &["subagent_update", "session_message", "session_message_chunk"]),
    ];
    let mut clients = vec![(json!({}), vec![]), (Value::Null, vec![])];
    for (name, kinds) in GATED {
        let asks = |marker: Value| match name {
            "notices" | "compaction" => json!({"session": { name: marker }}),
            _ => json!({ name: marker }),
        };
        clients.push((asks(json!({})), kinds.to_vec()));
        clients.push((asks(Value::Null), vec![]));
    }
    clients.push((everything(), GATED.iter().flat_map(|(_, kinds)| kinds.iter().copied()).collect()));
    let (store, world) = (Memory::new(), World::default());
    had(&store, &world);
    for (client, expected) in clients {
        let mut desk = met(&store, &world, &client, &resumes());
        let out = load(&mut desk, "s1", &[]);
        assert_eq!(said(&out.client), ["> Go", "Before.After."], "{client}");
        assert_eq!((updates(&out, "tool_call").len(), updates(&out, "_own_update").len()), (1, 1), "{client}");
        for (_, kinds) in GATED {
            for kind in kinds {
                let is_expected = expected.contains(kind);
                assert_eq!(updates(&out, kind).len(), usize::from(is_expected), "{kind} to {client}");
            }
        }
        // Once more, of the session that is open now, and of an instance that has taken over.
        for _ in 0..2 {
            let out = load(&mut desk, "s1", &[]);
            assert_eq!(updates(&out, "notice").len(), usize::from(expected.contains(&"notice")), "{client}");
            desk = Desk::carry_on(&store, &world, &[], desk.memos, Vec::new());
        }
    }
}

/// The client loads a session that only the agent has, which tells all of this whoever asks.
fn load_told(store: &Memory, world: &World, client: &Value) -> Out {
    let mut desk = met(store, world, client, &json!({"loadSession": true}));
    let mut out = ask_load(&mut desk, "load", "o1");
    let asked = out.request("session/load");
    for said in [vec![chunk("user_message_chunk", "Go")], said_in_a_turn()].concat() {
        out.extend(desk.agent(update("o1", said)));
    }
    out.extend(desk.reply(&asked, json!({})));
    assert!(out.answer("load")["error"].is_null());
    leave(desk);
    out
}

#[test]
fn what_an_agent_tells_of_its_own_session_unasked_is_shown_to_those_who_asked_the_first_time_and_again() {
    for asks in [true, false] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let client = if asks { everything() } else { json!({}) };
        for time in ["first", "again"] {
            let out = load_told(&store, &world, &client);
            assert_eq!(said(&out.client), ["> Go", "Before.After."], "{time}");
            assert_eq!((updates(&out, "tool_call").len(), updates(&out, "_own_update").len()), (1, 1), "{time}");
            for kind in ["notice", "compaction_update", "compaction_summary_chunk", "plan_update", "subagent_update"] {
                assert_eq!(updates(&out, kind).len(), usize::from(asks), "{kind}, {time}, asked for: {asks}");
            }
        }
        // It is kept all the same, for those who do ask.
        let out = load_told(&store, &world, &everything());
        assert_eq!(updates(&out, "notice").len(), 1, "loaded first by one who asks: {asks}");
    }
}

#[test]
fn options_that_a_client_does_not_know_are_not_shown_to_it() {
    let options = json!([
        {"id": "m", "name": "M", "type": "select", "currentValue": "a", "options": []},
        {"id": "b", "name": "B", "type": "boolean", "currentValue": true},
    ]);
    let (store, world) = (Memory::new(), World::default());
    let mut desk = met(&store, &world, &everything(), &resumes());
    desk.client(json!({"id": "new", "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
    desk.agent(json!({"id": "new", "result": {"sessionId": "s1", "configOptions": options}}));
    desk.turn("s1", "Hi", &["Ho"]);
    desk.engine.peer_closed(Peer::Client);
    for (client, shown) in [(everything(), &["m", "b"][..]), (json!({}), &["m"][..])] {
        let mut desk = met(&store, &world, &client, &resumes());
        for _ in 0..2 {
            let out = load(&mut desk, "s1", &[]);
            let options = out.answer("load")["result"]["configOptions"].as_array().unwrap();
            let ids: Vec<&str> = options.iter().map(|option| option["id"].as_str().unwrap()).collect();
            assert_eq!(ids, shown, "{client}");
        }
    }
}

#[test]
fn options_that_a_client_does_not_know_are_not_shown_either_where_the_agent_tells_them_as_it_opens_a_session() {
    let options = json!([{"id": "m", "type": "select"}, {"id": "b", "type": "boolean"}]);
    let told = json!({"sessionUpdate": "config_option_update", "configOptions": options});
    for (client, shown) in [(everything(), &["m", "b"][..]), (json!({}), &["m"][..])] {
        // One that is new here is shown as the agent tells it.
        for (method, capabilities, is_new) in [
            ("session/load", json!({"loadSession": true}), true),
            ("session/resume", resumes(), false),
            ("session/fork", json!({"sessionCapabilities": {"fork": {}}}), false),
        ] {
            let (store, world) = (Memory::new(), World::unrecorded());
            if !is_new {
                had(&store, &world);
            }
            let mut desk = met(&store, &world, &client, &capabilities);
            let params = json!({"sessionId": "s1", "cwd": CWD, "mcpServers": []});
            let mut out = desk.client(json!({"id": "open", "method": method, "params": params}));
            let asked = out.request(method);
            // What a fork is told of itself comes by the id that it is to have.
            let (id, answer) = match method {
                "session/fork" => ("f1", json!({"sessionId": "f1"})),
                _ => ("s1", json!({})),
            };
            out.extend(desk.agent(update(id, told.clone())));
            out.extend(desk.reply(&asked, answer));
            assert!(out.answer("open")["error"].is_null(), "{method}");
            // Of a fork the answer says it, in which it has its id.
            let told = match method {
                "session/fork" => vec![&out.answer("open")["result"]],
                _ => updates(&out, "config_option_update"),
            };
            let ids = |told: &&Value| {
                let options = told["configOptions"].as_array().unwrap();
                options.iter().map(|option| option["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
            };
            assert_eq!(told.iter().map(ids).collect::<Vec<_>>(), [shown], "{method} to {client}");
        }
    }
}

#[test]
fn of_the_last_updates_those_count_that_the_client_is_shown() {
    let (store, world) = (Memory::new(), World::default());
    had(&store, &world);
    let mut desk = met(&store, &world, &json!({}), &resumes());
    let meta = json!({"acp-sessions": {"replay": {"last": 3}}});
    let params = json!({"sessionId": "s1", "cwd": CWD, "mcpServers": [], "_meta": meta});
    let mut out = desk.client(json!({"id": "load", "method": "session/load", "params": params}));
    let asked = out.request("session/resume");
    out.extend(desk.reply(&asked, json!({})));
    let shown: Vec<_> = told(&out).into_iter().filter(|name| name != "session_info_update").collect();
    assert_eq!(shown, ["tool_call", "_own_update", "agent_message_chunk"]);
}

/// The names of the updates that a client was sent.
fn told(out: &Out) -> Vec<String> {
    let updates = out.client.iter().filter(|message| message["method"] == "session/update");
    updates.map(|message| message["params"]["update"]["sessionUpdate"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn terminals_are_replayed_to_clients_that_have_them_and_states_to_nobody() {
    let terminal = json!({"type": "terminal", "terminalId": "t"});
    let text = json!({"type": "content", "content": {"type": "text", "text": "built"}});
    let said = [
        chunk("user_message_chunk", "Go"),
        json!({"sessionUpdate": "state_update", "state": "running"}),
        json!({"sessionUpdate": "tool_call", "toolCallId": "c", "title": "make", "content": [terminal, text]}),
        json!({"sessionUpdate": "tool_call_update", "toolCallId": "c", "status": "completed", "content": [terminal]}),
    ];
    for has in [true, false] {
        let (store, world) = (Memory::new(), World::unrecorded());
        let client = json!({ "terminal": has });
        // As the agent tells it the first time, and as the log has it.
        for time in ["first", "again"] {
            let mut desk = met(&store, &world, &client, &json!({"loadSession": true}));
            let mut out = ask_load(&mut desk, "load", "o1");
            let asked = out.request("session/load");
            for said in said.clone() {
                out.extend(desk.agent(update("o1", said)));
            }
            out.extend(desk.reply(&asked, json!({})));
            let calls = [&updates(&out, "tool_call"), &updates(&out, "tool_call_update")].map(|calls| calls[0].clone());
            let mut expected = [said[2].clone(), said[3].clone()];
            if !has {
                expected[0]["content"] = json!([text]);
                expected[1]["content"] = json!([]);
            }
            assert_eq!(calls, expected, "{time}, {client}");
            assert!(updates(&out, "state_update").is_empty(), "{time}");
            let live = update("o1", said[1].clone());
            assert_eq!(desk.agent(live).client.len(), 1, "what comes live passes");
            leave(desk);
        }
    }
}
