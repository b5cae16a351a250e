use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

use super::{Connection, End, Pipes, RunError, Timing};
use crate::component::connection::{Content, Peer, Setting};
use crate::component::storage::{
    Durability, Error, Expectation, Host, LogPage, RecordPage, TextHit, TextScope, TextTerm, Write,
};
use crate::component::{Component, Limits};
use crate::downstream::{Builtin, Command};
use crate::store::Sqlite;
use crate::transport::inbox::Wanted;
use crate::transport::{Event, Source};

const TIMING: Timing = Timing { flush_after: Duration::from_millis(20), agent_grace: Duration::from_secs(10) };

/// A store that brings the engine down on demand.
struct Faulty {
    store: Sqlite,
    /// So many commits from now on end in a trap.
    traps: Arc<AtomicU32>,
}

type Answer<T> = wasmtime::Result<Result<T, Error>>;

impl Host for Faulty {
    fn get(&mut self, keys: Vec<String>) -> Answer<Vec<Option<String>>> {
        self.store.get(keys)
    }

    fn scan(&mut self, start: String, end: String, descending: bool, limit: u32, bytes: u32) -> Answer<RecordPage> {
        self.store.scan(start, end, descending, limit, bytes)
    }

    fn log_end(&mut self, log: String) -> Answer<u64> {
        self.store.log_end(log)
    }

    fn read_log(&mut self, log: String, start: u64, limit: u32, bytes: u32) -> Answer<LogPage> {
        self.store.read_log(log, start, limit, bytes)
    }

    fn search_text(&mut self, term: TextTerm, after: Option<TextHit>, limit: u32) -> Answer<Vec<TextHit>> {
        self.store.search_text(term, after, limit)
    }

    fn find_text(&mut self, term: TextTerm, scopes: Vec<TextScope>) -> Answer<Vec<Option<u64>>> {
        self.store.find_text(term, scopes)
    }

    fn commit(&mut self, expected: Vec<Expectation>, writes: Vec<Write>, durability: Durability) -> Answer<()> {
        let trapped = self.traps.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        wasmtime::ensure!(trapped.is_err(), "on demand");
        self.store.commit(expected, writes, durability)
    }
}

/// A client of a connection that runs on another thread.
struct Client {
    pipes: Pipes,
    source: Source,
    traps: Arc<AtomicU32>,
    running: JoinHandle<Result<End, RunError>>,
    heard: Vec<Value>,
    requests: u64,
}

impl Client {
    fn connect() -> Self {
        let pipes = Pipes::default();
        let traps = Arc::new(AtomicU32::new(0));
        let storage =
            Faulty { store: Sqlite::builder().in_memory().build().expect("a store"), traps: Arc::clone(&traps) };
        let agent = Box::new(Builtin::start(None, &pipes.inbox, &pipes.agent));
        let running = {
            let pipes = pipes.clone();
            thread::spawn(move || {
                let component = Component::embedded(Limits::default()).expect("an engine");
                Connection::open(&component, storage, vec![], pipes, agent, TIMING)?.run()
            })
        };
        let source = pipes.inbox.source(Peer::Client);
        let mut client = Self { pipes, source, traps, running, heard: Vec::new(), requests: 0 };
        client.request("initialize", json!({ "protocolVersion": 1 }));
        client
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        request["params"] = params;
        self.source.push(&mut vec![Content::Line(request.to_string())], || false);
        loop {
            if let Some(at) = self.heard.iter().position(|message| message["id"] == id) {
                return self.heard.remove(at);
            }
            let mut lines = Vec::new();
            assert!(self.pipes.client.take(&mut lines), "the connection ended");
            self.pipes.client.written(lines.len());
            let lines = String::from_utf8(lines).expect("text");
            self.heard.extend(lines.lines().map(|line| serde_json::from_str::<Value>(line).expect("JSON")));
        }
    }

    fn new_session(&mut self) -> Value {
        self.request("session/new", json!({ "cwd": "/work", "mcpServers": [] }))
    }

    fn listed(&mut self) -> usize {
        self.request("session/list", json!({}))["result"]["sessions"].as_array().expect("a list").len()
    }

    /// Leaves, and says how the connection ended.
    fn leave(self) -> Result<End, RunError> {
        self.source.end();
        self.running.join().expect("no panic")
    }
}

#[test]
fn a_session_goes_through_the_engine_to_the_agent_and_back() {
    let mut client = Client::connect();
    let created = client.new_session();
    let session = created["result"]["sessionId"].as_str().expect("an id").to_owned();
    let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "Hello there" }] });
    assert_eq!(client.request("session/prompt", prompt)["result"]["stopReason"], "end_turn");
    assert_eq!(client.listed(), 1);
    assert!(matches!(client.leave(), Ok(End::ClientGone)));
}

#[test]
fn a_lost_instance_costs_the_request_and_nothing_else() {
    let mut client = Client::connect();
    let session = client.new_session()["result"]["sessionId"].clone();
    for round in 0..5 {
        client.traps.store(1, Ordering::SeqCst);
        let refused = client.new_session();
        assert_eq!(refused["error"]["code"], -32603, "round {round}: {refused}");
        assert_eq!(client.listed(), 1);
        let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "Still there?" }] });
        assert_eq!(client.request("session/prompt", prompt)["result"]["stopReason"], "end_turn");
    }
    assert!(matches!(client.leave(), Ok(End::ClientGone)));
}

#[test]
fn a_request_to_stop_ends_it() {
    let client = Client::connect();
    client.pipes.inbox.stop();
    assert!(matches!(client.running.join().expect("no panic"), Ok(End::Stopped)));
}

#[test]
fn an_agent_that_ends_ends_it() {
    let client = Client::connect();
    client.pipes.agent.close();
    assert!(matches!(client.running.join().expect("no panic"), Ok(End::AgentGone(_))));
}

#[test]
fn a_connection_that_cannot_be_opened_says_why_and_leaves_no_agent() {
    let component = Component::embedded(Limits::default()).expect("an engine");
    let store = Sqlite::builder().in_memory().build().expect("a store");
    let pipes = Pipes::default();
    let stubborn = ["-c".into(), "trap '' TERM; echo ready; while :; do sleep 1000; done".into()];
    let agent = Command::spawn(&"sh".into(), &stubborn, &pipes.inbox, &pipes.agent).expect("started");
    let both = Wanted { client: true, agent: true };
    let ready = pipes.inbox.next(both, None);
    assert!(matches!(ready, Event::Arrived(_)), "{ready:?}");
    let settings = vec![Setting { name: "page-size".into(), value: "many".into() }];
    let opened = Connection::open(&component, store, settings, pipes.clone(), Box::new(agent), TIMING);
    let Err(RunError::Setting(text)) = opened.map(|_| ()) else { panic!("it was taken") };
    assert!(text.contains("page-size"), "{text}");
    // What it had started held its output open: all of it is gone.
    assert_eq!(pipes.inbox.next(both, None), Event::Ended(Peer::Agent));
}
