//! The connection export: one client's lines through the engine.

use std::cell::RefCell;

use super::exports::acp::sessions::connection as wit;
use super::storage::HostStorage;
use super::{Component, HostEnvironment};
use crate::engine;

thread_local! {
    static ENGINE: RefCell<Option<engine::Engine<HostStorage, HostEnvironment>>> = const { RefCell::new(None) };
}

/// Runs with the open engine. Without one the host broke the contract, and a trap says so.
fn with_engine<T>(run: impl FnOnce(&mut engine::Engine<HostStorage, HostEnvironment>) -> T) -> T {
    ENGINE.with_borrow_mut(|engine| run(engine.as_mut().expect("`connect` was not called")))
}

fn from_peer(peer: wit::Peer) -> engine::Peer {
    match peer {
        wit::Peer::Client => engine::Peer::Client,
        wit::Peer::Agent => engine::Peer::Agent,
    }
}

fn from_arrival(arrival: wit::Arrival) -> engine::Arrival {
    let content = match arrival.content {
        wit::Content::Line(line) => engine::Content::Line(line),
        wit::Content::TooLong(head) => engine::Content::TooLong(head),
        wit::Content::NotText(text) => engine::Content::NotText(text),
        wit::Content::NotBearable(head) => engine::Content::NotBearable(head),
    };
    engine::Arrival { peer: from_peer(arrival.peer), content }
}

fn to_output(output: engine::Output) -> wit::Output {
    match output {
        engine::Output::ToClient(line) => wit::Output::ToClient(line),
        engine::Output::ToAgent(line) => wit::Output::ToAgent(line),
        engine::Output::Keep { key, value } => wit::Output::Keep(wit::Memo { key, value }),
        engine::Output::Warn(text) => wit::Output::Warn(text),
    }
}

fn step(engine: &mut engine::Engine<HostStorage, HostEnvironment>, client_room: u32) -> wit::Step {
    let outputs = engine.pull(client_room).into_iter().map(to_output).collect();
    wit::Step { outputs, more: engine.has_more(), held: engine.has_held(), full: engine.is_full() }
}

impl wit::Guest for Component {
    fn connect(
        settings: Vec<wit::Setting>,
        kept: Vec<wit::Memo>,
        lost: Vec<wit::Arrival>,
    ) -> Result<(), wit::ConnectError> {
        let settings = settings.into_iter().map(|setting| (setting.name, setting.value));
        let kept = kept.into_iter().filter_map(|memo| memo.value.map(|value| (memo.key, value)));
        let lost = lost.into_iter().map(from_arrival).collect();
        let engine =
            engine::Engine::connect(HostStorage, HostEnvironment, settings, kept.collect(), lost).map_err(|error| {
                match error {
                    engine::ConnectError::BadSetting(what) => wit::ConnectError::BadSetting(what),
                    engine::ConnectError::Storage(error) => wit::ConnectError::Storage(error.to_string()),
                }
            })?;
        ENGINE.set(Some(engine));
        Ok(())
    }

    fn receive(arrivals: Vec<wit::Arrival>, client_room: u32) -> wit::Step {
        with_engine(|engine| {
            engine.receive(arrivals.into_iter().map(from_arrival));
            step(engine, client_room)
        })
    }

    fn pull(client_room: u32) -> wit::Step {
        with_engine(|engine| step(engine, client_room))
    }

    fn peer_closed(peer: wit::Peer) {
        with_engine(|engine| engine.peer_closed(from_peer(peer)));
    }

    fn agent_restarted(how: String) {
        with_engine(|engine| engine.agent_restarted(&how));
    }

    fn idle() -> Option<u32> {
        with_engine(engine::Engine::idle)
    }

    fn hand_over() -> Option<String> {
        let handed_over = with_engine(engine::Engine::hand_over);
        if handed_over.is_some() {
            ENGINE.set(None);
        }
        handed_over
    }
}
