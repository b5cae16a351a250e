//! What an instance may use up.

/// Bounds on one instance of the engine. Whatever goes beyond one of them loses the instance; its successor answers what was
/// being worked on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of memory, all of an instance's memories and tables together. The longest lines that pass through are held
    /// several times over: up to 16 times one of 16 MiB from a client, and 7 times one of 64 MiB from an agent
    /// (`host/tests/largest_lines`).
    pub memory: usize,
    /// Seconds that one call may take, time in the store included; it is stopped within a second after that, or, where it
    /// waits for the store, when that has answered. The store waits up to 10 s for other processes by itself, so less than
    /// that would stop healthy calls.
    pub call_seconds: u64,
    /// Bytes that one call across the sandbox's border may hand over, lists and strings as the host holds them: what the
    /// engine gives the storage or returns, and the pages of entries that it gets.
    pub call_bytes: usize,
    /// How often one call may use the storage.
    pub storage_calls: u32,
    /// Bytes that may wait to be written to the client and the agent together, with what a call adds to them.
    pub output: usize,
    /// Bytes of memos that the host keeps for the next instance, names and values.
    pub memos: usize,
}

impl Default for Limits {
    /// 768 MiB of memory, 60 seconds, 256 MiB a call, a million uses of the storage, 256 MiB of output and as much of memos.
    fn default() -> Self {
        Self {
            memory: 768 << 20,
            call_seconds: 60,
            call_bytes: 256 << 20,
            storage_calls: 1_000_000,
            output: 256 << 20,
            memos: 256 << 20,
        }
    }
}
