//! An engine whose calls become the steps of a case.

use acp_sessions_guest::engine::{Arrival, ConnectError, Engine, Output, Peer};
use acp_sessions_guest::environment::{Environment, Repository};
use acp_sessions_guest::storage::Storage;
use serde_json::{Map, Value, json};

use crate::case::{self, Call, Connect};
use crate::recorder::{Noting, Recorder};
use crate::watched::Watched;

/// What a story drives instead of an [`Engine`], by the same calls.
#[derive(Debug)]
pub struct Recorded<'a, S, P, E> {
    engine: Engine<Watched<S, Noting<'a, P>>, Timed<'a, P, E>>,
    recorder: &'a Recorder,
    plain: &'a P,
    instance: u32,
}

/// Notes what time the engine is told.
#[derive(Debug)]
struct Timed<'a, P, E> {
    environment: E,
    recorder: &'a Recorder,
    plain: &'a P,
}

impl<P: Storage, E: Environment> Environment for Timed<'_, P, E> {
    fn now(&self) -> i64 {
        let now = self.environment.now();
        self.recorder.with(self.plain, |tape| tape.note_now(now));
        now
    }

    fn random(&self) -> u64 {
        self.environment.random()
    }

    fn worktrees(&self, cwd: &str) -> Option<Vec<String>> {
        self.environment.worktrees(cwd)
    }

    fn repository(&self, cwd: &str) -> Option<Repository> {
        self.environment.repository(cwd)
    }
}

/// What a step says is to be done.
pub(crate) fn step_value(outputs: &[Output], more: bool, held: bool, full: bool) -> Value {
    let mut step = Map::new();
    if !outputs.is_empty() {
        step.insert("outputs".to_owned(), outputs.iter().map(output_value).collect());
    }
    for (name, holds) in [("more", more), ("held", held), ("full", full)] {
        if holds {
            step.insert(name.to_owned(), true.into());
        }
    }
    Value::Object(step)
}

fn output_value(output: &Output) -> Value {
    match output {
        Output::ToClient(line) => json!({ "to-client": line }),
        Output::ToAgent(line) => json!({ "to-agent": line }),
        Output::Keep { key, value } => json!({ "keep": { "key": key, "value": value } }),
        Output::Warn(text) => json!({ "warn": text }),
    }
}

/// What `connect` returns where it fails.
pub(crate) fn refusal_value(error: &ConnectError) -> Value {
    match error {
        ConnectError::BadSetting(what) => json!({ "error": { "bad-setting": what } }),
        ConnectError::Storage(error) => json!({ "error": { "storage": error.to_string() } }),
    }
}

impl<'a, S: Storage, P: Storage, E: Environment> Recorded<'a, S, P, E> {
    /// As [`Engine::connect`], over `storage`, of which `plain` is what it holds without anything going wrong. The
    /// environment is made for an instance of this number: its random numbers are to be those of [`Numbers`](crate::Numbers).
    pub fn connect(
        storage: S,
        plain: &'a P,
        recorder: &'a Recorder,
        environment: impl FnOnce(u32) -> E,
        settings: Vec<(String, String)>,
        kept: Vec<(String, String)>,
        lost: Vec<Arrival>,
    ) -> Result<Self, ConnectError> {
        let instance = recorder.next_instance();
        recorder.with(plain, |tape| {
            let lost = lost.iter().cloned().map(case::Arrival::from).collect();
            let connect = Connect { settings: settings.clone(), after: None, kept: kept.clone(), lost };
            tape.call(plain, Some(instance), Call::Connect(connect));
        });
        let environment = Timed { environment: environment(instance), recorder, plain };
        let hook = Noting { recorder, plain };
        let engine = Engine::connect(Watched { storage, hook }, environment, settings, kept, lost);
        recorder.with(plain, |tape| tape.returned(plain, engine.as_ref().err().map(refusal_value)));
        Ok(Self { engine: engine?, recorder, plain, instance })
    }

    fn begin(&self, call: impl FnOnce() -> Call) {
        self.recorder.with(self.plain, |tape| tape.call(self.plain, Some(self.instance), call()));
    }

    fn end(&self, returns: Option<Value>) {
        self.recorder.with(self.plain, |tape| tape.returned(self.plain, returns));
    }

    /// As [`Engine::receive`]. To be followed by a [`pull`](Self::pull), which is part of the step.
    pub fn receive(&mut self, arrivals: impl IntoIterator<Item = Arrival>) {
        let arrivals: Vec<_> = arrivals.into_iter().collect();
        self.begin(|| Call::Receive { arrivals: arrivals.iter().cloned().map(Into::into).collect(), client_room: 0 });
        self.engine.receive(arrivals);
    }

    /// As [`Engine::pull`].
    pub fn pull(&mut self, client_room: u32) -> Vec<Output> {
        let is_received = self.recorder.with(self.plain, |tape| tape.is_received_by(self.instance, client_room));
        if is_received == Some(false) {
            self.begin(|| Call::Pull { client_room });
        }
        let outputs = self.engine.pull(client_room);
        self.recorder.with(self.plain, |tape| {
            for output in &outputs {
                if let Output::Keep { key, value } = output {
                    tape.keep(self.instance, key, value.as_deref());
                }
            }
            let (more, held, full) = (self.engine.has_more(), self.engine.has_held(), self.engine.is_full());
            tape.returned(self.plain, Some(step_value(&outputs, more, held, full)));
        });
        outputs
    }

    /// As [`Engine::has_more`].
    pub fn has_more(&self) -> bool {
        self.engine.has_more()
    }

    /// As [`Engine::has_held`].
    pub fn has_held(&self) -> bool {
        self.engine.has_held()
    }

    /// As [`Engine::is_full`].
    pub fn is_full(&self) -> bool {
        self.engine.is_full()
    }

    /// As [`Engine::peer_closed`].
    pub fn peer_closed(&mut self, peer: Peer) {
        self.begin(|| Call::PeerClosed { peer: peer.into() });
        self.engine.peer_closed(peer);
        self.end(None);
    }

    /// As [`Engine::agent_restarted`].
    pub fn agent_restarted(&mut self, how: &str) {
        self.begin(|| Call::AgentRestarted { how: how.to_owned() });
        self.engine.agent_restarted(how);
        self.end(None);
    }

    /// As [`Engine::hand_over`], which is no step of a case: for stories that are not recorded.
    pub fn hand_over(&mut self) -> Option<String> {
        self.engine.hand_over()
    }

    /// As [`Engine::idle`].
    pub fn idle(&mut self) -> Option<u32> {
        self.begin(|| Call::Idle);
        let again = self.engine.idle();
        self.end(again.map(Into::into));
        again
    }
}
