use std::collections::VecDeque;
use std::fs::File;
use std::io::Read as _;
use std::time::Duration;

use serde_json::{Value, json};

use super::Builtin;
use crate::component::connection::Content;
use crate::downstream::Agent as _;
use crate::transport::Side;

/// The agent, and what it has said so far.
struct Talk {
    agent: Builtin,
    side: Side,
    heard: VecDeque<Value>,
    requests: u64,
}

impl Talk {
    fn start(exec: Option<&str>) -> Self {
        let (agent, side) = Builtin::start(exec.map(Into::into)).expect("pipes");
        Self { agent, side, heard: VecDeque::new(), requests: 0 }
    }

    fn send(&mut self, message: &Value) {
        self.side.to.extend([message.to_string().as_str()]);
        self.side.to.write();
        assert_eq!(self.side.to.queued(), 0, "it has room");
    }

    fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.requests += 1;
        let mut request = json!({ "jsonrpc": "2.0", "id": self.requests, "method": method });
        request["params"] = params;
        self.send(&request);
        self.requests
    }

    /// The next message; none once the agent has ended.
    fn hear(&mut self) -> Option<Value> {
        while self.heard.is_empty() && !self.side.from.has_ended() {
            self.heard.extend(self.side.from.read().into_iter().map(|content| {
                let Content::Line(line) = content else { panic!("{content:?}") };
                serde_json::from_str(&line).expect("JSON")
            }));
        }
        self.heard.pop_front()
    }

    /// Asks, and returns what was said before the answer, and the answer.
    fn request(&mut self, method: &str, params: Value) -> (Vec<Value>, Value) {
        let id = self.ask(method, params);
        self.answer(id)
    }

    fn answer(&mut self, id: u64) -> (Vec<Value>, Value) {
        let mut before = Vec::new();
        loop {
            let message = self.hear().expect("an answer");
            if message["id"] == id {
                return (before, message);
            }
            before.push(message);
        }
    }

    fn new_session(&mut self, cwd: &str) -> String {
        let (_, created) = self.request("session/new", json!({ "cwd": cwd, "mcpServers": [] }));
        created["result"]["sessionId"].as_str().expect("an id").to_owned()
    }
}

fn prompt(session: &str, text: &str) -> Value {
    json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] })
}

/// The chunks of agent text among these messages.
fn chunks(messages: &[Value]) -> Vec<&str> {
    let texts = messages.iter().filter(|message| message["method"] == "session/update").map(|message| {
        assert_eq!(message["params"]["update"]["sessionUpdate"], "agent_message_chunk");
        message["params"]["update"]["content"]["text"].as_str().expect("text")
    });
    texts.collect()
}

#[test]
fn says_what_it_can() {
    let (_, answer) = Talk::start(None).request("initialize", json!({ "protocolVersion": 1 }));
    assert_eq!(answer["result"]["protocolVersion"], 1);
    assert_eq!(answer["result"]["agentCapabilities"]["loadSession"], false);
}

#[test]
fn echoes_word_by_word_but_not_what_was_put_before() {
    let mut talk = Talk::start(None);
    let session = talk.new_session("/");
    let rehydrated = json!({ "acp-sessions": { "rehydrated": true } });
    let (before, answer) = talk.request(
        "session/prompt",
        json!({ "sessionId": session, "prompt": [
            { "type": "text", "text": "earlier", "_meta": rehydrated },
            { "type": "text", "text": "Guten  Tag,\nWelt" },
        ] }),
    );
    assert_eq!(chunks(&before), ["Guten ", " ", "Tag,\n", "Welt"]);
    assert_eq!(answer["result"], json!({ "stopReason": "end_turn" }));
}

#[test]
fn bad_requests_are_refused_and_the_next_is_served() {
    let mut talk = Talk::start(None);
    let session = talk.new_session("/");
    let unknown =
        json!({ "sessionId": "none", "modeId": "plan", "configId": "verbosity", "value": "brief", "prompt": [] });
    let cases = [
        ("session/unheard_of", json!({}), -32601),
        ("session/new", json!({}), -32602),
        ("session/new", json!({ "cwd": 5 }), -32602),
        ("session/prompt", json!({ "sessionId": session }), -32602),
        ("session/prompt", json!({ "sessionId": session, "prompt": "hello" }), -32602),
        ("session/set_mode", json!({ "sessionId": session, "modeId": "fly" }), -32602),
        ("session/set_config_option", json!({ "sessionId": session, "configId": "size", "value": "brief" }), -32602),
        ("session/set_config_option", json!({ "sessionId": session, "configId": "verbosity", "value": "x" }), -32602),
        ("session/prompt", unknown.clone(), -32002),
        ("session/set_mode", unknown.clone(), -32002),
        ("session/set_config_option", unknown.clone(), -32002),
        ("session/close", unknown, -32002),
    ];
    for (method, params, code) in cases {
        let (_, answer) = talk.request(method, params);
        assert_eq!(answer["error"]["code"], code, "{method}: {answer}");
        if code == -32002 {
            assert_eq!(answer["error"]["data"]["sessionId"], "none");
        }
    }
    talk.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": {} }));
    talk.send(&json!({ "jsonrpc": "2.0", "id": 99, "result": {} }));
    assert_eq!(talk.request("session/prompt", prompt(&session, "ok")).1["result"]["stopReason"], "end_turn");
}

