//! What an instance may use up.

/// Bounds on one instance of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory. The largest line that passes through is held several times over.
    pub memory: usize,
    /// Seconds that one call may take, time in the store included. The store waits up to 10 s for other processes
    /// by itself, so less than that would stop healthy calls.
    pub call_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 512 << 20, call_seconds: 60 }
    }
}
