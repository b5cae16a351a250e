//! A client, an agent and an engine between them, driven by hand.

// Messages are written where they are said; passing them by reference would only add noise.
#![allow(clippy::needless_pass_by_value)]

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::env;

use acp_sessions_corpus::{Numbers, Recorded, Recorder};
use acp_sessions_guest::engine::{Arrival, Content, Output, Peer};
use acp_sessions_guest::environment::{Environment, Repository};
use acp_sessions_guest::storage::{
    self, Bounds, Durability, Expectation, LogPage, Memory, RecordPage, Storage, StorageError, TextHit, TextHits,
    TextPage, TextScope, TextTerm, Write,
};
use serde_json::{Value, json};

/// The environment variable with which all stories are told with instances that are renewed: none may tell that.
const RENEW: &str = "RENEW";
/// Room for any replay.
const ROOM: u32 = u32::MAX;
/// How often a host pulls, and nothing comes, while there is still more to do.
const MOST_IN_VAIN: usize = 100;
/// For how many milliseconds the engine takes it that the program was running, though it was not told meanwhile.
const AWAKE: i64 = 5000;

/// A clock that moves when it is told to, random numbers that are not, and what is recorded of it all.
#[derive(Debug)]
pub(crate) struct World {
    pub(crate) now: Cell<i64>,
    pub(crate) recorder: Recorder,
    /// How often the time was asked for.
    pub(crate) clock_calls: Cell<u32>,
    /// How often a random number was.
    pub(crate) random_calls: Cell<u32>,
    /// What the host knows of folders.
    pub(crate) worktrees: RefCell<BTreeMap<String, Vec<String>>>,
    /// It is still finding out which worktrees there are.
    pub(crate) finds_out: Cell<bool>,
    pub(crate) repositories: RefCell<BTreeMap<String, Repository>>,
    /// How often it was asked.
    pub(crate) folder_calls: Cell<u32>,
    /// Each instance is renewed whenever it is at rest; see [`Desk::renew`].
    renews: bool,
}

impl Default for World {
    fn default() -> Self {
        let renews = env::var_os(RENEW).is_some();
        Self {
            now: Cell::default(),
            recorder: if renews { Recorder::off() } else { Recorder::new("conversation") },
            clock_calls: Cell::default(),
            random_calls: Cell::default(),
            worktrees: RefCell::default(),
            finds_out: Cell::default(),
            repositories: RefCell::default(),
            folder_calls: Cell::default(),
            renews,
        }
    }
}

impl World {
    /// One whose stories are no cases of the corpus.
    pub(crate) fn unrecorded() -> Self {
        Self { recorder: Recorder::off(), ..Self::default() }
    }

    /// The same: in those nobody knows anything of folders.
    pub(crate) fn with_folders() -> Self {
        Self::unrecorded()
    }

    /// What time it is.
    pub(crate) fn time(&self) -> i64 {
        1_760_000_000_000 + self.now.get()
    }
}

/// The world as one engine sees it.
#[derive(Debug)]
pub(crate) struct Seat<'a> {
    world: &'a World,
    numbers: Numbers,
}

impl Environment for Seat<'_> {
    fn now(&self) -> i64 {
        self.world.clock_calls.set(self.world.clock_calls.get() + 1);
        self.world.time()
    }

    fn random(&self) -> u64 {
        self.world.random_calls.set(self.world.random_calls.get() + 1);
        self.numbers.draw()
    }

    fn worktrees(&self, cwd: &str) -> Option<Vec<String>> {
        self.world.folder_calls.set(self.world.folder_calls.get() + 1);
        let is_known = !self.world.finds_out.get();
        is_known.then(|| self.world.worktrees.borrow().get(cwd).cloned().unwrap_or_default())
    }

    fn repository(&self, cwd: &str) -> Option<Repository> {
        self.world.folder_calls.set(self.world.folder_calls.get() + 1);
        self.world.repositories.borrow().get(cwd).cloned()
    }
}

