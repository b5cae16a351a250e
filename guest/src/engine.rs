//! The engine as a host sees it: arrivals in, outputs out.

mod chain;
mod settings;

use std::collections::VecDeque;

pub use settings::Settings;

use crate::connection::Connection;
use crate::environment::Environment;
use crate::storage::Storage;
use crate::store::Store;

/// One side of the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// The editor.
    Client,
    /// The agent behind.
    Agent,
}

/// What arrived.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// One line without its line end.
    Line(String),
    /// A line over the host's limit, which it did not keep: the first few kilobytes.
    TooLong(String),
    /// A line that is not UTF-8.
    NotText,
}

/// Something that arrived, and from where.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Arrival {
    /// The sender.
    pub from: Peer,
    /// What it sent.
    pub content: Content,
}

/// Something for the host to do.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Output {
    /// Send this line to the client.
    ToClient(String),
    /// Send this line to the agent.
    ToAgent(String),
    /// Keep this for as long as the connection lasts; without a value, forget it.
    Keep {
        /// The memo's key.
        key: String,
        /// The memo.
        value: Option<String>,
    },
    /// Log this.
    Warn(String),
}

impl Output {
    /// How much of it goes to the client.
    pub(crate) fn client_bytes(&self) -> usize {
        match self {
            Self::ToClient(line) => line.len() + 1,
            _ => 0,
        }
    }
}

/// Why an engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// A setting that is unknown or has a bad value.
    #[error("{0}")]
    BadSetting(String),
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] crate::storage::StorageError),
}

/// One connection's engine. See the `connection` interface of `wit/world.wit` for how a host drives it.
#[derive(Debug)]
pub struct Engine<S, E> {
    pub(crate) store: Store<S>,
    pub(crate) environment: E,
    pub(crate) settings: Settings,
    pub(crate) connection: Connection,
    pub(crate) outputs: VecDeque<Output>,
    /// It is a proxy in a chain that a conductor keeps, and has its agent from there.
    in_chain: bool,
}

/// The key of what the host keeps of [`Engine::in_chain`] for a lost instance.
const CHAIN: &str = "chain";

impl<S: Storage, E: Environment> Engine<S, E> {
    /// Starts on a new connection or, with what the host kept, carries on an old one.
    pub fn open(
        storage: S,
        environment: E,
        settings: impl IntoIterator<Item = (String, String)>,
        kept: Vec<(String, String)>,
        lost: Vec<Arrival>,
    ) -> Result<Self, OpenError> {
        let settings = Settings::read(settings).map_err(OpenError::BadSetting)?;
        let connection = Connection::new(environment.random(), environment.now().clamp(0, crate::time::LAST));
        let in_chain = kept.iter().any(|(key, _)| key == CHAIN);
        let outputs = VecDeque::new();
        let mut engine = Self { store: Store::new(storage), environment, settings, connection, outputs, in_chain };
        engine.carry_on(kept, lost);
        Ok(engine)
    }

    /// Takes what arrived, in order.
    pub fn receive(&mut self, arrivals: impl IntoIterator<Item = Arrival>) {
        for arrival in arrivals {
            let arrival = self.enter(arrival);
            match (arrival.from, arrival.content) {
                (Peer::Client, Content::Line(line)) => self.client_line(line),
                (Peer::Agent, Content::Line(line)) => self.agent_line(line),
                (Peer::Client, Content::TooLong(head)) => self.client_line_too_long(&head),
                (Peer::Agent, Content::TooLong(head)) => self.agent_line_too_long(&head),
                (Peer::Client, Content::NotText) => self.client_line_not_text(),
                (Peer::Agent, Content::NotText) => self.warn("the agent sent a line that is not UTF-8; dropped"),
            }
            self.drain_queue();
        }
        self.flush_full();
        self.discover_some();
    }

    /// What to send and keep: all that is ready and, of replays, about as much as the client has room for.
    pub fn pull(&mut self, client_room: u32) -> Vec<Output> {
        self.show_histories(client_room);
        self.drain_queue();
        let outputs = self.outputs.drain(..);
        if self.in_chain { outputs.map(chain::leave).collect() } else { outputs.collect() }
    }

    /// What arrived, with its real sender: in a chain all comes from the conductor.
    pub(crate) fn enter(&mut self, arrival: Arrival) -> Arrival {
        if !self.in_chain {
            if !self.is_new() || !chain::begins(&arrival) {
                return arrival;
            }
            self.in_chain = true;
            self.outputs.push_back(Output::Keep { key: CHAIN.to_owned(), value: Some("proxy".to_owned()) });
        }
        chain::enter(arrival, |id| self.is_clients(id))
    }

    /// Whether more of a replay is to be pulled, when the client has room.
    pub fn has_more(&self) -> bool {
        self.has_histories()
    }

    /// Whether lines of the client's wait for something that the agent has to say first.
    pub fn has_held(&self) -> bool {
        self.holds_lines()
    }

    /// That side has ended.
    pub fn closed(&mut self, peer: Peer) {
        match peer {
            Peer::Client => self.client_closed(),
            Peer::Agent => self.agent_closed(),
        }
    }

    /// Time has passed; after how many milliseconds to call again.
    pub fn idle(&mut self) -> Option<u32> {
        Some(self.tick())
    }

    /// The store, for the operations that need no connection.
    pub fn store(&self) -> &Store<S> {
        &self.store
    }
}
