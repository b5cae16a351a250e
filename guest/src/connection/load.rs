//! How much of the client's waits in the engine: what is past the limit waits in the client's pipe.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// With more than this waiting, no more is taken of the client, in bytes. One line of the longest that hosts give does not
/// fill it: what the agent needs of the client first may stand behind it.
const MOST: usize = 17 * 1024 * 1024;
/// What it costs to have anything wait, besides its text.
const OVERHEAD: usize = 512;

/// All that waits.
#[derive(Debug, Clone, Default)]
pub(super) struct Load(Arc<AtomicUsize>);

/// The share of one thing, for as long as it waits.
#[derive(Debug)]
pub(super) struct Share {
    load: Load,
    bytes: usize,
}

impl Load {
    /// Something begins to wait whose text has this length.
    pub(super) fn share(&self, text: usize) -> Share {
        let bytes = text + OVERHEAD;
        self.0.fetch_add(bytes, Ordering::Relaxed);
        Share { load: self.clone(), bytes }
    }

    /// Whether no more should come before some of it has been done.
    pub(super) fn is_full(&self) -> bool {
        self.0.load(Ordering::Relaxed) > MOST
    }
}

impl Drop for Share {
    fn drop(&mut self) {
        self.load.0.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}
