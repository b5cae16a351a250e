//! Moves lines between the two sides and the engine.

use std::thread;
use std::time::{Duration, Instant};

use super::ends::{End, Ends, RunError, Timing};
use super::restart::{NotStarted, Restart};
use super::shutdown::{self, Shutdown};
use super::streams::Streams;
use super::timer::Timer;
use crate::component::connection::{Arrival, Output, Peer, Setting, Step};
use crate::component::{Component, storage};
use crate::downstream::Agent;
use crate::engine::{Engine, Room};
use crate::store::Upkeep;

/// Replays may fill what waits for the client up to here.
const CLIENT_ROOM: usize = 256 << 10;

/// With more than this waiting for the agent, nothing more is pulled.
const AGENT_MOST: usize = 80 << 20;

/// After an agent's process has ended, its output is at an end when nothing has come from it for this long, though
/// something that it has set loose may hold it open.
const LAST_OUTPUT: Duration = Duration::from_millis(200);

/// How an agent has ended that did not end by itself.
const CLOSED: &str = "it closed its output";

/// What the client has not read this long after everything else has ended is lost.
const LAST_WORDS: Duration = Duration::from_millis(500);

/// So soon the engine is told that time has passed while something is being found out of folders.
const FOLDERS_SOON: Duration = Duration::from_millis(5);
/// What is being found out when a client has left, or the program is stopped, and all else is over is waited for this long.
const LAST_FOLDERS: Duration = Duration::from_millis(300);

/// What the engine has said that it has.
#[derive(Debug, Clone, Copy, Default)]
struct Inside {
    /// More of a replay or of answers than there was room for.
    has_more: bool,
    /// Lines of the client's that the agent may have to see.
    has_held: bool,
    /// So much of the client's that no more is to be taken of it.
    is_full: bool,
}

/// A client, an agent, and the engine between them.
pub struct Connection<'c, S: storage::Host + Upkeep + Send + 'static> {
    engine: Engine<'c, S>,
    streams: Streams,
    downstream: Box<dyn Agent>,
    /// How it is started again; none where it is not.
    restart: Option<Restart>,
    /// Why it was not, though it should have been.
    not_started: Option<NotStarted>,
    timing: Timing,
    /// When to tell the engine next that time has passed.
    timer: Timer,
    inside: Inside,
    /// The client has ended, and the engine does not know yet.
    is_client_leaving: bool,
    /// What the engine could not do any more as it was told that the client has ended.
    undone: Vec<String>,
    /// The agent's process has ended; its output counts as ended then.
    exited: Option<Instant>,
    shutdown: Option<(Shutdown, Option<End>)>,
}

