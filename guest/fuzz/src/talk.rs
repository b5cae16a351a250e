//! An engine between a client and an agent who say whatever the bytes are. Whatever that is, the engine must not panic, what
//! it says must be lines of JSON, and no request may be answered that nobody has made or that was answered before.

use std::cell::Cell;
use std::collections::BTreeMap;

use acp_sessions_guest::engine::{Arrival, Content, Engine, Output, Peer};
use acp_sessions_guest::environment::Environment;
use acp_sessions_guest::sessions::checkup::{self, Checkup, Finding, Mending};
use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::Store;
use serde_json::{Value, json};

use crate::bytes::Bytes;
use crate::phrases;

/// How often a host pulls, at most: an engine that always has more is caught by the fuzzer's time limit otherwise.
const MOST_PULLS: usize = 10_000;

/// A clock that is moved, and numbers that follow from each other.
#[derive(Debug, Clone, Default)]
pub struct World {
    now: Cell<i64>,
    random: Cell<u64>,
}

impl Environment for &World {
    fn now(&self) -> i64 {
        1_760_000_000_000 + self.now.get()
    }

    fn random(&self) -> u64 {
        self.random.set(self.random.get().wrapping_add(0x9e37_79b9_7f4a_7c15));
        self.random.get()
    }
}

/// A request that a side has made and that was not answered.
#[derive(Debug, Clone)]
struct Asked {
    id: Value,
    method: String,
}

/// One conversation.
#[derive(Debug)]
pub struct Talk<'a> {
    memory: &'a Memory,
    world: &'a World,
    engine: Option<Engine<&'a Memory, &'a World>>,
    /// What the host keeps for the next instance.
    kept: BTreeMap<String, String>,
    /// What the client has asked, and the engine or the agent is to answer.
    by_client: Vec<Asked>,
    /// What the agent was asked.
    of_agent: Vec<Asked>,
    /// What the agent has asked.
    by_agent: Vec<Asked>,
    /// What the client was asked.
    of_client: Vec<Asked>,
    /// Somebody has said what is not understood here, which may have been a request.
    has_said_anything: bool,
}

impl<'a> Talk<'a> {
    /// On a store that may have something in it; the client begins with `initialize`.
    pub fn new(memory: &'a Memory, world: &'a World) -> Self {
        let engine = Engine::connect(memory, world, [], Vec::new(), Vec::new()).expect("no settings are wrong");
        let mut talk = Self {
            memory,
            world,
            engine: Some(engine),
            kept: BTreeMap::new(),
            by_client: Vec::new(),
            of_agent: Vec::new(),
            by_agent: Vec::new(),
            of_client: Vec::new(),
            has_said_anything: false,
        };
        talk.ask(Peer::Client, json!(0), "initialize", json!({"protocolVersion": 1}));
        talk
    }

    /// Something happens.
    pub fn step(&mut self, bytes: &mut Bytes<'_>) {
        match bytes.next() % 13 {
            0..=2 => {
                let id = phrases::id(bytes);
                // Who uses an id twice may be answered twice.
                if self.by_client.iter().all(|asked| asked.id != id) {
                    let (method, params) = phrases::request(bytes);
                    self.ask(Peer::Client, id, method, params);
                }
            }
            3 => self.say(Peer::Client, &phrases::notification(bytes).to_string()),
            4 | 5 => self.answer(Peer::Agent, bytes),
            6 | 7 => self.say(Peer::Agent, &phrases::update(bytes).to_string()),
            8 => {
                let id = phrases::id(bytes);
                if self.by_agent.iter().all(|asked| asked.id != id) {
                    let (method, params) = phrases::asked_of_client(bytes);
                    self.ask(Peer::Agent, id, method, params);
                }
            }
            9 => self.answer(Peer::Client, bytes),
            10 => {
                self.world.now.set(self.world.now.get() + (i64::from(bytes.next()) << (bytes.next() % 24)));
                self.engine().idle();
                self.pull();
            }
            11 => self.lose(),
            _ => {
                self.has_said_anything = true;
                let peer = bytes.of(&[Peer::Client, Peer::Agent]);
                // What lacks its middle has a line feed there.
                let text = bytes.text();
                let content = match bytes.next() % 4 {
                    0 => Content::TooLong(text),
                    1 => Content::NotText(text),
                    2 => Content::NotBearable(text),
                    _ => Content::Line(text.replace('\n', " ")),
                };
                self.arrive(Arrival { peer, content });
            }
        }
    }

    /// Both sides end.
    pub fn end(mut self) {
        for peer in [Peer::Client, Peer::Agent] {
            self.engine().peer_closed(peer);
            self.pull();
        }
        self.engine().idle();
        self.pull();
    }

