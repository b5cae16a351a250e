use std::io::{BufRead as _, BufReader, PipeReader, PipeWriter, Write as _, pipe};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::{Value, json};

use super::{Connection, End, Ends, Restart, RunError, Started, Timing};
use crate::component::connection::{Content, Setting};
use crate::component::storage::{
    Durability, Expectation, Host, LogPage, RecordPage, StorageError, TextHit, TextHits, TextPage, TextScope, TextTerm,
    Write,
};
use crate::component::{Component, Limits};
use crate::downstream::{Agent, Builtin, Command};
use crate::engine::EngineError;
use crate::store::{Sqlite, Upkeep};
use crate::transport::{Input, Output, Side};

const TIMING: Timing = Timing { flush_after: Duration::from_millis(20), agent_grace: Duration::from_secs(10) };

/// A store that brings the engine down on demand.
struct Faulty {
    store: Sqlite,
    /// So many commits from now on end in a trap.
    traps: Arc<AtomicU32>,
}

type Answer<T> = wasmtime::Result<Result<T, StorageError>>;

impl Host for Faulty {
    fn get(&mut self, keys: Vec<String>) -> Answer<Vec<Option<String>>> {
        self.store.get(keys)
    }

    fn scan(&mut self, start: String, end: String, descending: bool, limit: u32, bytes: u32) -> Answer<RecordPage> {
        self.store.scan(start, end, descending, limit, bytes)
    }

    fn log_end(&mut self, log: String) -> Answer<u32> {
        self.store.log_end(log)
    }

    fn read_log(&mut self, log: String, start: u32, limit: u32, bytes: u32) -> Answer<LogPage> {
        self.store.read_log(log, start, limit, bytes)
    }

    fn search_text(&mut self, term: TextTerm, after: Option<TextHit>, limit: u32) -> Answer<TextHits> {
        self.store.search_text(term, after, limit)
    }

    fn find_text(&mut self, term: TextTerm, scopes: Vec<TextScope>) -> Answer<Vec<Option<u32>>> {
        self.store.find_text(term, scopes)
    }

    fn text_owners(&mut self, after: Option<String>, limit: u32) -> Answer<Vec<String>> {
        self.store.text_owners(after, limit)
    }

    fn read_texts(&mut self, owner: String, start: u32, limit: u32, max_bytes: u32) -> Answer<TextPage> {
        self.store.read_texts(owner, start, limit, max_bytes)
    }

    fn log_names(&mut self, after: Option<String>, limit: u32) -> Answer<Vec<String>> {
        self.store.log_names(after, limit)
    }

    fn commit(&mut self, expected: Vec<Expectation>, writes: Vec<Write>, durability: Durability) -> Answer<()> {
        let trapped = self.traps.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1));
        wasmtime::ensure!(trapped.is_err(), "on demand");
        self.store.commit(expected, writes, durability)
    }
}

impl Upkeep for Faulty {}

/// A client of a connection that runs on another thread.
struct Client {
    to: PipeWriter,
    from: BufReader<PipeReader>,
    stop: PipeWriter,
    traps: Arc<AtomicU32>,
    running: JoinHandle<Result<End, RunError>>,
    heard: Vec<Value>,
    requests: u64,
}

