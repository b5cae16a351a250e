//! One running instance and the calls into it.

use wasmtime::Store;

use super::bindings::SessionEngine;
use super::connection::{Arrival, ConnectError, Memo, Peer, Setting, Step};
use super::state::State;
use super::ticker::{Running, ticks};
use super::{Component, storage};

/// An instance. After a call that returned an error it is lost: every later call fails too.
pub struct Instance<'c, S: storage::Host + Send + 'static> {
    component: &'c Component<S>,
    pub(super) store: Store<State<S>>,
    pub(super) exports: SessionEngine,
}

impl<'c, S: storage::Host + Send + 'static> Instance<'c, S> {
    pub(super) fn new(component: &'c Component<S>, storage: S) -> wasmtime::Result<Self> {
        let limits = component.limits;
        let mut store = Store::new(&component.engine, State::new(storage, component.folders.clone(), limits));
        store.limiter(|state| &mut state.memory);
        store.set_hostcall_fuel(limits.call_bytes);
        store.set_epoch_deadline(ticks(limits.call_seconds));
        let running = component.ticker.begin();
        let exports = component.instance_pre.instantiate(&mut store)?;
        drop(running);
        Ok(Self { component, store, exports })
    }

    /// The storage, to be lent to the next instance.
    pub fn into_storage(self) -> S {
        self.store.into_data().lent.into_storage()
    }

    /// Bytes of memory that it has, tables included. It never gives any back.
    pub fn memory(&self) -> usize {
        self.store.data().memory.size()
    }

    /// The storage, while no call is under way.
    pub fn storage_mut(&mut self) -> &mut S {
        self.store.data_mut().lent.storage_mut()
    }

    /// Begins or takes up a connection. Once, before the other calls of a connection.
    pub fn connect(
        &mut self,
        settings: &[Setting],
        kept: &[Memo],
        lost: &[Arrival],
    ) -> wasmtime::Result<Result<(), ConnectError>> {
        let _running = self.begin_call();
        self.exports.acp_sessions_connection().call_connect(&mut self.store, settings, kept, lost)
    }

    /// Hands over what arrived, and returns what follows. `client_room` in bytes, for replays.
    pub fn receive(&mut self, arrivals: &[Arrival], client_room: u32) -> wasmtime::Result<Step> {
        let _running = self.begin_call();
        self.exports.acp_sessions_connection().call_receive(&mut self.store, arrivals, client_room)
    }

    /// What is to be done by now.
    pub fn pull(&mut self, client_room: u32) -> wasmtime::Result<Step> {
        let _running = self.begin_call();
        self.exports.acp_sessions_connection().call_pull(&mut self.store, client_room)
    }

    /// Says that nothing more comes from that side.
    pub fn peer_closed(&mut self, peer: Peer) -> wasmtime::Result<()> {
        let _running = self.begin_call();
        self.exports.acp_sessions_connection().call_peer_closed(&mut self.store, peer)
    }

    /// Says that the agent has ended in this way, and that another was started in its place.
    pub fn agent_restarted(&mut self, how: &str) -> wasmtime::Result<()> {
        let _running = self.begin_call();
        self.exports.acp_sessions_connection().call_agent_restarted(&mut self.store, how)
    }

    /// Says that time has passed; returns after how many milliseconds to say so again.
    pub fn idle(&mut self) -> wasmtime::Result<Option<u32>> {
        let _running = self.begin_call();
        self.exports.acp_sessions_connection().call_idle(&mut self.store)
    }

    /// All that a fresh instance needs to go on as this one would, besides the memos; none where this one is not at rest. This one is
    /// of no more use then.
    pub fn hand_over(&mut self) -> wasmtime::Result<Option<String>> {
        let _running = self.begin_call();
        self.exports.acp_sessions_connection().call_hand_over(&mut self.store)
    }

    pub(super) fn begin_call(&mut self) -> Running<'c> {
        self.store.data_mut().lent.begin_call();
        self.store.set_epoch_deadline(ticks(self.component.limits.call_seconds));
        self.component.ticker.begin()
    }
}
