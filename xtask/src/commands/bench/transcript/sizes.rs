//! How much is measured.

/// How many of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// How often the contenders take turns.
    pub(super) rounds: usize,
    /// Requests and notifications one at a time, in each round.
    pub(super) singles: usize,
    /// Whole turns in each round.
    pub(super) turns: usize,
    /// Updates in a stream.
    pub(super) stream: usize,
    /// Histories that are loaded.
    pub(super) histories: [History; 3],
    /// Updates in the sessions that are forked.
    pub(super) forked: [usize; 2],
    /// How often each is forked.
    pub(super) forks: usize,
    /// Sessions of an agent's own that are taken in.
    pub(super) listed: usize,
    /// How many of them a page has.
    pub(super) pages: [usize; 2],
    /// How often they are taken in, each time into a new store.
    pub(super) intakes: usize,
    /// Updates that the engine takes in the comparison with itself in machine code.
    pub(super) sandboxed: usize,
}

/// A session's history, and how often it is loaded.
#[derive(Debug, Clone, Copy)]
pub(super) struct History {
    pub(super) updates: usize,
    /// Bytes of text in each.
    pub(super) bytes: usize,
    /// As `fast_agent` calls it.
    pub(super) kind: &'static str,
    pub(super) loads: usize,
}

impl Sizes {
    /// For figures.
    pub(super) fn full() -> Self {
        Self {
            rounds: 7,
            singles: 500,
            turns: 40,
            stream: 20_000,
            histories: [
                History { updates: 10_000, bytes: 64, kind: "mixed", loads: 15 },
                History { updates: 1_000_000, bytes: 64, kind: "mixed", loads: 3 },
                History { updates: 9_600, bytes: 64 << 10, kind: "tools", loads: 3 },
            ],
            forked: [10, 100_000],
            forks: 21,
            listed: 10_000,
            pages: [50, 1_000],
            intakes: 5,
            sandboxed: 100_000,
        }
    }

    /// To see that everything works.
    pub(super) fn short() -> Self {
        Self {
            rounds: 2,
            singles: 20,
            turns: 3,
            stream: 500,
            histories: [
                History { updates: 500, bytes: 64, kind: "mixed", loads: 2 },
                History { updates: 5_000, bytes: 64, kind: "mixed", loads: 1 },
                History { updates: 640, bytes: 64 << 10, kind: "tools", loads: 1 },
            ],
            forked: [10, 1_000],
            forks: 3,
            listed: 200,
            pages: [20, 200],
            intakes: 1,
            sandboxed: 1_000,
        }
    }
}
