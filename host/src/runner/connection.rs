//! Moves lines between the two sides and the engine.

use std::time::{Duration, Instant};

use super::engine::{Engine, RunError};
use super::shutdown::{self, Shutdown, Step};
use crate::component::connection::{Output, Peer, Setting};
use crate::component::{Component, storage};
use crate::downstream::Agent;
use crate::transport::inbox::Wanted;
use crate::transport::{Event, Inbox, Outbox};

/// Replays may fill the client's outbox up to here.
const CLIENT_ROOM: usize = 256 << 10;

/// With this much room the engine gives at least one line of a replay, whatever its size.
const ROOM_FOR_A_LINE: usize = 64 << 10;

/// With more than this waiting for one side, nothing more is taken from the other.
const HIGH_WATER: usize = 4 << 20;

/// With more than this waiting for it, nothing more is taken from a client that asks and does not read the answers.
/// More than the longest line of an agent: a client that waits for us to read before it reads itself gets by with less.
const CLIENT_MOST: usize = 80 << 20;

/// What the client has not read this long after everything else has ended is lost.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// What a connection takes its time for.
#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// After an arrival the engine is told of the passing of time this much later.
    pub flush_after: Duration,
    /// How long the agent may take to end by itself when the client has gone. Agents finish then what they were asked
    /// last, and some take seconds.
    pub agent_grace: Duration,
}

/// How a connection ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// The client closed its side.
    ClientGone,
    /// The program was asked to stop.
    Stopped,
    /// The agent ended by itself; the text says how.
    AgentGone(String),
}

/// A client, an agent, and the engine between them.
pub struct Connection<'c, S: storage::Host + Send + 'static> {
    engine: Engine<'c, S>,
    inbox: Inbox,
    client: Outbox,
    agent: Outbox,
    downstream: Box<dyn Agent>,
    timing: Timing,
    /// When to tell the engine next that time has passed.
    timer: Option<Instant>,
    /// The engine may have more for the client than there was room for.
    room_wanted: bool,
    shutdown: Option<(Shutdown, Option<End>)>,
}

/// The pipes of a connection: what comes from either side, and what waits for it.
#[derive(Debug, Default, Clone)]
pub struct Pipes {
    /// From both sides.
    pub inbox: Inbox,
    /// To the client.
    pub client: Outbox,
    /// To the agent.
    pub agent: Outbox,
}