/// A store whose commits and reads fail when they are told to, and which counts what is read of logs.
#[derive(Debug, Default)]
pub(crate) struct Faulty {
    inner: Memory,
    /// How many commits still succeed, how many fail after them, and how.
    fault: RefCell<Option<(usize, usize, StorageError)>>,
    /// What others write just before the next commit.
    meanwhile: RefCell<Vec<Write>>,
    /// Records cannot be read.
    pub(crate) is_unreadable: Cell<bool>,
    /// Logs cannot be read.
    pub(crate) are_logs_unreadable: Cell<bool>,
    /// Records cannot be read any more once something has been written.
    pub(crate) is_unreadable_then: Cell<bool>,
    /// How often records were read.
    pub(crate) looks: Cell<usize>,
    /// How many entries of logs were read.
    pub(crate) entries_read: Cell<usize>,
    /// How often it was given entries of logs, and how many bytes of them and of their texts.
    pub(crate) recordings: Cell<usize>,
    pub(crate) recorded: Cell<usize>,
}

impl Faulty {
    /// After `good` more commits the next `bad` ones fail with this error.
    pub(crate) fn fail(&self, good: usize, bad: usize, error: StorageError) {
        *self.fault.borrow_mut() = Some((good, bad, error));
    }

    /// Others write this just before the next commit.
    pub(crate) fn meanwhile(&self, writes: Vec<Write>) {
        *self.meanwhile.borrow_mut() = writes;
    }

    /// How many records, log entries and texts there are.
    pub(crate) fn counts(&self) -> (usize, usize, usize) {
        self.inner.counts()
    }

    /// Nothing fails any more; says whether anything was still to fail.
    pub(crate) fn mend(&self) -> bool {
        self.fault.borrow_mut().take().is_some()
    }
}

impl Storage for Faulty {
    fn get(&self, keys: &[String]) -> storage::Result<Vec<Option<String>>> {
        self.looks.set(self.looks.get() + 1);
        if self.is_unreadable.get() {
            return Err(StorageError::Unavailable("busy".to_owned()));
        }
        self.inner.get(keys)
    }

    fn scan(&self, start: &str, end: &str, descending: bool, bounds: Bounds) -> storage::Result<RecordPage> {
        // All of it is what the corpus is recorded from.
        self.looks.set(self.looks.get() + usize::from(!start.is_empty()));
        self.inner.scan(start, end, descending, bounds)
    }

    fn log_end(&self, log: &str) -> storage::Result<u32> {
        self.inner.log_end(log)
    }

    fn read_log(&self, log: &str, start: u32, bounds: Bounds) -> storage::Result<LogPage> {
        if self.are_logs_unreadable.get() {
            return Err(StorageError::Unavailable("busy".to_owned()));
        }
        let page = self.inner.read_log(log, start, bounds)?;
        self.entries_read.set(self.entries_read.get() + page.entries.len());
        Ok(page)
    }

    fn search_text(&self, term: &TextTerm, after: Option<&TextHit>, limit: u32) -> storage::Result<TextHits> {
        self.inner.search_text(term, after, limit)
    }

    fn text_owners(&self, after: Option<&str>, limit: u32) -> storage::Result<Vec<String>> {
        self.inner.text_owners(after, limit)
    }

    fn read_texts(&self, owner: &str, start: u32, bounds: Bounds) -> storage::Result<TextPage> {
        self.inner.read_texts(owner, start, bounds)
    }

    fn log_names(&self, after: Option<&str>, limit: u32) -> storage::Result<Vec<String>> {
        self.inner.log_names(after, limit)
    }

    fn find_text(&self, term: &TextTerm, scopes: &[TextScope]) -> storage::Result<Vec<Option<u32>>> {
        self.inner.find_text(term, scopes)
    }

