//! How much is held in memory of what comes in any number: what of the client's waits (past the limit it waits in the
//! client's pipe), and the states of open sessions (past the limit they are read again when they are needed) with what agents
//! replay to be compared (past it that is written).

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The limit of each, in bytes. One line of the longest that hosts give does not fill it: what the agent needs of the client
/// first may stand behind it.
const MOST: usize = 17 * 1024 * 1024;
/// What it costs to hold anything, besides its text.
const OVERHEAD: usize = 512;

/// All that is held.
#[derive(Debug, Clone, Default)]
pub(super) struct Load(Arc<AtomicUsize>);

/// The share of one thing, for as long as it is held.
#[derive(Debug)]
pub(super) struct Share {
    load: Load,
    bytes: usize,
}

impl Load {
    /// Something is held from now on whose text has this length.
    pub(super) fn share(&self, text: usize) -> Share {
        let bytes = text + OVERHEAD;
        self.0.fetch_add(bytes, Ordering::Relaxed);
        Share { load: self.clone(), bytes }
    }

    /// Whether there should not be more.
    pub(super) fn is_full(&self) -> bool {
        self.0.load(Ordering::Relaxed) > MOST
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.load.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