/// The ends of a connection with this agent, and what a client has of them.
fn ends(agent: (impl Agent + 'static, Side)) -> (Ends, PipeWriter, PipeReader, PipeWriter) {
    let ((from_client, to), (from, to_client), (stop, asked)) =
        (pipe().expect("a pipe"), pipe().expect("a pipe"), pipe().expect("a pipe"));
    let client = Side { from: Input::new(from_client, 16 << 20), to: Output::new(to_client) };
    (Ends { client, agent: agent.1, downstream: Box::new(agent.0), restart: None, stop: stop.into() }, to, from, asked)
}

impl Client {
    fn connect(agent: (impl Agent + 'static, Side)) -> Self {
        Self::connect_with(agent, Sqlite::builder().in_memory().build().expect("a store"), Limits::default())
    }

    /// With an agent in whose place the built-in one is started when it has ended. The engine is not told of the time, so that
    /// it writes at no other.
    fn connect_restarting(agent: (impl Agent + 'static, Side)) -> Self {
        let restart = Restart::by(|| -> std::io::Result<Started> {
            let (agent, side) = Builtin::start(None)?;
            Ok((Box::new(agent), side))
        });
        let (mut ends, to, from, stop) = ends(agent);
        ends.restart = Some(restart);
        let store = Sqlite::builder().in_memory().build().expect("a store");
        let timing = Timing { flush_after: Duration::from_hours(1), ..TIMING };
        Self::connect_ends((ends, to, from, stop), store, Limits::default(), timing)
    }

    fn connect_with(agent: (impl Agent + 'static, Side), store: Sqlite, limits: Limits) -> Self {
        Self::connect_ends(ends(agent), store, limits, TIMING)
    }

    fn connect_ends(
        (ends, to, from, stop): (Ends, PipeWriter, PipeReader, PipeWriter),
        store: Sqlite,
        limits: Limits,
        timing: Timing,
    ) -> Self {
        let traps = Arc::new(AtomicU32::new(0));
        let storage = Faulty { store, traps: Arc::clone(&traps) };
        let running = thread::spawn(move || {
            let component = Component::embedded(limits).expect("an engine");
            Connection::open(&component, storage, vec![], ends, timing)?.run()
        });
        let mut client = Self { to, from: BufReader::new(from), stop, traps, running, heard: Vec::new(), requests: 0 };
        client.request("initialize", json!({ "protocolVersion": 1 }));
        client
    }

    fn with_builtin() -> Self {
        Self::connect(Builtin::start(None).expect("pipes"))
    }

    fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.ask(method, params);
        self.read_until(|message| message["id"] == id)
    }

    fn ask(&mut self, method: &str, params: Value) -> u64 {
        self.requests += 1;
        let id = self.requests;
        let mut request = json!({ "jsonrpc": "2.0", "id": id, "method": method });
        request["params"] = params;
        writeln!(self.to, "{request}").expect("it listens");
        id
    }

    fn read_until(&mut self, is_it: impl Fn(&Value) -> bool) -> Value {
        loop {
            if let Some(at) = self.heard.iter().position(&is_it) {
                return self.heard.remove(at);
            }
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).expect("text") > 0, "the connection ended");
            self.heard.push(serde_json::from_str(&line).expect("JSON"));
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
        drop(self.to);
        self.running.join().expect("no panic")
    }
}

#[test]
fn a_session_goes_through_the_engine_to_the_agent_and_back() {
    let mut client = Client::with_builtin();
    let created = client.new_session();
    let session = created["result"]["sessionId"].as_str().expect("an id").to_owned();
    let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "Hello there" }] });
    assert_eq!(client.request("session/prompt", prompt)["result"]["stopReason"], "end_turn");
    assert_eq!(client.listed(), 1);
    assert!(matches!(client.leave(), Ok(End::ClientGone)));
}

#[test]
fn a_lost_instance_costs_the_request_and_nothing_else() {
    let mut client = Client::with_builtin();
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
fn a_line_that_brings_every_instance_down_fails_and_nothing_else_does() {
    let store = Sqlite::builder().in_memory().build().expect("a store");
    let limits = Limits { memory: 8 << 20, ..Limits::default() };
    let mut client = Client::connect_with(Builtin::start(None).expect("pipes"), store, limits);
    let session = client.new_session()["result"]["sessionId"].clone();
    let prompt = |text: &str| json!({ "sessionId": session, "prompt": [{ "type": "text", "text": text }] });
    for _ in 0..2 {
        let refused = client.request("session/prompt", prompt(&"字".repeat(4 << 20)));
        assert_eq!(refused["error"]["code"], -32603, "{refused}");
        assert_eq!(client.request("session/prompt", prompt("Hello"))["result"]["stopReason"], "end_turn");
    }
    assert_eq!(client.listed(), 1);
    assert!(matches!(client.leave(), Ok(End::ClientGone)));
}

#[test]
fn a_store_that_others_hold_for_long_is_unavailable_and_no_call_takes_too_long() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("s.db");
    let store = Sqlite::builder().file(&path).busy_for(Duration::from_secs(1)).build().expect("a store");
    let limits = Limits { call_seconds: 3, ..Limits::default() };
    let mut client = Client::connect_with(Builtin::start(None).expect("pipes"), store, limits);
    let sessions: Vec<Value> = (0..6).map(|_| client.new_session()["result"]["sessionId"].clone()).collect();
    let prompt = |session: &Value| json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "Hello" }] });

    let other = rusqlite::Connection::open(&path).expect("a database");
    other.execute_batch("BEGIN IMMEDIATE").expect("locked");
    for session in &sessions {
        let answer = client.request("session/prompt", prompt(session));
        assert_eq!(answer["result"]["_meta"]["acp-sessions"]["stored"], false, "{answer}");
    }
    // Each of them is tried again when time passes, in one call.
    thread::sleep(Duration::from_secs(2));
    other.execute_batch("ROLLBACK").expect("unlocked");

    for session in &sessions {
        let answer = client.request("session/prompt", prompt(session));
        assert_eq!(answer["result"]["_meta"]["acp-sessions"]["storedAgain"], true, "{answer}");
        let load = json!({ "sessionId": session, "cwd": "/work", "mcpServers": [] });
        client.heard.clear();
        client.request("session/load", load);
        let prompts = client.heard.iter().filter(|line| line.to_string().contains("user_message_chunk")).count();
        assert_eq!(prompts, 2, "{:?}", client.heard);
    }
    assert!(matches!(client.leave(), Ok(End::ClientGone)));
}

