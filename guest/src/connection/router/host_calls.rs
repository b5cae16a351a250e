//! What a host calls, and what follows of it.

use std::collections::VecDeque;

use super::hand_over::HandedOver;
use super::kept::Kept;
use super::{Connection, Router, chain};
use crate::environment::Environment;
use crate::exchange::{Arrival, ConnectError, Content, Output, Peer};
use crate::rpc::Malformed;
use crate::settings::Settings;
use crate::storage::Storage;
use crate::store::Store;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Starts on a new connection or, with what the host kept, carries on an old one.
    pub(crate) fn connect(
        storage: S,
        environment: E,
        settings: impl IntoIterator<Item = (String, String)>,
        kept: Vec<(String, String)>,
        lost: Vec<Arrival>,
    ) -> Result<Self, ConnectError> {
        let settings = Settings::read(settings).map_err(|refused| ConnectError::BadSetting(refused.to_string()))?;
        let connection = Connection::new(environment.random(), environment.now().clamp(0, crate::time::LAST));
        let in_chain = kept.iter().any(|(key, _)| Kept::read(key) == Some(Kept::Chain));
        let outputs = VecDeque::new();
        let store = Store::new(storage);
        let (answered, client_has_room) = (0, true);
        let mut engine =
            Self { store, environment, settings, connection, outputs, answered, client_has_room, in_chain };
        match HandedOver::read(&kept).filter(|_| lost.is_empty()) {
            Some(handed_over) => engine.take_over(handed_over, &kept),
            None => engine.carry_on(kept, lost),
        }
        Ok(engine)
    }

    /// Takes what arrived, in order.
    pub(crate) fn receive(&mut self, arrivals: impl IntoIterator<Item = Arrival>) {
        self.connection.end_arrivals();
        self.wake(self.now());
        for arrival in arrivals {
            self.connection.arrivals += 1;
            self.take(arrival);
            self.drain_queue();
        }
        self.flush_full();
    }

    /// Takes one thing that arrived.
    pub(super) fn take(&mut self, arrival: Arrival) {
        let Arrival { peer, content } = self.enter(arrival);
        match (peer, content) {
            (Peer::Client, Content::Line(line)) => self.client_line(line),
            (Peer::Agent, Content::Line(line)) => self.agent_line(line),
            (peer, Content::TooLong(ends)) => self.without_middle(peer, &ends, Malformed::TooLong),
            (peer, Content::NotBearable(ends)) => self.without_middle(peer, &ends, Malformed::NotBearable),
            (peer, Content::NotText(text)) => self.line_not_text(peer, &text),
        }
    }

    /// What to send and keep: all that is ready and, of replays, about as much as the client has room for. A little of the
    /// agent's list is taken in, and looked for of what has changed in lists.
    pub(crate) fn pull(&mut self, client_room: u32) -> Vec<Output> {
        self.client_has_room = client_room > 0;
        self.go_on_telling();
        self.show_histories(client_room);
        if self.has_more_of_list() {
            self.discover_some();
        }
        self.answer_lists();
        self.drain_queue();
        self.connection.end_arrivals();
        self.answered = 0;
        let outputs = self.outputs.drain(..);
        if self.in_chain { outputs.map(chain::leave).collect() } else { outputs.collect() }
    }

    /// What arrived, with its real sender: in a chain all comes from the conductor.
    pub(super) fn enter(&mut self, arrival: Arrival) -> Arrival {
        if !self.in_chain {
            if !self.settings.chain || !self.is_new() || !chain::begins(&arrival) {
                return arrival;
            }
            self.in_chain = true;
            self.outputs.push_back(Kept::Chain.with(Some("proxy".to_owned())));
        }
        chain::enter(arrival, |id| self.is_clients(id))
    }

    /// Whether there is more to be done at once, by pulling again.
    pub(crate) fn has_more(&self) -> bool {
        self.has_histories() || self.has_more_of_list() || self.has_put_off() || self.is_telling()
    }

    /// That side has ended.
    pub(crate) fn peer_closed(&mut self, peer: Peer) {
        match peer {
            Peer::Client => self.client_closed(),
            Peer::Agent => self.agent_closed(),
        }
    }

    /// The clock and randomness.
    pub(crate) fn environment(&self) -> &E {
        &self.environment
    }

    /// The store, for the operations that need no connection.
    pub(crate) fn store(&self) -> &Store<S> {
        &self.store
    }
}
