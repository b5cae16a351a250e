//! The engine as a host sees it: arrivals in, outputs out.

pub use crate::exchange::{Arrival, ConnectError, Content, Output, Peer};
pub use crate::settings::{Dialect, Listed, SettingError, Settings};

use crate::connection::Router;
use crate::environment::{Environment, Moment};
use crate::storage::Storage;
use crate::store::Store;

/// One connection's engine. See the `connection` interface of `wit/world.wit` for how a host drives it.
#[derive(Debug)]
pub struct Engine<S, E> {
    router: Router<S, Moment<E>>,
    /// Something was received, and what follows was not pulled yet: it belongs to the same moment.
    has_received: bool,
}

impl<S: Storage, E: Environment> Engine<S, E> {
    /// Starts on a new connection or, with what the host kept, carries on an old one.
    pub fn connect(
        storage: S,
        environment: E,
        settings: impl IntoIterator<Item = (String, String)>,
        kept: Vec<(String, String)>,
        lost: Vec<Arrival>,
    ) -> Result<Self, ConnectError> {
        let router = Router::connect(storage, Moment::new(environment), settings, kept, lost)?;
        Ok(Self { router, has_received: false })
    }

    /// Takes what arrived, in order.
    pub fn receive(&mut self, arrivals: impl IntoIterator<Item = Arrival>) {
        self.router.environment().pass();
        self.has_received = true;
        self.router.receive(arrivals);
    }

    /// What to send and keep: all that is ready and, of replays, about as much as the client has room for, in bytes.
    pub fn pull(&mut self, client_room: u32) -> Vec<Output> {
        if !std::mem::take(&mut self.has_received) {
            self.router.environment().pass();
        }
        self.router.pull(client_room)
    }

    /// Whether more is to be pulled, when the client has room: of a replay, or what follows from the agent's list.
    pub fn has_more(&self) -> bool {
        self.router.has_more()
    }

    /// Whether lines of the client's wait for something that the agent has to say first.
    pub fn has_held(&self) -> bool {
        self.router.holds_lines()
    }

    /// Whether so much of the client's waits that no more of its lines should come before this is false.
    pub fn is_full(&self) -> bool {
        self.router.is_full()
    }

    /// That side has ended.
    pub fn peer_closed(&mut self, peer: Peer) {
        self.router.environment().pass();
        self.router.peer_closed(peer);
    }

    /// The agent has ended in this way, and another was started in its place.
    pub fn agent_restarted(&mut self, how: &str) {
        self.router.environment().pass();
        self.router.agent_restarted(how);
    }

    /// Time has passed; after how many milliseconds to call again.
    pub fn idle(&mut self) -> Option<u32> {
        self.router.environment().pass();
        Some(self.router.tick())
    }

    /// All that a fresh instance needs to go on as this one would, besides the memos, if nothing is under way: this one is of no use
    /// any more then.
    pub fn hand_over(&mut self) -> Option<String> {
        self.router.environment().pass();
        if self.has_received { None } else { self.router.hand_over() }
    }

    /// The store, for the operations that need no connection.
    pub fn store(&self) -> &Store<S> {
        self.router.store()
    }
}
