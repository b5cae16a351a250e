//! What belongs to one instance on the host's side.

use wasmtime::component::ResourceTable;
use wasmtime_wasi::clocks::WasiClocksCtx;
use wasmtime_wasi::random::WasiRandomCtx;

use super::Limits;
use super::lent::Lent;
use super::memory::Memory;

/// The data of an instance's store.
pub(super) struct State<S> {
    pub(super) lent: Lent<S>,
    pub(super) clocks: WasiClocksCtx,
    pub(super) random: WasiRandomCtx,
    pub(super) table: ResourceTable,
    pub(super) memory: Memory,
}

impl<S> State<S> {
    pub(super) fn new(storage: S, limits: Limits) -> Self {
        Self {
            lent: Lent::new(storage, limits),
            clocks: WasiClocksCtx::default(),
            random: WasiRandomCtx::default(),
            table: ResourceTable::new(),
            memory: Memory::new(limits.memory),
        }
    }
}
