//! The host of one connection: what `host/src/engine.rs` does, without threads and pipes.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use acp_sessions_corpus::Recorded;
use acp_sessions_guest::engine::{Arrival, ConnectError, Output, Peer};
use acp_sessions_guest::storage::Memory;

use crate::faults::{Kill, Shaky, Trap};
use crate::world::{Seat, World};

/// How often a host pulls, and nothing comes, while there is still more to do.
const MOST_IN_VAIN: usize = 100;

/// How an agent has ended that was started again.
const ENDED: &str = "exit status: 1";

type Running<'a> = Recorded<'a, Shaky<'a>, Memory, Seat<'a>>;

/// A line that came out of an engine.
#[derive(Debug)]
pub(crate) enum Sent {
    Client(String),
    Agent(String),
}

/// Why a connection cannot go on.
#[derive(Debug)]
pub(crate) enum Broken {
    /// The engine panicked, which is a bug.
    Panicked(String),
    /// A fresh instance could not open the store: the host ends the connection.
    NotOpened,
    /// The host was killed in the midst of a call.
    Killed,
}

/// One connection's engine, and what outlives its instances.
pub(crate) struct Host<'a> {
    storage: Shaky<'a>,
    world: &'a World,
    settings: Vec<(String, String)>,
    /// None while it is being replaced, and for good once that has failed.
    engine: Option<Running<'a>>,
    pub(crate) memos: BTreeMap<String, String>,
    /// Given to the engine, and what follows from it was not pulled yet.
    unfinished: Vec<Arrival>,
    closed: Vec<Peer>,
    /// What the last instance has handed over to the next.
    handed_over: Option<(String, String)>,
    /// The agent was started again, and what follows from that was not pulled yet.
    is_restarted: bool,
    /// How much the client has room for.
    pub(crate) room: u32,
    /// How often an instance was lost.
    pub(crate) losses: u32,
    pub(crate) warnings: Vec<String>,
}

impl<'a> Host<'a> {
    pub(crate) fn open(storage: Shaky<'a>, world: &'a World, settings: Vec<(String, String)>) -> Result<Self, Broken> {
        let mut host = Self {
            storage,
            world,
            settings,
            engine: None,
            memos: BTreeMap::new(),
            unfinished: Vec::new(),
            closed: Vec::new(),
            handed_over: None,
            is_restarted: false,
            room: u32::MAX,
            losses: 0,
            warnings: Vec::new(),
        };
        host.replace()?;
        Ok(host)
    }

    /// Hands over what arrived.
    pub(crate) fn receive(&mut self, arrivals: Vec<Arrival>) -> Result<Vec<Sent>, Broken> {
        self.unfinished.clone_from(&arrivals);
        self.call(|engine| engine.receive(arrivals))?;
        self.pump()
    }

    /// Nothing more comes from that side.
    pub(crate) fn peer_closed(&mut self, peer: Peer) -> Result<Vec<Sent>, Broken> {
        if !self.closed.contains(&peer) {
            self.closed.push(peer);
            self.call(|engine| engine.peer_closed(peer))?;
        }
        self.pump()
    }

    /// The agent has ended and was started again.
    pub(crate) fn agent_restarted(&mut self) -> Result<Vec<Sent>, Broken> {
        self.is_restarted = true;
        self.call(|engine| engine.agent_restarted(ENDED))?;
        self.pump()
    }

    /// Time has passed.
    pub(crate) fn idle(&mut self) -> Result<Vec<Sent>, Broken> {
        self.call(Recorded::idle)?;
        self.pump()
    }

    /// The instance is lost while nothing is under way.
    pub(crate) fn lose(&mut self) -> Result<Vec<Sent>, Broken> {
        self.losses += 1;
        self.replace()?;
        self.pump()
    }

    /// Pulls until there is nothing more to do.
    pub(crate) fn pump(&mut self) -> Result<Vec<Sent>, Broken> {
        let mut sent = Vec::new();
        let mut room = self.room;
        let mut in_vain = 0;
        loop {
            let Some((outputs, more)) = self.call(|engine| (engine.pull(room), engine.has_more()))? else { continue };
            self.unfinished.clear();
            self.is_restarted = false;
            if outputs.is_empty() {
                if !more || room == 0 {
                    if self.world.renews {
                        self.renew()?;
                    }
                    return Ok(sent);
                }
                in_vain += 1;
                assert!(in_vain < MOST_IN_VAIN, "a host would pull for ever");
            }
            for output in outputs {
                match output {
                    Output::ToClient(line) => {
                        room = room.saturating_sub(u32::try_from(line.len()).unwrap_or(u32::MAX));
                        sent.push(Sent::Client(line));
                    }
                    Output::ToAgent(line) => sent.push(Sent::Agent(line)),
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

    /// A fresh instance takes the place of the one there is, if that is at rest.
    fn renew(&mut self) -> Result<(), Broken> {
        if let Some(Some(handed_over)) = self.call(Recorded::hand_over)? {
            self.handed_over = Some(("handed-over".to_owned(), handed_over));
            self.replace()?;
        }
        Ok(())
    }

    /// What a call returned; none if the instance was lost in it and another has taken its place.
    fn call<T>(&mut self, call: impl FnOnce(&mut Running<'a>) -> T) -> Result<Option<T>, Broken> {
        let Some(engine) = self.engine.as_mut() else { return Err(Broken::NotOpened) };
        let returned = caught(|| call(engine))?;
        if returned.is_none() {
            self.losses += 1;
            self.replace()?;
        }
        Ok(returned)
    }

    /// Puts a fresh instance in the place of the one there was, if any.
    fn replace(&mut self) -> Result<(), Broken> {
        self.engine = None;
        loop {
            let lost = std::mem::take(&mut self.unfinished);
            let kept: Vec<_> = self.memos.clone().into_iter().chain(self.handed_over.take()).collect();
            let (storage, world, settings) = (self.storage, self.world, self.settings.clone());
            let (closed, is_restarted) = (self.closed.clone(), self.is_restarted);
            let opened = caught(|| {
                let seat = |instance| Seat::new(world, instance);
                let mut engine =
                    Recorded::connect(storage, storage.memory, &world.recorder, seat, settings, kept, lost)?;
                if is_restarted {
                    engine.agent_restarted(ENDED);
                }
                for peer in closed {
                    engine.peer_closed(peer);
                }
                Ok::<_, ConnectError>(engine)
            })?;
            match opened {
                Some(Ok(engine)) => {
                    self.engine = Some(engine);
                    return Ok(());
                }
                Some(Err(ConnectError::BadSetting(text))) => return Err(Broken::Panicked(text)),
                Some(Err(ConnectError::Storage(_))) => return Err(Broken::NotOpened),
                None => self.losses += 1,
            }
        }
    }
}

/// What it returns, or none if the instance was lost in it.
fn caught<T>(call: impl FnOnce() -> T) -> Result<Option<T>, Broken> {
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(value) => Ok(Some(value)),
        Err(payload) if payload.is::<Trap>() => Ok(None),
        Err(payload) if payload.is::<Kill>() => Err(Broken::Killed),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().cloned();
            let text = text.or_else(|| payload.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            Err(Broken::Panicked(text.unwrap_or_default()))
        }
    }
}