impl<'c, S: storage::Host + Send + 'static> Connection<'c, S> {
    /// Opens the engine over this storage. If it cannot be opened, the agent is ended.
    pub fn open(
        component: &'c Component<S>,
        storage: S,
        settings: Vec<Setting>,
        pipes: Pipes,
        downstream: Box<dyn Agent>,
        timing: Timing,
    ) -> Result<Self, RunError> {
        let Pipes { inbox, client, agent } = pipes;
        let engine = Engine::open(component, storage, settings).inspect_err(|_| {
            // It has not been sent anything that it could want to finish.
            agent.close();
            downstream.kill();
        })?;
        let timer = Some(Instant::now() + timing.flush_after);
        Ok(Self { engine, inbox, client, agent, downstream, timing, timer, room_wanted: false, shutdown: None })
    }

    /// Runs the connection to its end. The agent has ended when this returns.
    pub fn run(mut self) -> Result<End, RunError> {
        let served = self.serve();
        self.agent.close();
        let ended = shutdown::finish(&*self.downstream);
        self.client.close();
        self.client.wait_empty(Instant::now() + LAST_WORDS);
        served.map(|end| {
            end.unwrap_or_else(|| End::AgentGone(ended.unwrap_or_else(|| "it closed its output".to_owned())))
        })
    }

    /// Until there is nothing more to do. Returns none if it was the agent that ended first.
    fn serve(&mut self) -> Result<Option<End>, RunError> {
        loop {
            self.pass_time()?;
            let more = self.is_more_to_pull();
            match self.inbox.next(self.wanted(), if more { Some(Instant::now()) } else { self.deadline() }) {
                Event::Arrived(arrivals) => {
                    self.timer.get_or_insert_with(|| Instant::now() + self.timing.flush_after);
                    self.engine.receive(arrivals)?;
                }
                Event::Ended(Peer::Client) | Event::Deaf(Peer::Client) => {
                    self.inbox.refuse(Peer::Client);
                    self.engine.closed(Peer::Client)?;
                    self.begin_shutdown(Shutdown::unhurried, Some(End::ClientGone));
                }
                Event::Stop => {
                    self.inbox.refuse(Peer::Client);
                    self.begin_shutdown(Shutdown::hasty, Some(End::Stopped));
                    self.hurry();
                }
                Event::Deaf(Peer::Agent) => self.begin_shutdown(Shutdown::hasty, None),
                // Without its output it may still be busy with what it was asked last.
                Event::Ended(Peer::Agent) if self.is_client_gone() && !shutdown::has_ended(&*self.downstream) => {
                    self.settle()?;
                    self.client.close();
                }
                Event::Ended(Peer::Agent) => return self.conclude(),
                Event::Room | Event::Time => {}
            }
            self.pump()?;
            if self.take_steps() {
                return self.conclude();
            }
        }
    }

    fn begin_shutdown(&mut self, shutdown: fn(Instant, Duration) -> Shutdown, end: Option<End>) {
        // What ended first is what ended it.
        self.shutdown.get_or_insert_with(|| {
            // The agent finds its input at an end once it has read what is there.
            self.agent.close();
            (shutdown(Instant::now(), self.timing.agent_grace), end)
        });
    }

    fn hurry(&mut self) {
        if let Some((shutdown, _)) = &mut self.shutdown {
            shutdown.hurry();
        }
    }

    fn is_client_gone(&self) -> bool {
        matches!(self.shutdown, Some((_, Some(End::ClientGone))))
    }

    /// Takes the steps of the shutdown that are due. Returns whether there is nothing more to wait for.
    fn take_steps(&mut self) -> bool {
        let Some((shutdown, _)) = &mut self.shutdown else { return false };
        while let Some(step) = shutdown.step(Instant::now()) {
            match step {
                Step::LeaveClient => self.client.close(),
                Step::Terminate => self.downstream.terminate(),
                Step::Kill => self.downstream.kill(),
                Step::GiveUp => return true,
            }
        }
        false
    }

    /// The agent has ended: nothing can come any more.
    fn conclude(&mut self) -> Result<Option<End>, RunError> {
        self.settle()?;
        Ok(self.shutdown.take().and_then(|(_, end)| end))
    }

    /// Nothing more comes from either side: what is open is answered and written.
    fn settle(&mut self) -> Result<(), RunError> {
        self.engine.closed(Peer::Agent)?;
        self.pump()?;
        self.engine.closed(Peer::Client)?;
        self.pump()
    }

    fn deadline(&self) -> Option<Instant> {
        let step = self.shutdown.as_ref().map(|(shutdown, _)| shutdown.next_step());
        self.timer.into_iter().chain(step).min()
    }

    /// Tells the engine that time has passed, if it wants to know by now.
    fn pass_time(&mut self) -> Result<(), RunError> {
        if self.timer.is_some_and(|timer| timer <= Instant::now()) {
            let again = self.engine.idle()?;
            self.timer = again.map(|after| Instant::now() + Duration::from_millis(after.into()));
            self.pump()?;
        }
        Ok(())
    }

    /// Whether the client has read so much that the engine may go on with a replay. If not, word comes when it has.
    fn is_more_to_pull(&self) -> bool {
        self.room_wanted && self.client.watch(CLIENT_ROOM / 2)
    }

    /// A side is not listened to while the other does not keep up. The agent is never kept from speaking by what waits
    /// for itself: it may have to finish speaking before it listens. Once the client's pipe is closed nothing more
    /// gathers for it, and what it has left unread must not keep the agent from finishing.
    fn wanted(&self) -> Wanted {
        if self.client.is_closed() {
            return Wanted { client: false, agent: true };
        }
        let client = self.client.queued();
        let wanted =
            Wanted { client: client <= CLIENT_MOST && self.agent.queued() <= HIGH_WATER, agent: client <= HIGH_WATER };
        let watched = (client <= HIGH_WATER || !self.client.watch(HIGH_WATER))
            && (wanted.client || client > CLIENT_MOST || !self.agent.watch(HIGH_WATER));
        if watched { wanted } else { self.wanted() }
    }

    /// Does what the engine wants done. Of a replay no more than there was room for at first, so that others get
    /// their turn between.
    fn pump(&mut self) -> Result<(), RunError> {
        let mut room = CLIENT_ROOM.saturating_sub(self.client.queued());
        loop {
            let outputs = self.engine.pull(u32::try_from(room).unwrap_or(u32::MAX))?;
            if outputs.is_empty() {
                self.room_wanted = room < ROOM_FOR_A_LINE;
                return Ok(());
            }
            self.agent.extend(outputs.iter().filter_map(|output| match output {
                Output::ToAgent(line) => Some(line.as_str()),
                _ => None,
            }));
            let mut taken = 0;
            self.client.extend(outputs.iter().filter_map(|output| match output {
                Output::ToClient(line) => {
                    taken += line.len() + 1;
                    Some(line.as_str())
                }
                _ => None,
            }));
            room = room.saturating_sub(taken);
            for output in &outputs {
                if let Output::Warn(text) = output {
                    tracing::warn!("{text}");
                }
            }
        }
    }
}
