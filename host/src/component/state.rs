//! What belongs to one instance on the host's side.

use super::Limits;
use super::lent::Lent;
use super::memory::Memory;
use super::wasi::Wasi;
use crate::folders::Folders;

/// The data of an instance's store.
pub(super) struct State<S> {
    pub(super) lent: Lent<S>,
    pub(super) folders: Folders,
    pub(super) wasi: Wasi,
    pub(super) memory: Memory,
}

impl<S> State<S> {
    pub(super) fn new(storage: S, folders: Folders, limits: Limits) -> Self {
        Self { lent: Lent::new(storage, limits), folders, wasi: Wasi, memory: Memory::new(limits.memory) }
    }
}
