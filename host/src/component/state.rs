//! What belongs to one instance on the host's side.

use wasmtime::component::ResourceTable;
use wasmtime_wasi::clocks::WasiClocksCtx;
use wasmtime_wasi::random::WasiRandomCtx;

use super::Limits;
use super::lent::Lent;
use super::memory::Memory;
use crate::folders::Folders;

/// The data of an instance's store.
pub(super) struct State<S> {
    pub(super) lent: Lent<S>,
    pub(super) folders: Folders,
    pub(super) clocks: WasiClocksCtx,
    pub(super) random: WasiRandomCtx,
    pub(super) table: ResourceTable,
    pub(super) memory: Memory,
}

impl<S> State<S> {
    pub(super) fn new(storage: S, folders: Folders, limits: Limits) -> Self {
        Self {
            lent: Lent::new(storage, limits),
            folders,
            clocks: WasiClocksCtx::default(),
            random: WasiRandomCtx::default(),
            table: ResourceTable::new(),
            memory: Memory::new(limits.memory),
        }
    }
}
