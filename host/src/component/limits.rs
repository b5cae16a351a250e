//! What an instance may use up.

/// Bounds on one instance of the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory. The longest lines that pass through are held several times over: up to 16 times one of 16 MiB
    /// from a client, and 7 times one of 64 MiB from an agent (`host/tests/largest_lines`).
    pub memory: usize,
    /// Seconds that one call may take, time in the store included. The store waits up to 10 s for other processes
    /// by itself, so less than that would stop healthy calls.
    pub call_seconds: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { memory: 768 << 20, call_seconds: 60 }
    }
}
