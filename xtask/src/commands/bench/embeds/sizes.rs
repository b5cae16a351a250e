//! How much is measured.

/// How many of each.
#[derive(Debug, Clone, Copy)]
pub(super) struct Sizes {
    /// How often all take turns.
    pub(super) rounds: usize,
    /// Sessions in the store.
    pub(super) sessions: usize,
    /// Updates in the one that is loaded, half of them text.
    pub(super) loaded: usize,
    /// Lines that pass, in each round.
    pub(super) passed: usize,
    /// Updates that are recorded, in each round.
    pub(super) recorded: usize,
    /// Pages, and searches, in each round.
    pub(super) listed: usize,
}

impl Sizes {
    /// For figures.
    pub(super) fn full() -> Self {
        Self { rounds: 9, sessions: 1_000, loaded: 10_000, passed: 3_000, recorded: 3_000, listed: 30 }
    }

    /// To see that everything works.
    pub(super) fn short() -> Self {
        Self { rounds: 1, sessions: 20, loaded: 100, passed: 20, recorded: 200, listed: 2 }
    }
}