    fn commit(&self, expected: &[Expectation], writes: Vec<Write>, durability: Durability) -> storage::Result<()> {
        let size = |write: &Write| match write {
            Write::Append { value, .. } | Write::Amend { value, .. } => value.len(),
            Write::IndexText { tokens, .. } => tokens.len(),
            _ => 0,
        };
        if writes.iter().any(|write| matches!(write, Write::Append { .. } | Write::Amend { .. })) {
            self.recordings.set(self.recordings.get() + 1);
            self.recorded.set(self.recorded.get() + writes.iter().map(size).sum::<usize>());
        }
        let meanwhile = self.meanwhile.take();
        if !meanwhile.is_empty() {
            self.inner.commit(&[], meanwhile, Durability::Relaxed)?;
        }
        let mut fault = self.fault.borrow_mut();
        match fault.take() {
            Some((0, bad, error)) => {
                *fault = (bad > 1).then(|| (0, bad - 1, error.clone()));
                return Err(error);
            }
            Some((good, bad, error)) => *fault = Some((good - 1, bad, error)),
            None => {}
        }
        self.inner.commit(expected, writes, durability)?;
        self.is_unreadable.set(self.is_unreadable.get() || self.is_unreadable_then.take());
        Ok(())
    }
}

/// How an agent that was killed has ended.
pub(crate) const KILLED: &str = "signal: 9 (SIGKILL)";

/// One connection.
pub(crate) struct Desk<'a, S: Storage = Memory> {
    pub(crate) engine: Recorded<'a, &'a S, S, Seat<'a>>,
    store: &'a S,
    world: &'a World,
    settings: Vec<(String, String)>,
    pub(crate) memos: BTreeMap<String, String>,
    pub(crate) warnings: Vec<String>,
}

/// What came out, parsed.
#[derive(Debug, Default)]
pub(crate) struct Out {
    pub(crate) client: Vec<Value>,
    pub(crate) agent: Vec<Value>,
}

impl Out {
    /// What the agent is asked or told by this method, first.
    pub(crate) fn asked(&self, method: &str) -> Option<&Value> {
        self.agent.iter().find(|message| message["method"] == method)
    }

    /// The same, where it has to be.
    pub(crate) fn request(&self, method: &str) -> Value {
        self.asked(method).unwrap_or_else(|| panic!("the agent is not asked {method}: {:?}", self.agent)).clone()
    }

    /// The answers to a request of the client's: one, if all is well.
    pub(crate) fn answers(&self, id: &Value) -> Vec<&Value> {
        self.client.iter().filter(|message| message["id"] == *id && message.get("method").is_none()).collect()
    }

    /// The one answer to a request of the client's.
    pub(crate) fn answer(&self, id: impl Into<Value>) -> &Value {
        let id = id.into();
        let answers = self.answers(&id);
        assert_eq!(answers.len(), 1, "answers to {id}: {:?}", self.client);
        answers[0]
    }

    /// Whether a request of the client's is not answered yet.
    pub(crate) fn is_open(&self, id: impl Into<Value>) -> bool {
        self.answers(&id.into()).is_empty()
    }

    pub(crate) fn extend(&mut self, later: Self) {
        self.client.extend(later.client);
        self.agent.extend(later.agent);
    }
}

/// An instance over this store.
fn engine<'a, S: Storage>(
    store: &'a S,
    world: &'a World,
    settings: &[(String, String)],
    kept: Vec<(String, String)>,
    lost: Vec<Arrival>,
) -> Recorded<'a, &'a S, S, Seat<'a>> {
    let seat = |instance| Seat { world, numbers: Numbers::of(instance) };
    Recorded::connect(store, store, &world.recorder, seat, settings.to_vec(), kept, lost).unwrap()
}

impl<'a, S: Storage> Desk<'a, S> {
    pub(crate) fn open(store: &'a S, world: &'a World, settings: &[(&str, &str)]) -> Self {
        Self::carry_on(store, world, settings, BTreeMap::new(), Vec::new())
    }

    pub(crate) fn carry_on(
        store: &'a S,
        world: &'a World,
        settings: &[(&str, &str)],
        memos: BTreeMap<String, String>,
        lost: Vec<Arrival>,
    ) -> Self {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let settings: Vec<_> = settings.collect();
        let kept = memos.clone().into_iter().collect();
        let engine = engine(store, world, &settings, kept, lost);
        Self { engine, store, world, settings, memos, warnings: Vec::new() }
    }