#[test]
fn what_a_client_sends_before_it_leaves_is_done() {
    // In how many ways the answers and the end meet is a matter of chance.
    for round in 0..20 {
        let (ends, mut to, from, _stop) = ends(Builtin::start(None).expect("pipes"));
        let running = thread::spawn(move || {
            let component = Component::embedded(Limits::default()).expect("an engine");
            let store = Sqlite::builder().in_memory().build().expect("a store");
            Connection::open(&component, store, vec![], ends, TIMING)?.run()
        });
        let requests = [
            ("initialize", json!({ "protocolVersion": 1 })),
            ("session/new", json!({ "cwd": "/work", "mcpServers": [] })),
            ("session/list", json!({})),
        ];
        for (id, (method, params)) in requests.iter().enumerate() {
            writeln!(to, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
                .expect("room");
        }
        drop(to);
        let answers: Vec<Value> = BufReader::new(from)
            .lines()
            .map(|line| serde_json::from_str(&line.expect("text")).expect("JSON"))
            .collect();
        assert_eq!(answers.len(), 3, "round {round}: {answers:?}");
        assert_eq!(answers[2]["result"]["sessions"].as_array().map(Vec::len), Some(1), "round {round}: {answers:?}");
        assert!(matches!(running.join().expect("no panic"), Ok(End::ClientGone)));
    }
}

#[test]
fn what_waits_for_an_agent_does_not_keep_the_end_of_its_input_from_it() {
    const LOADING: &str = r#"
        while read -r line; do
            id=$(printf '%s' "$line" | sed 's/.*"id":\([^,}]*\).*/\1/')
            can='{"loadSession":true}'
            case $line in
                *initialize*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1,"agentCapabilities":'$can'}}' ;;
            esac
        done"#;
    let load = json!({ "sessionId": "s1", "cwd": "/work", "mcpServers": [] });
    let mode = json!({ "sessionId": "s1", "modeId": "m" });
    let prompt = json!({ "sessionId": "s1", "prompt": [{ "type": "text", "text": "Hello" }] });
    for (script, next) in [
        // It is slow to answer `initialize`, or to load.
        ("while read -r line; do :; done", vec![("session/load", &load)]),
        ("while read -r line; do :; done", vec![("session/list", &load)]),
        (LOADING, vec![("session/load", &load), ("session/set_mode", &mode)]),
        (LOADING, vec![("session/load", &load), ("session/prompt", &prompt)]),
    ] {
        // It ends by itself only, as it sees the end of its input.
        let timing = Timing { agent_grace: Duration::from_hours(1), ..TIMING };
        let (ends, mut to, from, _stop) = ends(shell(script));
        let running = thread::spawn(move || {
            let component = Component::embedded(Limits::default()).expect("an engine");
            let store = Sqlite::builder().in_memory().build().expect("a store");
            Connection::open(&component, store, vec![], ends, timing)?.run()
        });
        let initialize = json!({ "protocolVersion": 1 });
        for (id, (method, params)) in [("initialize", &initialize)].iter().chain(&next).enumerate() {
            writeln!(to, "{}", json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }))
                .expect("room");
        }
        drop(to);
        assert!(matches!(running.join().expect("no panic"), Ok(End::ClientGone)), "{script}");
        drop(from);
    }
}