impl<'c, S: storage::Host + Upkeep + Send + 'static> Connection<'c, S> {
    /// Opens the engine over this storage. If it cannot be opened, the agent is ended.
    pub fn open(
        component: &'c Component<S>,
        storage: S,
        settings: Vec<Setting>,
        ends: Ends,
        timing: Timing,
    ) -> Result<Self, RunError> {
        let Ends { client, agent, downstream, restart, stop } = ends;
        // Where it fails, the agent has not been sent anything that it could want to finish.
        let engine = Engine::connect(component, storage, settings).inspect_err(|_| downstream.kill())?;
        let mut timer = Timer::default();
        timer.arrived(Instant::now(), timing.flush_after);
        let streams = Streams::new(client, agent, stop);
        Ok(Self {
            engine,
            streams,
            downstream,
            restart,
            not_started: None,
            timing,
            timer,
            inside: Inside::default(),
            is_client_leaving: false,
            undone: Vec::new(),
            exited: None,
            shutdown: None,
        })
    }

    /// Runs the connection to its end. The agent has ended when this returns.
    pub fn run(mut self) -> Result<End, RunError> {
        let served = self.serve();
        // Where the engine could not, whoever asked what it failed at is told.
        for refused in self.engine.take_refused() {
            self.send(&refused);
        }
        self.streams.leave_agent();
        let ended = shutdown::finish(&*self.downstream);
        let written = self.streams.finish_client(Instant::now() + LAST_WORDS);
        let end = served?;
        written.map_err(RunError::Streams)?;
        let undone = Some(self.undone.join("; ")).filter(|undone| !undone.is_empty());
        let Some(end) = end else {
            let how = ended.unwrap_or_else(|| CLOSED.to_owned());
            let not_started = self.not_started.map(|why| why.to_string());
            let all: Vec<String> = [Some(how), not_started, undone].into_iter().flatten().collect();
            return Ok(End::AgentGone(all.join("; ")));
        };
        Ok(undone.map_or(end, End::Undone))
    }

    /// Until there is nothing more to do. Returns none if it was the agent that ended first.
    fn serve(&mut self) -> Result<Option<End>, RunError> {
        loop {
            self.pass_time()?;
            let exit = self.downstream.exit().filter(|_| self.exited.is_none());
            let deadline = if self.is_more_to_pull() { Some(Instant::now()) } else { self.deadline() };
            let happened = self.streams.wait(exit, deadline, self.inside.is_full).map_err(RunError::Streams)?;
            if happened.stop {
                self.streams.refuse_client();
                self.begin_shutdown(Shutdown::hasty, Some(End::Stopped));
                self.hurry();
                self.client_has_left()?;
            }
            for peer in happened.heard.into_iter().flatten() {
                self.hear(peer)?;
            }
            if happened.exit {
                self.exited = Some(Instant::now() + LAST_OUTPUT);
            }
            if self.is_more_to_pull() {
                self.pump()?;
            }
            if self.streams.take_end(Peer::Client) | self.streams.client.take_deaf() {
                self.streams.refuse_client();
                self.begin_shutdown(Shutdown::unhurried, Some(End::ClientGone));
                self.is_client_leaving = true;
            }
            // What it has sent before it left is done first, as long as it may read the answers.
            if self.is_client_leaving && !self.inside.has_held {
                self.client_has_left()?;
            }
            if self.streams.agent.take_deaf() {
                self.begin_shutdown(Shutdown::hasty, None);
            }
            if self.has_agent_ended() {
                if self.start_again()? {
                    continue;
                }
                if !self.is_client_gone() || shutdown::has_ended(&*self.downstream) {
                    return self.conclude();
                }
                // Without its output it may still be busy with what it was asked last.
                self.exited = None;
                self.settle()?;
                self.streams.client.close();
            }
            if self.take_steps()? && !self.start_again()? {
                return self.conclude();
            }
        }
    }

    /// Nothing more comes of the client: the engine is told, and then the agent, so that what that writes at its end comes behind.
    fn client_has_left(&mut self) -> Result<(), RunError> {
        self.is_client_leaving = false;
        self.end_client()?;
        self.streams.agent.close();
        Ok(())
    }

    /// The engine is told that the client has ended, and writes all that waits to be written. What it warns of then is what it could
    /// not do any more: nobody else can be told.
    fn end_client(&mut self) -> Result<(), RunError> {
        let is_first = !self.engine.has_closed(Peer::Client);
        self.engine.peer_closed(Peer::Client)?;
        let mut step = self.engine.pull(self.room())?;
        for output in std::mem::take(&mut step.outputs) {
            match output {
                Output::Warn(text) if is_first => self.undone.push(text),
                output => step.outputs.push(output),
            }
        }
        self.take(&step);
        Ok(())
    }

    /// Takes what there is of one side, and does what follows.
    fn hear(&mut self, peer: Peer) -> Result<(), RunError> {
        let lines = self.streams.read(peer);
        if lines.is_empty() {
            return Ok(());
        }
        if peer == Peer::Agent
            && let Some(quiet) = &mut self.exited
        {
            *quiet = Instant::now() + LAST_OUTPUT;
        }
        self.timer.arrived(Instant::now(), self.timing.flush_after);
        let arrivals = lines.into_iter().map(|content| Arrival { peer, content }).collect();
        let step = self.engine.receive(arrivals, self.room())?;
        self.take(&step);
        Ok(())
    }

    /// Whether the agent's output has just come to its end.
    fn has_agent_ended(&mut self) -> bool {
        if self.streams.take_end(Peer::Agent) {
            return true;
        }
        let now = Instant::now();
        let Some(quiet) = &mut self.exited else { return false };
        if !self.streams.is_agent_open() {
            return true;
        }
        if self.streams.is_agent_heard() {
            // It is not listened to for the moment.
            *quiet = (*quiet).max(now + LAST_OUTPUT);
        }
        *quiet <= now
    }

    fn begin_shutdown(&mut self, shutdown: fn(Instant, Duration) -> Shutdown, end: Option<End>) {
        // What ended first is what ended it. An agent that is only being ended would have been started again.
        self.shutdown.take_if(|(_, end)| end.is_none() && self.restart.is_some());
        self.shutdown.get_or_insert_with(|| (shutdown(Instant::now(), self.timing.agent_grace), end));
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
    fn take_steps(&mut self) -> Result<bool, RunError> {
        while let Some(step) = self.shutdown.as_mut().and_then(|(shutdown, _)| shutdown.step(Instant::now())) {
            match step {
                shutdown::Step::LeaveClient => {
                    self.streams.client.close();
                    // What still waits for the agent is for nobody: it need not keep that from the end of its input.
                    if self.is_client_leaving {
                        self.client_has_left()?;
                    }
                }
                shutdown::Step::Terminate => self.downstream.terminate(),
                shutdown::Step::Kill => self.downstream.kill(),
                shutdown::Step::GiveUp => return Ok(true),
            }
        }
        Ok(false)
    }

    /// The agent has ended: another is started in its place, unless the connection is to end or it ends too often.
    fn start_again(&mut self) -> Result<bool, RunError> {
        let is_ending = matches!(self.shutdown, Some((_, Some(_))));
        let Some(restart) = self.restart.as_mut().filter(|_| !is_ending) else { return Ok(false) };
        let how = shutdown::finish(&*self.downstream).unwrap_or_else(|| CLOSED.to_owned());
        match restart.start(Instant::now()) {
            Err(why) => {
                self.not_started = Some(why);
                Ok(false)
            }
            Ok((agent, side)) => {
                tracing::warn!("the agent has ended ({how}) and was started again");
                self.streams.replace_agent(side);
                self.downstream = agent;
                (self.exited, self.shutdown) = (None, None);
                self.timer.arrived(Instant::now(), self.timing.flush_after);
                self.engine.agent_restarted(how)?;
                self.pump()?;
                Ok(true)
            }
        }
    }

    /// The agent has ended: nothing can come any more.
    fn conclude(&mut self) -> Result<Option<End>, RunError> {
        self.settle()?;
        let is_left = matches!(self.shutdown, Some((_, Some(End::ClientGone | End::Stopped))));
        if is_left && self.engine.is_finding_folders() {
            self.finish_folders()?;
        }
        Ok(self.shutdown.take().and_then(|(_, end)| end))
    }

    /// The engine is told what of folders is found out in a moment: a window may be open for less than that takes. With what
    /// it is told it asks for more.
    fn finish_folders(&mut self) -> Result<(), RunError> {
        let until = Instant::now() + LAST_FOLDERS;
        while self.engine.is_finding_folders() && Instant::now() < until {
            thread::sleep(FOLDERS_SOON);
            self.engine.idle()?;
        }
        Ok(())
    }

    /// Nothing more comes from either side: what is open is answered and written.
    fn settle(&mut self) -> Result<(), RunError> {
        self.engine.peer_closed(Peer::Agent)?;
        self.pump()?;
        self.end_client()
    }

    fn deadline(&self) -> Option<Instant> {
        let step = self.shutdown.as_ref().map(|(shutdown, _)| shutdown.next_step());
        self.timer.next().into_iter().chain(step).chain(self.exited).min()
    }

    /// Tells the engine that time has passed, if it wants to know by now.
    fn pass_time(&mut self) -> Result<(), RunError> {
        if self.timer.is_due(Instant::now()) {
            let again = self.engine.idle()?;
            self.timer.told(Instant::now(), again);
            self.pump()?;
        }
        Ok(())
    }

    /// Whether so much was read that the engine may go on with a replay. What it says to the agent meanwhile is little.
    fn is_more_to_pull(&self) -> bool {
        let has_room = self.streams.client.queued() < CLIENT_ROOM / 2 && self.streams.agent.queued() <= AGENT_MOST;
        self.inside.has_more && has_room
    }

    /// How much of a replay the client has room for, and what waits already.
    fn room(&self) -> Room {
        let waits = self.streams.client.queued();
        let client = u32::try_from(CLIENT_ROOM.saturating_sub(waits)).unwrap_or(u32::MAX);
        Room { client, waiting: waits + self.streams.agent.queued() }
    }

    /// Does what the engine wants done by now. Of a replay no more than there is room for, so that others get their turn
    /// between.
    fn pump(&mut self) -> Result<(), RunError> {
        let step = self.engine.pull(self.room())?;
        self.take(&step);
        Ok(())
    }

    fn take(&mut self, step: &Step) {
        for output in &step.outputs {
            self.send(output);
        }
        self.inside = Inside { has_more: step.more, has_held: step.held, is_full: step.full };
        if self.engine.is_finding_folders() {
            self.timer.arrived(Instant::now(), FOLDERS_SOON);
        }
        self.streams.write();
    }

    fn send(&mut self, output: &Output) {
        match output {
            Output::ToAgent(line) => self.streams.agent.extend([line.as_str()]),
            Output::ToClient(line) => self.streams.client.extend([line.as_str()]),
            Output::Warn(text) => tracing::warn!("{text}"),
            Output::Keep(_) => {}
        }
    }
}
