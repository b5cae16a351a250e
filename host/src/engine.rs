//! The engine of one connection, which outlives its instances.
//!
//! A trap makes an instance useless, so all that it must not forget is kept out here: its memos, and the lines that it
//! was working on. A fresh instance takes them up: what it was working on is answered with an error, everything else goes on.

mod unanswered;

use std::collections::BTreeMap;

use crate::component::connection::{Arrival, ConnectError, Content, Memo, Output, Peer, Setting, Step};
use crate::component::{Component, Instance, storage};
use crate::store::Upkeep;
use crate::transport::lines::without_middle;
use unanswered::{Refusal, refusals};

/// How often in a row an instance is replaced without anything new having arrived.
const MOST_RESTARTS: u32 = 3;
/// By how many bytes an instance may grow for good: one that has grown by more, as long lines make it, hands over to a fresh one when
/// it is at rest.
const MOST_GROWTH: usize = 32 << 20;
/// Under which key a fresh instance is given what another has handed over.
const HANDED_OVER: &str = "handed-over";

/// Why an engine cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// A setting was refused.
    #[error("{0}")]
    Setting(String),
    /// The engine could not read or write the store.
    #[error("{0}")]
    Storage(String),
    /// No instance of it could be made.
    #[error("the session engine cannot be started: {}", .0.root_cause())]
    NotStarted(wasmtime::Error),
    /// Its first instance failed as the connection was opened.
    #[error("the session engine failed as the connection was opened: {}", .0.root_cause())]
    FailedAtStart(wasmtime::Error),
    /// Its instances were lost again and again.
    #[error("the session engine failed {} times in a row: {}", MOST_RESTARTS + 1, .0.root_cause())]
    Lost(wasmtime::Error),
}

impl From<ConnectError> for EngineError {
    fn from(error: ConnectError) -> Self {
        match error {
            ConnectError::BadSetting(text) => Self::Setting(text),
            ConnectError::Storage(text) => Self::Storage(text),
        }
    }
}

/// The engine of one connection.
///
/// Lines go in as they come from either side, and what follows comes out as a [`Step`]. [`pull`](Self::pull) takes what there
/// is more of, and [`idle`](Self::idle) is to be called as it says. `examples/lines.rs` shows the loop; `runner/connection.rs`
/// also bounds how long it waits for what is `held`, takes nothing more while a step is `full`, and sends what
/// [`take_refused`](Self::take_refused) has.
pub struct Engine<'c, S: storage::Host + Upkeep + Send + 'static> {
    component: &'c Component<S>,
    settings: Vec<Setting>,
    /// None only while it is being replaced, and for good once that has failed.
    instance: Option<Instance<'c, S>>,
    /// How many bytes of memory it had when it had begun or taken up the connection.
    first_size: usize,
    kept: BTreeMap<String, String>,
    /// Bytes of these.
    kept_bytes: usize,
    /// Given to the instance, and what follows from it was not pulled yet.
    unfinished: Vec<Arrival>,
    closed: Vec<Peer>,
    /// How the agent has ended that was started again, while what follows from that was not pulled yet.
    restarted: Option<String>,
    losses: u32,
    /// The requests among what is unfinished, as long as it may come to be dropped.
    asked: Vec<Refusal>,
    /// Those that were dropped: nobody but the host can answer them.
    refused: Vec<Refusal>,
}

/// How much the sides take by now.
#[derive(Debug, Clone, Copy)]
pub struct Room {
    /// Bytes of a replay, and of other answers that can wait, that the client has room for.
    pub client: u32,
    /// Bytes that wait to be written to either side already; with what a step adds they are held to
    /// [`Limits::output`](crate::component::Limits::output).
    pub waiting: usize,
}

/// The beginning of a line and its end.
fn shortened(Arrival { peer, content }: Arrival) -> Arrival {
    let text = match content {
        Content::Line(text) => without_middle(text.as_bytes()),
        // What is over the limit is shortened already, which a line feed tells.
        Content::NotText(text) if !text.contains('\n') => without_middle(text.as_bytes()),
        Content::NotText(text) | Content::TooLong(text) | Content::NotBearable(text) => text,
    };
    Arrival { peer, content: Content::NotBearable(text) }
}

/// What a memo takes.
fn size(key: &str, value: &str) -> usize {
    key.len() + value.len()
}

