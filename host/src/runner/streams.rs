//! The streams of a connection: which of them are listened to, and the waiting for them.

use std::io;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::Instant;

use crate::component::connection::{Content, Peer};
use crate::transport::readiness::{self, Watch};
use crate::transport::{Input, Output, Side};

/// With more than this waiting for one side, nothing more is taken from the other.
const HIGH_WATER: usize = 4 << 20;

/// With more than this waiting for it, nothing more is taken from a client that asks and does not read the answers.
/// More than the longest line of an agent: a client that waits for us to read before it reads itself gets by with less.
const CLIENT_MOST: usize = 68 << 20;

/// Both sides, and what asks the program to stop.
pub(super) struct Streams {
    pub(super) client: Output,
    pub(super) agent: Output,
    /// None once nothing more is taken from it.
    from_client: Option<Input>,
    from_agent: Option<Input>,
    stop: OwnedFd,
}

/// What happened while it was waited for.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Happened {
    /// The program was asked to stop.
    pub(super) stop: bool,
    /// There is something to read from these. What a client sends (a cancel, say) goes before what has gathered from the
    /// agent; and as one piece of each is taken at a time, neither can keep the other from being heard.
    pub(super) heard: [Option<Peer>; 2],
    /// The agent's process has ended.
    pub(super) exit: bool,
}

/// What a side is watched for. The last lines of one that has hung up are always wanted: they are few, and its end must be
/// seen.
fn listen(input: Option<&Input>, wanted: bool) -> Option<(BorrowedFd<'_>, Watch)> {
    Some((input?.as_fd(), if wanted { Watch::Read } else { Watch::HangUp }))
}

/// From which sides lines are wanted now.
struct Wanted {
    client: bool,
    agent: bool,
}

impl Streams {
    pub(super) fn new(client: Side, agent: Side, stop: OwnedFd) -> Self {
        let (from_client, from_agent) = (Some(client.from), Some(agent.from));
        Self { client: client.to, agent: agent.to, from_client, from_agent, stop }
    }

    /// Waits until something happens or the time has come, and writes what there is room for. Where the engine is full of
    /// what the client has sent, nothing more is taken from it.
    pub(super) fn wait(
        &mut self,
        exit: Option<BorrowedFd<'_>>,
        deadline: Option<Instant>,
        is_full: bool,
    ) -> io::Result<Happened> {
        let mut wanted = self.wanted();
        wanted.client &= !is_full;
        let slots = [
            Some((self.stop.as_fd(), Watch::Read)),
            listen(self.from_client.as_ref(), wanted.client),
            listen(self.from_agent.as_ref(), wanted.agent),
            self.client.waiting().map(|stream| (stream, Watch::Write)),
            self.agent.waiting().map(|stream| (stream, Watch::Write)),
            exit.map(|exit| (exit, Watch::HangUp)),
            self.client.resting().map(|stream| (stream, Watch::HangUp)),
        ];
        let watched: Vec<_> = slots.iter().flatten().copied().collect();
        let mut ready = readiness::wait(&watched, deadline)?.into_iter();
        let [stop, client, agent, to_client, to_agent, exit, client_gone] =
            slots.map(|slot| slot.and_then(|_| ready.next()).unwrap_or_default());
        if stop {
            rustix::io::read(&self.stop, &mut [0; 16])?;
        }
        if to_client {
            self.client.write();
        }
        if to_agent {
            self.agent.write();
        }
        // What it has sent before it went is taken first.
        if client_gone && !client {
            self.client.hung_up();
        }
        let heard = [client.then_some(Peer::Client), agent.then_some(Peer::Agent)];
        Ok(Happened { stop, heard, exit })
    }

    /// A side is not listened to while the other does not keep up. The agent is never kept from speaking by what waits
    /// for itself: it may have to finish speaking before it listens. Once the client's pipe is closed nothing more
    /// gathers for it, and what it has left unread must not keep the agent from finishing.
    fn wanted(&self) -> Wanted {
        if self.client.is_closed() {
            return Wanted { client: false, agent: true };
        }
        let client = self.client.queued();
        Wanted { client: client <= CLIENT_MOST && self.agent.queued() <= HIGH_WATER, agent: client <= HIGH_WATER }
    }

    /// The lines that came from a side.
    pub(super) fn read(&mut self, peer: Peer) -> Vec<Content> {
        match peer {
            Peer::Client => self.from_client.as_mut(),
            Peer::Agent => self.from_agent.as_mut(),
        }
        .map(Input::read)
        .unwrap_or_default()
    }

    /// Whether all has come that ever comes from a side; said once.
    pub(super) fn take_end(&mut self, peer: Peer) -> bool {
        let input = match peer {
            Peer::Client => &mut self.from_client,
            Peer::Agent => &mut self.from_agent,
        };
        input.take_if(|input| input.has_ended()).is_some()
    }

    /// From now on nothing is taken from the client.
    pub(super) fn refuse_client(&mut self) {
        self.from_client = None;
    }

    /// Whether there is something to read from the agent, wanted or not.
    pub(super) fn is_agent_heard(&self) -> bool {
        self.from_agent.as_ref().is_some_and(|input| readiness::is_ready(input.as_fd(), Watch::Read))
    }

    /// Whether the agent may still be heard.
    pub(super) fn is_agent_open(&self) -> bool {
        self.from_agent.is_some()
    }

    /// Another agent is in the place of the one that has ended.
    pub(super) fn replace_agent(&mut self, agent: Side) {
        self.agent = agent.to;
        self.from_agent = Some(agent.from);
    }

    /// Lets go of the agent's streams.
    pub(super) fn leave_agent(&mut self) {
        self.agent.abandon();
        self.from_agent = None;
    }

    /// Writes what there is room for.
    pub(super) fn write(&mut self) {
        self.agent.write();
        self.client.write();
    }

    /// No more lines come for the client: those that wait are written until the deadline.
    pub(super) fn finish_client(&mut self, deadline: Instant) -> io::Result<()> {
        self.client.close();
        while let Some(stream) = self.client.waiting().filter(|_| Instant::now() < deadline) {
            readiness::wait(&[(stream, Watch::Write)], Some(deadline))?;
            self.client.write();
        }
        Ok(())
    }
}