    /// A fresh instance takes the place of this one, if it is at rest; says whether it was. Nothing comes of that.
    pub(crate) fn renew(&mut self) -> bool {
        let Some(handed_over) = self.engine.hand_over() else { return false };
        let kept = self.memos.clone().into_iter().chain([("handed-over".to_owned(), handed_over)]);
        self.engine = engine(self.store, self.world, &self.settings, kept.collect(), Vec::new());
        assert_eq!(self.engine.pull(ROOM), []);
        true
    }

    /// A connection that is initialized, in front of an agent with these capabilities.
    pub(crate) fn ready(store: &'a S, world: &'a World, capabilities: &Value) -> Self {
        let mut desk = Self::open(store, world, &[]);
        desk.initialize(capabilities);
        desk
    }

    pub(crate) fn initialize(&mut self, capabilities: &Value) -> Value {
        self.greet(Some("a"), capabilities).client[0]["result"].clone()
    }

    /// `initialize`, answered by an agent of this name.
    pub(crate) fn greet(&mut self, agent: Option<&str>, capabilities: &Value) -> Out {
        let out = self.client(json!({"id": 0, "method": "initialize", "params": {"protocolVersion": 1}}));
        assert_eq!(out.agent.len(), 1);
        let mut result = json!({"protocolVersion": 1, "agentCapabilities": capabilities});
        if let Some(name) = agent {
            result["agentInfo"] = json!({"name": name, "version": "1"});
        }
        self.agent(json!({"id": 0, "result": result}))
    }

    /// The agent is killed, and another is started in its place.
    pub(crate) fn restart(&mut self) -> Out {
        self.engine.agent_restarted(KILLED);
        self.pull()
    }

    /// The same, and the new one answers `initialize`.
    pub(crate) fn revive(&mut self, capabilities: &Value) -> Out {
        let mut out = self.restart();
        let asked = out.request("initialize");
        let info = json!({"name": "a", "version": "1"});
        let result = json!({"protocolVersion": 1, "agentInfo": info, "agentCapabilities": capabilities});
        out.extend(self.reply(&asked, result));
        out
    }

    /// The agent answers a request it was asked.
    pub(crate) fn reply(&mut self, request: &Value, result: Value) -> Out {
        self.agent(json!({"id": request["id"], "result": result}))
    }

    /// The agent refuses a request it was asked.
    pub(crate) fn refuse(&mut self, request: &Value, code: i64) -> Out {
        self.agent(json!({"id": request["id"], "error": {"code": code, "message": "the agent refuses"}}))
    }

    /// So many milliseconds pass, and the engine is told. Of more than a few seconds it takes it that the computer was asleep.
    pub(crate) fn wait(&mut self, milliseconds: i64) -> Out {
        self.world.now.set(self.world.now.get() + milliseconds);
        self.engine.idle();
        self.pull()
    }

    /// So many milliseconds pass while the program is running: the engine is told again and again.
    pub(crate) fn wait_awake(&mut self, milliseconds: i64) -> Out {
        let mut out = Out::default();
        let mut left = milliseconds;
        while left > 0 {
            let step = left.min(AWAKE);
            out.extend(self.wait(step));
            left -= step;
        }
        out
    }

    pub(crate) fn line(&mut self, peer: Peer, line: &str) -> Out {
        self.engine.receive([Arrival { peer, content: Content::Line(line.to_owned()) }]);
        self.pull()
    }

    /// The same for lines that not every program can read, and what comes out as it is.
    pub(crate) fn as_sent(&mut self, peer: Peer, line: &str) -> (Vec<String>, Vec<String>) {
        self.engine.receive([Arrival { peer, content: Content::Line(line.to_owned()) }]);
        self.pull_lines()
    }

    /// The client says something.
    pub(crate) fn client(&mut self, message: Value) -> Out {
        self.line(Peer::Client, &envelope(message))
    }

    /// The agent says something.
    pub(crate) fn agent(&mut self, message: Value) -> Out {
        self.line(Peer::Agent, &envelope(message))
    }