#[test]
fn a_request_to_stop_ends_it() {
    let mut client = Client::with_builtin();
    client.stop.write_all(b"x").expect("room");
    assert!(matches!(client.running.join().expect("no panic"), Ok(End::Stopped)));
}

/// An agent that makes one session and, when it is prompted, says which process it is, and no more.
const WAITING: &str = r#"
    while read -r line; do
        id=$(printf '%s' "$line" | sed 's/.*"id":\([^,}]*\).*/\1/')
        says='{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"'$$'"}}'
        case $line in
            *initialize*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"protocolVersion":1,"agentCapabilities":{}}}' ;;
            *session/new*) echo '{"jsonrpc":"2.0","id":'$id',"result":{"sessionId":"s1"}}' ;;
            *session/prompt*)
                echo '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s1","update":'$says'}}' ;;
        esac
    done"#;

fn shell(script: &str) -> (Command, Side) {
    Command::spawn(&"sh".into(), &["-c".into(), script.into()]).expect("started")
}

#[test]
fn an_agent_that_ends_ends_it() {
    // With and without something left behind that holds its output open.
    for script in
        ["read line; echo bye; exit 3", "setsid sh -c 'echo out; exec sleep 5' < /dev/null & read line; exit 3"]
    {
        let client = Client::connect(shell(script));
        let end = client.running.join().expect("no panic");
        assert!(matches!(&end, Ok(End::AgentGone(how)) if how == "exit status: 3"), "{end:?}");
    }
}

#[test]
fn another_agent_is_started_in_the_place_of_one_that_ends() {
    // By itself, in whatever way, or because it has closed its output.
    for script in ["read line; exit 0", "read line; exit 3", "kill -9 $$", "exec >&-; sleep 60"] {
        let mut client = Client::connect_restarting(shell(script));
        let session = client.new_session()["result"]["sessionId"].clone();
        let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "Hello" }] });
        assert_eq!(client.request("session/prompt", prompt)["result"]["stopReason"], "end_turn", "{script}");
        assert!(matches!(client.leave(), Ok(End::ClientGone)), "{script}");
    }
}

#[test]
fn an_engine_that_is_lost_as_it_is_told_that_the_agent_has_ended_is_told_again() {
    let mut client = Client::connect_restarting(shell(WAITING));
    let session = client.new_session()["result"]["sessionId"].clone();
    let prompt = json!({ "sessionId": session, "prompt": [{ "type": "text", "text": "Hello" }] });
    let turn = client.ask("session/prompt", prompt.clone());
    let update = client.read_until(|message| message["method"] == "session/update");
    let agent = update["params"]["update"]["content"]["text"].as_str().and_then(|text| text.parse().ok());
    // The end of the turn is what is not written at first.
    client.traps.store(1, Ordering::SeqCst);
    kill_process(agent.and_then(Pid::from_raw).expect("a process"), Signal::KILL).expect("it runs");
    let error = client.read_until(|message| message["id"] == turn)["error"].clone();
    assert!(error["message"].as_str().is_some_and(|text| text.contains("was started again")), "{error}");
    assert_eq!(client.traps.load(Ordering::SeqCst), 0, "an instance was lost with it");
    assert_eq!(client.request("session/prompt", prompt)["result"]["stopReason"], "end_turn");
    assert!(matches!(client.leave(), Ok(End::ClientGone)));
}

#[test]
fn a_connection_that_cannot_be_opened_says_why_and_leaves_no_agent() {
    let component = Component::embedded(Limits::default()).expect("an engine");
    let store = Sqlite::builder().in_memory().build().expect("a store");
    let (agent, mut side) = shell("trap '' TERM; echo $$; while :; do sleep 1000; done");
    let process = loop {
        if let Some(Content::Line(line)) = side.from.read().pop() {
            break line.parse().ok().and_then(Pid::from_raw).expect("a process");
        }
    };
    let (ends, _to, _from, _stop) = ends((agent, side));
    let settings = vec![Setting { name: "page-size".into(), value: "many".into() }];
    let opened = Connection::open(&component, store, settings, ends, TIMING);
    let Err(RunError::Engine(EngineError::Setting(text))) = opened.map(|_| ()) else { panic!("it was taken") };
    assert!(text.contains("page-size"), "{text}");
    assert_eq!(test_kill_process(process), Err(Errno::SRCH));
}