#[test]
fn modes_and_options_can_be_set() {
    let mut talk = Talk::start(Some("echo $ACP_SESSION_MODE"));
    let session = talk.new_session("/");
    assert_eq!(
        talk.request("session/set_mode", json!({ "sessionId": session, "modeId": "plan" })).1["result"],
        json!({})
    );
    let option = json!({ "sessionId": session, "configId": "verbosity", "value": "brief" });
    let (_, answer) = talk.request("session/set_config_option", option);
    assert_eq!(answer["result"]["configOptions"][0]["currentValue"], "brief");
    let (before, _) = talk.request("session/prompt", prompt(&session, ""));
    assert_eq!(chunks(&before), ["plan\n"]);
}

#[test]
fn a_command_answers_line_by_line() {
    let folder = tempfile::tempdir().expect("a folder");
    let cwd = folder.path().canonicalize().expect("a path");
    let cwd = cwd.to_str().expect("a name");
    let mut talk = Talk::start(Some("pwd; echo $ACP_SESSION_ID; echo $ACP_SESSION_CWD; cat; printf end"));
    let session = talk.new_session(cwd);
    let (before, answer) = talk.request("session/prompt", prompt(&session, "one\ntwo\n"));
    let (here, id) = (format!("{cwd}\n"), format!("{session}\n"));
    assert_eq!(chunks(&before), [&here, &id, &here, "one\n", "two\n", "end"]);
    assert_eq!(answer["result"]["stopReason"], "end_turn");
}

#[test]
fn a_command_that_fails_says_so() {
    let mut talk = Talk::start(Some("echo fine; echo 'no such thing' >&2; exit 7"));
    let session = talk.new_session("/");
    let (before, answer) = talk.request("session/prompt", prompt(&session, "x"));
    let said = chunks(&before).concat();
    assert!(said.starts_with("fine\n") && said.contains("exit status: 7") && said.contains("no such thing"), "{said}");
    assert_eq!(answer["result"]["stopReason"], "end_turn");

    let nowhere = talk.new_session("/no/such/folder");
    let (before, answer) = talk.request("session/prompt", prompt(&nowhere, "x"));
    assert!(chunks(&before).concat().contains("/no/such/folder"));
    assert_eq!(answer["result"]["stopReason"], "end_turn");
}

#[test]
fn a_prompt_can_be_cancelled_while_others_go_on() {
    let mut talk = Talk::start(Some("read what; case $what in wait) echo waiting; sleep 1000;; *) echo $what;; esac"));
    let (one, two) = (talk.new_session("/"), talk.new_session("/"));
    let waiting = talk.ask("session/prompt", prompt(&one, "wait\n"));
    let said = talk.hear().expect("a chunk");
    assert_eq!(chunks(&[said]), ["waiting\n"]);

    assert_eq!(talk.request("session/prompt", prompt(&one, "again\n")).1["error"]["code"], -32600);
    let (before, _) = talk.request("session/prompt", prompt(&two, "hello\n"));
    assert_eq!(chunks(&before), ["hello\n"]);

    talk.send(&json!({ "jsonrpc": "2.0", "method": "session/cancel", "params": { "sessionId": one } }));
    assert_eq!(talk.answer(waiting).1["result"]["stopReason"], "cancelled");
    let (before, _) = talk.request("session/prompt", prompt(&one, "after\n"));
    assert_eq!(chunks(&before), ["after\n"]);
}

#[test]
fn nothing_is_left_running_at_the_end() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut talk = Talk::start(Some("mkfifo pipe; sleep 1000 > pipe & echo started; wait"));
    let session = talk.new_session(folder.path().to_str().expect("a name"));
    let waiting = talk.ask("session/prompt", prompt(&session, "x"));
    assert_eq!(chunks(&[talk.hear().expect("a chunk")]), ["started\n"]);
    let mut pipe = File::open(folder.path().join("pipe")).expect("a pipe");
    assert_eq!(talk.agent.ended(Duration::ZERO), None);
    talk.side.to.close();
    assert_eq!(talk.answer(waiting).1["result"]["stopReason"], "cancelled");
    assert_eq!(talk.hear(), None);
    assert!(talk.agent.ended(Duration::from_mins(1)).is_some());
    // The pipe ends when nobody has it open any more.
    assert_eq!(pipe.read_to_end(&mut Vec::new()).expect("read"), 0);
}
