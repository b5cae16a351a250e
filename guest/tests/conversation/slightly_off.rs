//! Lines that are slightly off: read as they were meant where that can be told; otherwise whoever waits learns what was
//! wrong.

use acp_sessions_guest::engine::{Arrival, Content, Output, Peer};
use acp_sessions_guest::storage::Memory;
use serde_json::{Value, json};

use crate::desk::{Desk, World, chunk, update};
use crate::scenes::{CWD, ask_load, said, told, updates};

/// What a line should come to.
#[derive(Debug, Clone, Copy)]
enum Comes<'t> {
    /// Exactly this line to the other side.
    To(&'t str),
    /// The same bytes to the other side.
    Unchanged,
    /// An error with this code and these words, to whoever waits.
    Fails(i64, &'t str),
    /// Nothing to anybody.
    Nothing,
}

use Comes::{Fails, Nothing, To, Unchanged};

/// What goes to each side, byte for byte.
fn raw(desk: &mut Desk<'_>, peer: Peer, content: Content) -> (Vec<String>, Vec<String>) {
    desk.engine.receive([Arrival { peer, content }]);
    let (mut client, mut agent) = (Vec::new(), Vec::new());
    for output in desk.engine.pull(u32::MAX) {
        match output {
            Output::ToClient(line) => client.push(line),
            Output::ToAgent(line) => agent.push(line),
            Output::Keep { .. } | Output::Warn(_) => {}
        }
    }
    (client, agent)
}

fn line(text: &str) -> Content {
    Content::Line(text.to_owned())
}

/// As a host gives bytes that are not UTF-8.
fn not_text(text: &str) -> Content {
    Content::NotText(text.replace('?', "\u{fffd}"))
}

/// Asserts what came to the one who waits under this id, and that nothing came to the other.
fn assert_comes(sent: &Content, id: &Value, expected: Comes<'_>, waiting: &[String], other: &[String]) {
    assert_eq!(other, [""; 0], "{sent:?}");
    match (expected, waiting) {
        (Nothing, waiting) => assert_eq!(waiting, [""; 0], "{sent:?}"),
        (To(wanted), [came]) => assert_eq!(came, wanted, "{sent:?}"),
        (Unchanged, [came]) => assert_eq!(line(came), *sent),
        (Fails(code, words), [came]) => {
            let came: Value = serde_json::from_str(came).unwrap();
            let message = came["error"]["message"].as_str().unwrap_or_default();
            assert_eq!((&came["id"], &came["error"]["code"]), (id, &json!(code)), "{sent:?}: {came}");
            assert!(message.contains(words), "{sent:?}: {message}");
        }
        (expected, waiting) => panic!("{sent:?}: {expected:?}, and there came {waiting:?}"),
    }
}

#[test]
fn an_answer_of_the_agents_is_read_as_it_was_meant_or_the_request_fails() {
    let well = r#"{"jsonrpc":"2.0","id":3,"result":{"x": 1.50}}"#;
    let failed = r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32001,"message":"no"}}"#;
    let table = [
        (line(well), Unchanged),
        (line(failed), Unchanged),
        (line(r#"{"jsonrpc":"2.0","id":3,"result":null}"#), Unchanged),
        (line(r#"{ "jsonrpc" : "2.0", "id" : 3, "result" : {"x":1,"x":2}, "more" : [] }"#), Unchanged),
        // Members that are null.
        (line(r#"{"jsonrpc":"2.0","id":3,"result":{"x": 1.50},"error":null}"#), To(well)),
        (line(r#"{"jsonrpc":"2.0","id":3,"error":null,"result":{"x": 1.50}}"#), To(well)),
        (line(r#"{"jsonrpc":"2.0","id":3,"method":null,"result":{"x": 1.50}}"#), To(well)),
        (line(r#"{"jsonrpc":"2.0","id":3,"method":null,"params":null,"result":{"x": 1.50},"error":null}"#), To(well)),
        (line(r#"{"jsonrpc":"2.0","id":3,"result":null,"error":{"code":-32001,"message":"no"}}"#), To(failed)),
        (
            line(r#"{"jsonrpc":"2.0","id":3,"result":null,"error":null}"#),
            To(r#"{"jsonrpc":"2.0","id":3,"result":null}"#),
        ),
        // Both, and neither.
        (
            line(r#"{"jsonrpc":"2.0","id":3,"result":{},"error":{"code":-32001,"message":"no"}}"#),
            Fails(-32603, "the agent's answer has both a result and an error"),
        ),
        (line(r#"{"jsonrpc":"2.0","id":3}"#), Fails(-32603, "neither a result nor an error")),
        (line(r#"{"jsonrpc":"2.0","id":3,"error":null}"#), Fails(-32603, "neither a result nor an error")),
        (line(r#"{"jsonrpc":"2.0","id":3,"method":"x","result":{}}"#), Fails(-32603, "both a method and")),
        // The version.
        (line(r#"{"id":3,"result":{"x": 1.50}}"#), To(r#"{"id":3,"result":{"x": 1.50},"jsonrpc":"2.0"}"#)),
        (line(r#"{"jsonrpc":2.0,"id":3,"result":{"x": 1.50}}"#), To(well)),
        (line(r#"{"jsonrpc":"1.0","id":3,"result":{"x": 1.50}}"#), To(well)),
        (line(r#"{"jsonrpc":null,"id":3,"result":{"x": 1.50}}"#), To(well)),
        // A member twice: the last counts, as for most who read JSON.
        (line(r#"{"jsonrpc":"2.0","id":3,"result":{},"result":{"x": 1.50}}"#), To(well)),
        (line(r#"{"jsonrpc":"2.0","jsonrpc":"2.0","id":4,"id":3,"result":{"x": 1.50}}"#), To(well)),
        (
            line(r#"{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":""},"error":null,"result":{"x": 1.50}}"#),
            To(well),
        ),
        // The id in another spelling.
        (line(r#"{"jsonrpc":"2.0","id":3.0,"result":{"x": 1.50}}"#), To(well)),
        (line(r#"{"jsonrpc":"2.0","id":3e0,"result":{"x": 1.50}}"#), To(well)),
        (line(r#"{"jsonrpc":"2.0","id":"3","result":{"x": 1.50}}"#), To(well)),
        (
            line(r#"{"id":"3.0","result":{"x": 1.50},"jsonrpc":"2.0","error":null}"#),
            To(r#"{"id":3,"result":{"x": 1.50},"jsonrpc":"2.0"}"#),
        ),
        (line(r#"{"jsonrpc":"2.0","id":"3x","result":{}}"#), Nothing),
        (line(r#"{"jsonrpc":"2.0","id":3.5,"result":{}}"#), Nothing),
        (line(r#"{"jsonrpc":"2.0","id":4,"result":{},"error":null}"#), Nothing),
        // Errors that are no error objects.
        (
            line(r#"{"jsonrpc":"2.0","id":3,"error":"no"}"#),
            To(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"no"}}"#),
        ),
        (
            line(r#"{"jsonrpc":"2.0","id":3,"error":{"message":"no","data":{"y": 1.50}}}"#),
            To(r#"{"jsonrpc":"2.0","id":3,"error":{"message":"no","data":{"y": 1.50},"code":-32603}}"#),
        ),
        (line(r#"{"jsonrpc":"2.0","id":3,"error":{"code":"-32001","message":"no"}}"#), To(failed)),
        (line(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32001.0,"message":"no"}}"#), To(failed)),
        (line(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32001}}"#), Fails(-32001, "no reason was given")),
        (line(r#"{"jsonrpc":"2.0","id":3,"error":false}"#), Fails(-32603, "no reason was given")),
        // What is not JSON or not text.
        (line(r#"{"jsonrpc":"2.0","id":3,"result":{"cost":NaN}}"#), Fails(-32603, "the agent's answer is not JSON")),
        (line(r#"{"jsonrpc":"2.0","id":3,"result":{"x":1}"#), Fails(-32603, "the agent's answer is not JSON")),
        (line(r#"{"result":{"x":[1,]},"id":3,"jsonrpc":"2.0"}"#), Fails(-32603, "the agent's answer is not JSON")),
        (line(r#"sending {"jsonrpc":"2.0","id":3,"result":{}}"#), Nothing),
        (not_text(r#"{"jsonrpc":"2.0","id":3,"result":{"x":"?"}}"#), Fails(-32603, "the agent's answer is not UTF-8")),
        (not_text(r#"{"jsonrpc":"2.0","id":3,"result":{"x":1}}?"#), Fails(-32603, "the agent's answer is not UTF-8")),
        (not_text(r#"{"jsonrpc":"2.0","?":1,"id":"3","result":{"x":1}}"#), Fails(-32603, "is not UTF-8")),
        (not_text(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32001,"message":"?"}}"#), Fails(-32603, "is not UTF-8")),
        (not_text("?"), Nothing),
        // What editors of files put in front, and several messages where one should be.
        (Content::Line(format!("\u{feff}{well}")), To(well)),
        (Content::Line(format!("[{well}]")), To(well)),
        (Content::Line(format!("{well} {{\"jsonrpc\":\"2.0\",\"id\":5,\"result\":{{}}}}")), To(well)),
        (line(r#"[[{"jsonrpc":"2.0","id":3,"result":{}}]]"#), Nothing),
    ];
    for (sent, expected) in table {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let out = desk.client(json!({"id": 3, "method": "_x/y"}));
        assert_eq!(out.agent.len(), 1);
        let (client, agent) = raw(&mut desk, Peer::Agent, sent.clone());
        assert_comes(&sent, &json!(3), expected, &client, &agent);
        // It is answered once, and the connection works on.
        let late = desk.agent(json!({"id": 3, "result": {}}));
        assert_eq!(late.client.len(), usize::from(matches!(expected, Nothing)), "{sent:?}");
        assert!(desk.listed().is_empty());
    }
}

#[test]
fn of_ids_that_look_alike_the_one_that_was_answered_is() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    for id in [json!("3"), json!(3), json!("4")] {
        desk.client(json!({"id": id, "method": "_x/y"}));
    }
    for id in [json!(3), json!("3"), json!("4")] {
        let out = desk.agent(json!({"id": id, "result": {}}));
        assert_eq!(out.client, [json!({"jsonrpc": "2.0", "id": id, "result": {}})]);
    }
    desk.client(json!({"id": "5", "method": "_x/y"}));
    let out = desk.agent(json!({"id": 5, "result": {}}));
    assert_eq!(out.client, [json!({"jsonrpc": "2.0", "id": "5", "result": {}})]);
}

/// How an agent may write its answers; `%` stands for the id, `$` for the result.
const HANDWRITING: [&str; 5] = [
    r#"{"id":%,"result":$,"error":null}"#,
    r#"{"jsonrpc":"2.0","error":null,"id":%,"result":$}"#,
    r#"{"jsonrpc":2.0,"id":%,"result":{"sessionId":"other"},"result":$}"#,
    r#"{"jsonrpc":"2.0","method":null,"params":null,"id":%,"result":$}"#,
    r#"[{"jsonrpc":"2.0","id":%,"result":$}]"#,
];

#[test]
fn a_conversation_with_an_agent_that_writes_so_is_kept_and_comes_back() {
    for hand in HANDWRITING {
        let (store, world) = (Memory::new(), World::default());
        let write = |desk: &mut Desk<'_>, id: &Value, result: Value| {
            let id = id.as_i64().map_or_else(|| id.to_string(), |id| format!("\"{id}\""));
            let answer = hand.replace('%', &id).replace('$', &result.to_string());
            desk.line(Peer::Agent, &answer)
        };
        for time in ["first", "second"] {
            let mut desk = Desk::open(&store, &world, &[]);
            desk.client(json!({"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}));
            let result = json!({"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": {"resume": {}}}});
            let out = write(&mut desk, &json!(0), result);
            assert_eq!(out.answer(0)["result"]["agentCapabilities"]["loadSession"], true, "{hand}");
            if time == "first" {
                desk.client(json!({"id": 1, "method": "session/new", "params": {"cwd": CWD, "mcpServers": []}}));
                let out = write(&mut desk, &json!(1), json!({"sessionId": "s1"}));
                assert_eq!(out.answer(1)["result"]["sessionId"], "s1", "{hand}");
            } else {
                let mut out = ask_load(&mut desk, "load", "s1");
                let asked = out.request("session/resume");
                out.extend(write(&mut desk, &asked["id"], json!({})));
                assert_eq!(said(&out.client), ["> Hi", "Ho"], "{hand}");
                assert!(out.answer("load")["error"].is_null(), "{hand}");
            }
            if time == "first" {
                let prompt = json!([{"type": "text", "text": "Hi"}]);
                let params = json!({"sessionId": "s1", "prompt": prompt});
                desk.client(json!({"id": 2, "method": "session/prompt", "params": params}));
                // Its updates lack the version.
                let told = update("s1", chunk("agent_message_chunk", "Ho"));
                let out = desk.line(Peer::Agent, &told.to_string());
                assert_eq!(said(&out.client), ["Ho"], "{hand}");
                let out = write(&mut desk, &json!(2), json!({"stopReason": "end_turn"}));
                assert_eq!(out.answer(2)["result"], json!({"stopReason": "end_turn"}), "{hand}");
            }
            desk.engine.peer_closed(Peer::Client);
        }
    }
}

#[test]
fn a_step_of_an_opening_whose_answer_is_bad_fails_the_load() {
    for bad in
        [r#"{"jsonrpc":"2.0","id":%}"#, r#"{"jsonrpc":"2.0","id":%,"result":{},"error":{}}"#, r#"{"id":%,"result":{"#]
    {
        let (store, world) = (Memory::new(), World::default());
        let capabilities = json!({"loadSession": true});
        let id = told(&store, &world, &capabilities);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let mut out = ask_load(&mut desk, "load", &id);
        let mut next = 0;
        while let Some(asked) = out.agent.get(next).cloned() {
            next += 1;
            out.extend(desk.line(Peer::Agent, &bad.replace('%', &asked["id"].to_string())));
        }
        let answer = out.answer("load");
        assert!(answer["error"].is_object() || answer["result"].is_object(), "{bad}: {answer}");
        assert!(desk.listed().contains(&id), "{bad}");
    }
}

#[test]
fn an_answer_of_the_clients_is_read_as_it_was_meant_or_the_agents_request_fails() {
    let well = r#"{"jsonrpc":"2.0","id":3,"result":{"x": 1.50}}"#;
    let table = [
        (line(well), Unchanged),
        (line(r#"{"jsonrpc":"2.0","id":3,"result":{"x": 1.50},"error":null}"#), To(well)),
        (line(r#"{"jsonrpc":"2.0","id":"3","result":{"x": 1.50}}"#), To(well)),
        (line(r#"{"jsonrpc":"2.0","id":3.0,"result":{"x": 1.50}}"#), To(well)),
        (line(r#"{"id":3,"result":{"x": 1.50}}"#), To(r#"{"id":3,"result":{"x": 1.50},"jsonrpc":"2.0"}"#)),
        (line(r#"{"jsonrpc":"2.0","id":3,"result":1,"result":{"x": 1.50}}"#), To(well)),
        (
            line(r#"{"jsonrpc":"2.0","id":3,"error":"no"}"#),
            To(r#"{"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"no"}}"#),
        ),
        (
            line(r#"{"jsonrpc":"2.0","id":3,"result":{},"error":{}}"#),
            Fails(-32603, "the client's answer has both a result and an error"),
        ),
        (line(r#"{"jsonrpc":"2.0","id":3}"#), Fails(-32603, "the client's answer has neither")),
        (line(r#"{"jsonrpc":"2.0","id":3,"result":NaN}"#), Fails(-32603, "the client's answer is not JSON")),
        (
            not_text(r#"{"jsonrpc":"2.0","id":3,"result":{"content":"?"}}"#),
            Fails(-32603, "the client's answer is not UTF-8"),
        ),
        (
            Content::TooLong(r#"{"jsonrpc":"2.0","id":3,"result":{"content":"#.to_owned()),
            Fails(-32603, "the client's answer is too long"),
        ),
    ];
    let asks = [
        ("session/request_permission", json!({"sessionId": "s1", "toolCall": {"toolCallId": "t"}, "options": []})),
        ("fs/read_text_file", json!({"sessionId": "s1", "path": "/x"})),
        ("terminal/create", json!({"sessionId": "s1", "command": "x"})),
        ("_x/y", json!({})),
    ];
    for (method, params) in asks {
        for (sent, expected) in table.clone() {
            let (store, world) = (Memory::new(), World::default());
            let mut desk = Desk::ready(&store, &world, &json!({}));
            desk.new_session("s1", CWD);
            let out = desk.agent(json!({"id": 3, "method": method, "params": params}));
            assert_eq!(out.client.len(), 1);
            let (client, agent) = raw(&mut desk, Peer::Client, sent.clone());
            assert_comes(&sent, &json!(3), expected, &agent, &client);
            assert_eq!(desk.listed(), ["s1"]);
        }
    }
}

#[test]
fn a_bad_answer_of_the_clients_does_not_touch_its_own_request_of_that_id() {
    for bad in [
        line(r#"{"jsonrpc":"2.0","id":"turn","result":{},"error":{}}"#),
        line(r#"{"jsonrpc":"2.0","id":"turn","result":NaN}"#),
        Content::TooLong(r#"{"jsonrpc":"2.0","id":"turn","result":{"content":"#.to_owned()),
        not_text(r#"{"jsonrpc":"2.0","id":"turn","result":{"content":"?"}}"#),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.client(json!({"id": "turn", "method": "_x/y"}));
        let (client, agent) = raw(&mut desk, Peer::Client, bad.clone());
        assert_comes(&bad, &json!("turn"), Fails(-32603, "the client's answer"), &agent, &client);
        assert_eq!(desk.agent(json!({"id": "turn", "result": {}})).answer("turn")["result"], json!({}));
    }
}

#[test]
fn a_request_of_the_agents_is_read_as_it_was_meant_or_it_learns_why_not() {
    let well = r#"{"jsonrpc":"2.0","id":3,"method":"fs/read_text_file","params":{"path":"/x"}}"#;
    let table = [
        (line(well), Unchanged),
        (
            line(r#"{"id":3,"method":"fs/read_text_file","params":{"path":"/x"}}"#),
            To(r#"{"id":3,"method":"fs/read_text_file","params":{"path":"/x"},"jsonrpc":"2.0"}"#),
        ),
        (
            line(
                r#"{"jsonrpc":"2.0","id":3,"method":"fs/read_text_file","params":{"path":"/x"},"result":null,"error":null}"#,
            ),
            To(well),
        ),
        (line(r#"{"jsonrpc":"2.0","id":3.0,"method":"fs/read_text_file","params":{"path":"/x"}}"#), To(well)),
        (
            line(r#"{"jsonrpc":"2.0","id":3,"method":"x","method":"fs/read_text_file","params":{"path":"/x"}}"#),
            To(well),
        ),
    ];
    for (sent, expected) in table {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let (client, agent) = raw(&mut desk, Peer::Agent, sent.clone());
        assert_comes(&sent, &json!(3), expected, &client, &agent);
    }
    let table = [
        (line(r#"{"jsonrpc":"2.0","id":3,"method":5}"#), json!(3), Fails(-32600, "not a JSON-RPC 2.0 message")),
        (line(r#"{"jsonrpc":"2.0","id":3.5,"method":"x"}"#), Value::Null, Fails(-32600, "not a JSON-RPC 2.0 message")),
        (line(r#"{"jsonrpc":"2.0","id":3,"method":"x","params":{"x":NaN}}"#), json!(3), Fails(-32700, "not JSON")),
        (not_text(r#"{"jsonrpc":"2.0","id":3,"method":"x","params":{"x":"?"}}"#), json!(3), Fails(-32700, "not UTF-8")),
        (
            Content::TooLong(r#"{"jsonrpc":"2.0","id":3,"method":"x","params":{"x":"#.to_owned()),
            json!(3),
            Fails(-32600, "too long to be taken"),
        ),
    ];
    for (sent, id, expected) in table {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        // Its ids are its own: the client's request of the same id goes on.
        desk.client(json!({"id": 3, "method": "_x/y"}));
        let (client, agent) = raw(&mut desk, Peer::Agent, sent.clone());
        assert_comes(&sent, &id, expected, &agent, &client);
        assert_eq!(desk.agent(json!({"id": 3, "result": {}})).answer(3)["result"], json!({}));
    }
}

#[test]
fn a_request_of_the_clients_is_read_as_it_was_meant_or_it_learns_why_not() {
    let well = r#"{"jsonrpc":"2.0","id":3,"method":"_x/y","params":{"x": 1.50}}"#;
    for (sent, expected) in [
        (line(well), Unchanged),
        (
            line(r#"{"id":3,"method":"_x/y","params":{"x": 1.50}}"#),
            To(r#"{"id":3,"method":"_x/y","params":{"x": 1.50},"jsonrpc":"2.0"}"#),
        ),
        (line(r#"{"jsonrpc":"2.0","id":3.0,"method":"_x/y","params":{"x": 1.50}}"#), To(well)),
        (line(r#"{"jsonrpc":"2.0","id":3,"method":"_x/y","params":{"x": 1.50},"error":null}"#), To(well)),
        (Content::Line(format!("\u{feff}{well}")), To(well)),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        let (client, agent) = raw(&mut desk, Peer::Client, sent.clone());
        assert_comes(&sent, &json!(3), expected, &agent, &client);
        assert_eq!(desk.agent(json!({"id": 3, "result": {}})).answer(3)["result"], json!({}));
    }
    for (sent, id, expected) in [
        (
            not_text(r#"{"jsonrpc":"2.0","id":3,"method":"_x/y","params":{"x":"?"}}"#),
            json!(3),
            Fails(-32700, "not UTF-8"),
        ),
        (
            not_text(r#"{"jsonrpc":"2.0","id":"turn","method":"_x/y","params":{"x":"?"}}"#),
            Value::Null,
            Fails(-32700, "not UTF-8"),
        ),
        (not_text("?{}"), Value::Null, Fails(-32700, "not UTF-8")),
        (
            Content::TooLong(r#"{"jsonrpc":"2.0","id":"turn","method":"_x/y","#.to_owned()),
            Value::Null,
            Fails(-32600, "16 MiB"),
        ),
        (
            line(r#"{"jsonrpc":"2.0","id":3,"method":"_x/y","result":{}}"#),
            json!(3),
            Fails(-32600, "not a JSON-RPC 2.0 message"),
        ),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.client(json!({"id": "turn", "method": "_x/y"}));
        let (client, agent) = raw(&mut desk, Peer::Client, sent.clone());
        assert_comes(&sent, &id, expected, &client, &agent);
        assert_eq!(desk.agent(json!({"id": "turn", "result": {}})).answer("turn")["result"], json!({}));
    }
}

#[test]
fn what_is_told_is_passed_on_as_well_as_it_can_be_read() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::ready(&store, &world, &json!({}));
    let id = desk.new_session("s1", CWD);
    desk.client(json!({"id": "turn", "method": "session/prompt", "params": {"sessionId": id, "prompt": []}}));
    let params = |text: &str| json!({"sessionId": "s1", "update": chunk("agent_message_chunk", text)});
    for (sent, text) in [
        (line(&json!({"method": "session/update", "params": params("one")}).to_string()), "one"),
        (
            line(
                &json!({"jsonrpc": "2.0", "method": "session/update", "params": params("two"), "result": null})
                    .to_string(),
            ),
            "two",
        ),
        (
            not_text(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params("thr??")}).to_string()),
            "thr\u{fffd}\u{fffd}",
        ),
    ] {
        let (client, agent) = raw(&mut desk, Peer::Agent, sent.clone());
        assert!(agent.is_empty() && client.len() == 1, "{sent:?}: {client:?} {agent:?}");
        let came: Value = serde_json::from_str(&client[0]).unwrap();
        assert_eq!(came, json!({"jsonrpc": "2.0", "method": "session/update", "params": params(text)}), "{sent:?}");
    }
    // One that asks for an answer has one, and is an update like any other.
    let asks = json!({"jsonrpc": "2.0", "id": 8, "method": "session/update", "params": params("four")});
    let (client, agent) = raw(&mut desk, Peer::Agent, line(&asks.to_string()));
    assert_eq!(agent, [r#"{"jsonrpc":"2.0","id":8,"result":{}}"#]);
    let came: Value = serde_json::from_str(&client[0]).unwrap();
    assert_eq!(came, json!({"jsonrpc": "2.0", "method": "session/update", "params": params("four")}));
    desk.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
    let out = ask_load(&mut desk, "again", &id);
    let texts: Vec<_> =
        updates(&out, "agent_message_chunk").iter().map(|update| update["content"]["text"].as_str().unwrap()).collect();
    assert_eq!(texts.concat(), "onetwothr\u{fffd}\u{fffd}four");
}

#[test]
fn what_is_taken_back_is_named_in_any_spelling() {
    for (spelled, id) in [("3.0", json!(3)), ("\"3\"", json!(3)), ("3", json!("3")), ("3", json!(3))] {
        let (store, world) = (Memory::new(), World::default());
        let capabilities = json!({"loadSession": true});
        let session = told(&store, &world, &capabilities);
        let mut desk = Desk::ready(&store, &world, &capabilities);
        let params = json!({"sessionId": session, "cwd": CWD, "mcpServers": []});
        desk.client(json!({"id": id, "method": "session/load", "params": params})).request("session/load");
        let cancel = format!(r#"{{"jsonrpc":"2.0","method":"$/cancel_request","params":{{"requestId":{spelled}}}}}"#);
        let out = desk.line(Peer::Client, &cancel);
        assert_eq!(out.answer(id.clone())["error"]["code"], -32800, "{spelled}");
        desk.client(json!({"id": id, "method": "_x/y"}));
        let out = desk.line(Peer::Client, &cancel);
        assert_eq!(out.request("$/cancel_request")["params"]["requestId"], id, "{spelled}");
    }
}

#[test]
fn in_a_chain_an_answer_that_is_off_is_the_agents_too() {
    let (store, world) = (Memory::new(), World::default());
    let mut desk = Desk::open(&store, &world, &[]);
    let begin = r#"{"id":"i","method":"proxy/initialize","params":{"protocolVersion":1}}"#;
    let out = desk.line(Peer::Client, begin);
    let asked = out.client.iter().find(|message| message["method"] == "proxy/successor").unwrap().clone();
    let answer = format!(r#"{{"id":{},"error":null,"result":{{"protocolVersion":1}}}}"#, asked["id"]);
    let out = desk.line(Peer::Client, &answer);
    assert_eq!(out.answer("i")["result"]["protocolVersion"], 1);
    for (bad, words) in [
        (line(r#"{"jsonrpc":"2.0","id":"acp-sessions-successor:3"}"#), "neither"),
        (line(r#"{"jsonrpc":"2.0","id":"acp-sessions-successor:3","result":NaN}"#), "not JSON"),
        (not_text(r#"{"jsonrpc":"2.0","id":"acp-sessions-successor:3","result":"?"}"#), "not UTF-8"),
        (Content::TooLong(r#"{"jsonrpc":"2.0","id":"acp-sessions-successor:3","result":"#.to_owned()), "too long"),
    ] {
        desk.client(json!({"id": 3, "method": "_x/y"}));
        let (client, agent) = raw(&mut desk, Peer::Client, bad.clone());
        assert_comes(&bad, &json!(3), Fails(-32603, words), &client, &agent);
    }
}

#[test]
fn what_was_off_and_lost_is_made_up_for_like_the_rest() {
    for (peer, content, words) in [
        (Peer::Agent, not_text(r#"{"jsonrpc":"2.0","id":3,"result":"?"}"#), "not UTF-8"),
        (Peer::Agent, line(r#"{"id":3,"result":{},"error":null}"#), "was lost"),
        (Peer::Agent, line(r#"{"jsonrpc":"2.0","id":3}"#), "neither"),
        (Peer::Agent, line(r#"{"jsonrpc":"2.0","id":"3","result":{}}"#), "was lost"),
    ] {
        let (store, world) = (Memory::new(), World::default());
        let mut desk = Desk::ready(&store, &world, &json!({}));
        desk.client(json!({"id": 3, "method": "_x/y"}));
        let lost = vec![Arrival { peer, content: content.clone() }];
        let mut desk = Desk::carry_on(&store, &world, &[], desk.memos, lost);
        let out = desk.pull();
        let answer = out.answer(3);
        assert_eq!(answer["error"]["code"], -32603, "{content:?}");
        assert!(answer["error"]["message"].as_str().unwrap().contains(words), "{content:?}: {answer}");
    }
}