impl<'c, S: storage::Host + Upkeep + Send + 'static> Engine<'c, S> {
    /// Opens a connection over this storage. The settings are listed in `docs/embedding.md`; one that is not given has its default.
    pub fn connect(component: &'c Component<S>, storage: S, settings: Vec<Setting>) -> Result<Self, EngineError> {
        let mut instance = component.instantiate(storage).map_err(EngineError::NotStarted)?;
        instance.connect(&settings, &[], &[]).map_err(EngineError::FailedAtStart)??;
        Ok(Self {
            component,
            settings,
            first_size: instance.memory(),
            instance: Some(instance),
            kept: BTreeMap::new(),
            kept_bytes: 0,
            unfinished: Vec::new(),
            closed: Vec::new(),
            restarted: None,
            losses: 0,
            asked: Vec::new(),
            refused: Vec::new(),
        })
    }

    /// Hands over what arrived, and returns what follows, as [`pull`](Self::pull) does. What has arrived from both sides
    /// goes in one after the other, in the order in which it came.
    pub fn receive(&mut self, arrivals: Vec<Arrival>, room: Room) -> Result<Step, EngineError> {
        self.losses = 0;
        let received = self.instance.as_mut().map(|instance| instance.receive(&arrivals, room.client));
        // Until what follows is taken: that may be too much.
        self.unfinished = arrivals;
        self.take_step(received, room)
    }

    /// What is to be done by now, and whether there is more of a replay when the client has room. Memos are kept here and
    /// not returned.
    pub fn pull(&mut self, room: Room) -> Result<Step, EngineError> {
        let pulled = self.instance.as_mut().map(|instance| instance.pull(room.client));
        self.take_step(pulled, room)
    }

    /// What a call says is to be done; where the instance was lost in it, what the next one says.
    fn take_step(&mut self, mut called: Option<wasmtime::Result<Step>>, room: Room) -> Result<Step, EngineError> {
        let mut step = loop {
            let bounded = called.map(|step| step.and_then(|step| self.bounded(step, room.waiting)));
            if let Some(step) = self.recover_from(bounded)? {
                break step;
            }
            called = self.instance.as_mut().map(|instance| instance.pull(room.client));
        };
        // All that follows from what was received is in it; what comes later is replays, and the memos tell of those.
        self.unfinished.clear();
        self.asked.clear();
        self.restarted = None;
        step.outputs.retain_mut(|output| match output {
            Output::Keep(memo) => {
                self.keep(std::mem::replace(memo, Memo { key: String::new(), value: None }));
                false
            }
            _ => true,
        });
        let refused = self.take_refused();
        step.outputs.extend(refused);
        Ok(step)
    }

    /// A step that says or keeps more than it may is as good as a trap.
    fn bounded(&self, step: Step, waiting: usize) -> wasmtime::Result<Step> {
        let limits = self.component.limits();
        let (mut said, mut kept) = (waiting, self.kept_bytes);
        for output in &step.outputs {
            match output {
                Output::ToClient(text) | Output::ToAgent(text) | Output::Warn(text) => said += text.len(),
                Output::Keep(memo) => kept += size(&memo.key, memo.value.as_deref().unwrap_or_default()),
            }
        }
        wasmtime::ensure!(said <= limits.output, "it says more than {} MiB that nobody has read", limits.output >> 20);
        wasmtime::ensure!(kept <= limits.memos, "it has more than {} MiB kept", limits.memos >> 20);
        Ok(step)
    }

    /// What the host itself answers, because no instance could. Part of each step; to be taken besides where a call has
    /// returned an error, before the connection is given up.
    pub fn take_refused(&mut self) -> impl Iterator<Item = Output> + use<S> {
        std::mem::take(&mut self.refused).into_iter().map(Refusal::into_output)
    }

    /// Whether [`Folders`](crate::folders::Folders) are finding something out, for which a list may wait: then
    /// [`idle`](Self::idle) is to be called within a few milliseconds, whatever it said.
    pub fn is_finding_folders(&self) -> bool {
        self.component.folders().is_finding()
    }

    /// Whether it was said that nothing more comes from that side.
    pub(crate) fn has_closed(&self, peer: Peer) -> bool {
        self.closed.contains(&peer)
    }

    /// Says that nothing more comes from that side.
    pub fn peer_closed(&mut self, peer: Peer) -> Result<(), EngineError> {
        if self.has_closed(peer) {
            return Ok(());
        }
        self.closed.push(peer);
        let told = self.instance.as_mut().map(|instance| instance.peer_closed(peer));
        self.recover_from(told).map(|_| ())
    }

    /// Says that the agent has ended in this way, in a few words for people, and that another was started in its place.
    pub fn agent_restarted(&mut self, how: String) -> Result<(), EngineError> {
        let told = self.instance.as_mut().map(|instance| instance.agent_restarted(&how));
        self.restarted = Some(how);
        self.recover_from(told).map(|_| ())
    }

    /// Says that time has passed, to the store too; returns after how many milliseconds to say so again.
    pub fn idle(&mut self) -> Result<Option<u32>, EngineError> {
        self.give_memory_back()?;
        let idled = self.instance.as_mut().map(Instance::idle);
        let again = self.recover_from(idled)?.flatten();
        // The store has a little to do of its own.
        let upkeep = self.instance.as_mut().and_then(|instance| instance.storage_mut().keep_up());
        let upkeep = upkeep.map(|wait| u32::try_from(wait.as_millis()).unwrap_or(u32::MAX));
        Ok(again.into_iter().chain(upkeep).min())
    }

    /// Has an instance that has become large hand over to a fresh one, if it is at rest: it never gives back what it took once.
    fn give_memory_back(&mut self) -> Result<(), EngineError> {
        let Some(instance) = self.instance.as_mut() else { return Ok(()) };
        let size = instance.memory();
        if size < self.first_size.saturating_add(MOST_GROWTH) || !self.unfinished.is_empty() || !self.closed.is_empty()
        {
            return Ok(());
        }
        let handed_over = instance.hand_over();
        // None where it is not at rest, and where it was lost in the call and another has taken its place.
        let Some(handed_over) = self.recover_from(Some(handed_over))?.flatten() else { return Ok(()) };
        let Some(old) = self.instance.take() else { return Ok(()) };
        let mut instance = self.component.instantiate(old.into_storage()).map_err(EngineError::NotStarted)?;
        let handed_over = Memo { key: HANDED_OVER.to_owned(), value: Some(handed_over) };
        let taken_over = instance.connect(&self.settings, &self.memos(Some(handed_over)), &[]);
        self.first_size = instance.memory();
        tracing::debug!(size, now = self.first_size, "the session engine has handed over to a fresh instance");
        self.instance = Some(instance);
        match self.recover_from(Some(taken_over))? {
            Some(opened) => Ok(opened?),
            None => Ok(()),
        }
    }

    /// What is kept for the next instance, and what else it is to be given.
    fn memos(&self, beside: Option<Memo>) -> Vec<Memo> {
        let kept = self.kept.iter().map(|(key, value)| Memo { key: key.clone(), value: Some(value.clone()) });
        kept.chain(beside).collect()
    }

    fn keep(&mut self, memo: Memo) {
        if let Some((key, value)) = self.kept.remove_entry(&memo.key) {
            self.kept_bytes -= size(&key, &value);
        }
        if let Some(value) = memo.value {
            self.kept_bytes += size(&memo.key, &value);
            self.kept.insert(memo.key, value);
        }
    }

    /// What a call returned; none if the instance was lost in it and another has taken its place.
    fn recover_from<T>(&mut self, called: Option<wasmtime::Result<T>>) -> Result<Option<T>, EngineError> {
        match called {
            Some(Ok(value)) => Ok(Some(value)),
            Some(Err(trap)) => self.replace(trap).map(|()| None),
            None => Err(EngineError::Lost(wasmtime::Error::msg("it was lost before"))),
        }
    }

    /// Puts a fresh instance in the place of one that was lost.
    fn replace(&mut self, mut trap: wasmtime::Error) -> Result<(), EngineError> {
        loop {
            self.losses += 1;
            let (losses, lines) = (self.losses, self.unfinished.len());
            tracing::warn!(losses, lines, "the session engine is started anew: {}", trap.root_cause());
            tracing::debug!("{trap:?}");
            let Some(old) = self.instance.take().filter(|_| self.losses <= MOST_RESTARTS) else {
                return Err(EngineError::Lost(trap));
            };
            let mut instance = self.component.instantiate(old.into_storage()).map_err(EngineError::NotStarted)?;
            if self.losses > 1 {
                self.shorten();
            }
            let lost = std::mem::take(&mut self.unfinished);
            let taken_up = self.take_up(&mut instance, &lost);
            self.first_size = instance.memory();
            self.instance = Some(instance);
            // They are finished when what follows from them was pulled.
            self.unfinished = lost;
            match taken_up {
                Ok(opened) => return Ok(opened?),
                Err(again) => trap = again,
            }
        }
    }

    /// What the next instance is told of lines that one was lost with as it was told of them: their beginnings, which tell
    /// whose request fails. Of beginnings nothing: who asked is answered here.
    fn shorten(&mut self) {
        let lost = std::mem::take(&mut self.unfinished);
        if lost.iter().all(|arrival| matches!(arrival.content, Content::NotBearable(_))) {
            if !lost.is_empty() {
                tracing::warn!("{} lines were dropped", lost.len());
            }
            self.refused.append(&mut self.asked);
            return;
        }
        // Of a beginning it cannot be told what was asked.
        self.asked = refusals(&lost);
        self.unfinished = lost.into_iter().map(shortened).collect();
    }

    fn take_up(&self, instance: &mut Instance<'c, S>, lost: &[Arrival]) -> wasmtime::Result<Result<(), ConnectError>> {
        if let Err(refused) = instance.connect(&self.settings, &self.memos(None), lost)? {
            return Ok(Err(refused));
        }
        if let Some(how) = &self.restarted {
            instance.agent_restarted(how)?;
        }
        for peer in &self.closed {
            instance.peer_closed(*peer)?;
        }
        Ok(Ok(()))
    }
}