    /// A request, by whoever makes it.
    pub fn ask(&mut self, peer: Peer, id: Value, method: &str, params: Value) {
        let line = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}).to_string();
        let asked = Asked { id, method: method.to_owned() };
        match peer {
            Peer::Client => self.by_client.push(asked),
            Peer::Agent => self.by_agent.push(asked),
        }
        self.say(peer, &line);
    }

    fn answer(&mut self, peer: Peer, bytes: &mut Bytes<'_>) {
        let waiting = match peer {
            Peer::Agent => &mut self.of_agent,
            Peer::Client => &mut self.of_client,
        };
        if waiting.is_empty() {
            return;
        }
        let Asked { id, method } = waiting.remove(usize::from(bytes.next()) % waiting.len());
        let line = match bytes.next() % 6 {
            0 => {
                let code = bytes.of(&[-32603, -32000, -32602, -32002, -32601]);
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": bytes.text()}})
            }
            1 => json!({"id": id, "result": phrases::odd(bytes), "error": phrases::odd(bytes)}),
            _ => json!({"jsonrpc": "2.0", "id": id, "result": phrases::result(&method, bytes)}),
        };
        self.say(peer, &line.to_string());
    }

    fn say(&mut self, peer: Peer, line: &str) {
        self.arrive(Arrival { peer, content: Content::Line(line.to_owned()) });
    }

    fn arrive(&mut self, arrival: Arrival) {
        self.engine().receive([arrival]);
        self.pull();
    }

    /// The instance is lost between two calls, and another takes its place.
    fn lose(&mut self) {
        self.engine = None;
        let kept = self.kept.clone().into_iter().collect();
        let engine = Engine::connect(self.memory, self.world, [], kept, Vec::new()).expect("no settings are wrong");
        self.engine = Some(engine);
        self.pull();
    }

    fn engine(&mut self) -> &mut Engine<&'a Memory, &'a World> {
        self.engine.as_mut().expect("there is one between all steps")
    }

    fn pull(&mut self) {
        for _ in 0..MOST_PULLS {
            for output in self.engine().pull(u32::MAX) {
                self.take(output);
            }
            if !self.engine().has_more() {
                return;
            }
        }
        panic!("an engine that always has more");
    }

    fn take(&mut self, output: Output) {
        match output {
            Output::Keep { key, value: Some(value) } => drop(self.kept.insert(key, value)),
            Output::Keep { key, value: None } => drop(self.kept.remove(&key)),
            Output::Warn(_) => {}
            Output::ToClient(line) => {
                let is_expected = hear(&line, &mut self.of_client, &mut self.by_client);
                assert!(is_expected || self.has_said_anything, "the client is sent an answer to nothing: {line}");
            }
            Output::ToAgent(line) => {
                let is_expected = hear(&line, &mut self.of_agent, &mut self.by_agent);
                assert!(is_expected || self.has_said_anything, "the agent is sent an answer to nothing: {line}");
            }
        }
    }
}

/// What a side is sent: a request, or the answer to one of its own; whether it has asked.
fn hear(line: &str, asked: &mut Vec<Asked>, own: &mut Vec<Asked>) -> bool {
    assert!(!line.contains('\n'), "two lines: {line:?}");
    // What passes is passed as it is, right or wrong.
    let Ok(message) = serde_json::from_str::<Value>(line) else { return true };
    let id = message.get("id").cloned().unwrap_or_default();
    match message.get("method").and_then(Value::as_str) {
        Some(method) if !id.is_null() => asked.push(Asked { id, method: method.to_owned() }),
        Some(_) => {}
        None => match own.iter().position(|asked| asked.id == id) {
            Some(place) => drop(own.remove(place)),
            None => return false,
        },
    }
    true
}

/// Puts a few sessions into a store: with turns, a fork, a title, one archived, one deleted, one of the agent's own.
pub fn past(memory: &Memory, world: &World) {
    let mut talk = Talk::new(memory, world);
    let place = |id: &str| json!({"sessionId": id, "cwd": "/a", "mcpServers": []});
    let prompt = |id: &str| json!({"sessionId": id, "prompt": [{"type": "text", "text": "a walrus"}]});
    let requests = [
        ("session/new", place(""), json!({"sessionId": "s1"})),
        ("session/prompt", prompt("s1"), json!({"stopReason": "end_turn"})),
        ("session/new", place(""), json!({"sessionId": "s2"})),
        ("session/prompt", prompt("s2"), json!({"stopReason": "end_turn"})),
        ("session/new", place(""), json!({"sessionId": "s3"})),
        ("session/set_title", json!({"sessionId": "s1", "title": "a title"}), json!({})),
        ("session/fork", place("s1"), json!({"sessionId": "s4"})),
        ("session/archive", json!({"sessionId": "s2"}), json!({})),
        ("session/delete", json!({"sessionId": "s3"}), json!({})),
    ];
    let row = json!({"sessionId": "own", "cwd": "/a", "updatedAt": "2025-10-09T08:53:20Z"});
    let can = json!({"list": {}, "fork": {}});
    let introduced = json!({"protocolVersion": 1, "agentCapabilities": {"sessionCapabilities": can}});
    talk.answer_all(&introduced, &json!({"sessions": [row]}));
    for (nth, (method, params, result)) in requests.into_iter().enumerate() {
        talk.ask(Peer::Client, json!(100 + nth), method, params);
        let update = json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": "otter"}});
        let told =
            json!({"jsonrpc": "2.0", "method": "session/update", "params": {"sessionId": "s1", "update": update}});
        talk.say(Peer::Agent, &told.to_string());
        talk.answer_all(&result, &json!({"sessions": [row]}));
    }
    talk.end();
}

impl Talk<'_> {
    /// Answers what the agent was asked: lists with the one, everything else with the other.
    fn answer_all(&mut self, result: &Value, list: &Value) {
        while let Some(Asked { id, method }) = self.of_agent.pop() {
            let result = if method == "session/list" { list } else { result };
            self.say(Peer::Agent, &json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
        }
    }
}

/// Checks a whole store; what was found.
pub fn check(memory: &Memory, mending: Mending) -> Vec<Finding> {
    let store = Store::new(memory);
    let (mut findings, mut cursor) = (Vec::new(), None);
    for _ in 0..MOST_PULLS {
        let checked = checkup::check(&store, mending, cursor.as_deref(), 100, 1_760_000_000_000);
        let Checkup { findings: found, next, .. } = checked.expect("memory fails never");
        findings.extend(found);
        cursor = next;
        if cursor.is_none() {
            return findings;
        }
    }
    panic!("a checkup that does not end");
}