    pub(crate) fn pull(&mut self) -> Out {
        let read = |line: String| serde_json::from_str(&line).unwrap();
        let (client, agent) = self.pull_lines();
        Out { client: client.into_iter().map(read).collect(), agent: agent.into_iter().map(read).collect() }
    }

    /// The lines that go to the client and to the agent, as they are.
    fn pull_lines(&mut self) -> (Vec<String>, Vec<String>) {
        let (mut client, mut agent, mut in_vain) = (Vec::new(), Vec::new(), 0);
        loop {
            let outputs = self.engine.pull(ROOM);
            if outputs.is_empty() {
                if !self.engine.has_more() {
                    if self.world.renews {
                        self.renew();
                    }
                    return (client, agent);
                }
                in_vain += 1;
                assert!(in_vain < MOST_IN_VAIN, "a host would pull for ever");
            }
            for output in outputs {
                match output {
                    Output::ToClient(line) => client.push(line),
                    Output::ToAgent(line) => agent.push(line),
                    Output::Keep { key, value: Some(value) } => {
                        self.memos.insert(key, value);
                    }
                    Output::Keep { key, value: None } => {
                        self.memos.remove(&key);
                    }
                    Output::Warn(text) => self.warnings.push(text),
                }
            }
        }
    }

    /// `session/new`, answered by the agent with this id.
    pub(crate) fn new_session(&mut self, agent_id: &str, cwd: &str) -> String {
        let out = self.client(json!({"id": "new", "method": "session/new", "params": {"cwd": cwd, "mcpServers": []}}));
        assert_eq!(out.agent[0]["method"], "session/new");
        let out = self.agent(json!({"id": "new", "result": {"sessionId": agent_id}}));
        out.client[0]["result"]["sessionId"].as_str().unwrap().to_owned()
    }

    /// A whole turn: the prompt, the agent's answer in pieces, its end.
    pub(crate) fn turn(&mut self, session: &str, prompt: &str, answer: &[&str]) -> Out {
        let prompt = json!([{"type": "text", "text": prompt}]);
        let out = self.client(
            json!({"id": "turn", "method": "session/prompt", "params": {"sessionId": session, "prompt": prompt}}),
        );
        let agent_id = out.agent[0]["params"]["sessionId"].as_str().unwrap().to_owned();
        let mut all = out;
        for text in answer {
            let out = self.agent(update(&agent_id, chunk("agent_message_chunk", text)));
            all.client.extend(out.client);
        }
        let out = self.agent(json!({"id": "turn", "result": {"stopReason": "end_turn"}}));
        all.client.extend(out.client);
        all
    }

    /// A request that the layer answers by itself.
    pub(crate) fn ask(&mut self, method: &str, params: Value) -> Value {
        let out = self.client(json!({"id": "ask", "method": method, "params": params}));
        out.client.into_iter().find(|message| message["id"] == "ask").unwrap_or_else(|| panic!("{method}: no answer"))
    }

    pub(crate) fn listed(&mut self) -> Vec<String> {
        let answer = self.ask("session/list", json!({}));
        let rows = answer["result"]["sessions"].as_array().unwrap();
        rows.iter().map(|row| row["sessionId"].as_str().unwrap().to_owned()).collect()
    }
}

pub(crate) fn envelope(mut message: Value) -> String {
    message["jsonrpc"] = "2.0".into();
    message.to_string()
}

pub(crate) fn update(session: &str, update: Value) -> Value {
    json!({"method": "session/update", "params": {"sessionId": session, "update": update}})
}

pub(crate) fn chunk(kind: &str, text: &str) -> Value {
    json!({"sessionUpdate": kind, "content": {"type": "text", "text": text}})
}

/// The text of all updates of a kind, joined.
pub(crate) fn text_of(messages: &[Value], kind: &str) -> String {
    let updates = messages.iter().map(|message| &message["params"]["update"]);
    updates
        .filter(|update| update["sessionUpdate"] == kind)
        .map(|update| update["content"]["text"].as_str().unwrap())
        .collect()
}
