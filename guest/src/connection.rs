//! One connection: who asked what, which id maps to which, what goes where.
//!
//! The engine sits between a client and an agent. What concerns no session passes through untouched. Each file here
//! is one thing a client or an agent may say; all of them are methods of [`Engine`], which owns the store, the clock
//! and what is to be sent.

mod agent;
mod attach;
mod awaiting;
mod client;
mod close;
mod configure;
mod discover;
mod end;
mod fork;
mod idle;
mod initialize;
mod known;
mod list;
mod memos;
mod new;
mod open;
mod open_session;
mod params;
mod prompt;
mod replay;
mod respond;
mod update;

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::engine::{Engine, Output};
use crate::environment::Environment;
use crate::rpc::{self, Id, RpcError};
use crate::storage::Storage;

use awaiting::Awaiting;
use discover::Discovery;
use fork::Forking;
use initialize::{AgentProfile, Phase};
use open_session::OpenSession;

/// What the engine remembers of a connection. A cache: what must outlive a lost instance is in the store or in memos.
#[derive(Debug)]
pub(crate) struct Connection {
    /// Names this connection in open marks.
    name: String,
    phase: Phase,
    agent: AgentProfile,
    /// Open sessions by the id the client knows.
    sessions: BTreeMap<String, OpenSession>,
    /// The agent's ids of open sessions, to the client's.
    by_agent: BTreeMap<String, String>,
    /// Agent's ids of sessions that were closed on this connection: what still comes for them is dropped.
    gone: BTreeSet<String>,
    /// Requests the agent has not answered yet, the client's under their own ids and the engine's.
    awaiting: BTreeMap<Id, Awaiting>,
    /// Forks that wait for the agent, by the client's request.
    forking: BTreeMap<Id, Forking>,
    /// Updates for sessions the agent has made but not named yet.
    early: VecDeque<String>,
    /// Permission the agent asked for, by its request: the client's id of the session.
    permissions: BTreeMap<Id, String>,
    /// Sessions with a replay under way, the next to serve first.
    replaying: VecDeque<String>,
    discovery: Discovery,
    next_id: u64,
    /// When the buffers were last written.
    flushed: i64,
    /// When retention last looked.
    swept: i64,
    /// Where it goes on, if it was not done.
    sweep_from: Option<String>,
    /// When the last heartbeat was given, if one was.
    beaten: Option<i64>,
    /// Whether the host was told that recording fails.
    warned: bool,
    agent_gone: bool,
}

impl Connection {
    pub(crate) fn new(name: String, now: i64) -> Self {
        Self {
            name,
            phase: Phase::default(),
            agent: AgentProfile::default(),
            sessions: BTreeMap::new(),
            by_agent: BTreeMap::new(),
            gone: BTreeSet::new(),
            awaiting: BTreeMap::new(),
            forking: BTreeMap::new(),
            early: VecDeque::new(),
            permissions: BTreeMap::new(),
            replaying: VecDeque::new(),
            discovery: Discovery::default(),
            next_id: 0,
            flushed: now,
            swept: idle::first_sweep(now),
            sweep_from: None,
            beaten: None,
            warned: false,
            agent_gone: false,
        }
    }
}

/// What a handler made of a line.
#[derive(Debug)]
enum Handled {
    /// Nothing is left to do.
    Done,
    /// The line passes as it is.
    Pass,
    /// This passes instead.
    PassAs(String),
    /// The line has to wait until this session is open.
    Hold(String),
}

/// What a handler returns: an error is answered to the request.
type Handling = Result<Handled, RpcError>;

impl<S: Storage, E: Environment> Engine<S, E> {
    pub(crate) fn warn(&mut self, text: impl Into<String>) {
        self.outputs.push_back(Output::Warn(text.into()));
    }

    fn send_client(&mut self, line: String) {
        self.outputs.push_back(Output::ToClient(line));
    }

    fn send_agent(&mut self, line: String) {
        self.outputs.push_back(Output::ToAgent(line));
    }

    fn answer(&mut self, id: &Id, result: &str) {
        self.send_client(rpc::response(id, result));
    }

    fn refuse(&mut self, id: &Id, error: &RpcError) {
        self.send_client(rpc::failure(id, error));
    }

    /// Tells the client something about a session.
    fn notify(&mut self, session: &str, update: &str) {
        let id = serde_json::Value::from(session);
        self.send_client(rpc::notification("session/update", &format!("{{\"sessionId\":{id},\"update\":{update}}}")));
    }

    /// Asks the agent something on the engine's own account.
    fn ask_agent(&mut self, method: &str, params: &str, awaiting: Awaiting) -> Id {
        self.connection.next_id += 1;
        let id = Id::own(self.connection.next_id);
        self.send_agent(rpc::request(&id, method, params));
        self.connection.awaiting.insert(id.clone(), awaiting);
        id
    }

    fn now(&self) -> i64 {
        self.environment.now().clamp(0, crate::time::LAST)
    }
}
