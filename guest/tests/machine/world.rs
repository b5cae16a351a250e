//! The clock and the randomness of a case.

use std::cell::Cell;

use acp_sessions_corpus::{Numbers, Recorder};
use acp_sessions_guest::environment::Environment;

/// A clock that moves when it is told to, and what is recorded of the case.
#[derive(Debug)]
pub(crate) struct World {
    now: Cell<i64>,
    pub(crate) recorder: Recorder,
    /// Instances hand over to fresh ones whenever they are at rest.
    pub(crate) renews: bool,
}

impl World {
    pub(crate) fn new(recorder: Recorder, renews: bool) -> Self {
        Self { now: Cell::new(1_760_000_000_000), recorder, renews }
    }

    /// What time it is.
    pub(crate) fn now(&self) -> i64 {
        self.now.get()
    }

    /// Moves the clock, forward or back.
    pub(crate) fn pass(&self, millis: i64) {
        self.now.set(self.now.get() + millis);
    }
}

/// The world as one engine sees it: its numbers are those of the conformance corpus.
#[derive(Debug)]
pub(crate) struct Seat<'a> {
    world: &'a World,
    numbers: Numbers,
}

impl<'a> Seat<'a> {
    pub(crate) fn new(world: &'a World, instance: u32) -> Self {
        Self { world, numbers: Numbers::of(instance) }
    }
}

impl Environment for Seat<'_> {
    fn now(&self) -> i64 {
        self.world.now()
    }

    fn random(&self) -> u64 {
        self.numbers.draw()
    }
}

/// Random numbers from a seed (`splitmix64`).
#[derive(Debug)]
pub(crate) struct Dice(Cell<u64>);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(Cell::new(seed))
    }

    pub(crate) fn next(&self) -> u64 {
        let state = self.0.get().wrapping_add(0x9e37_79b9_7f4a_7c15);
        self.0.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A number below `bound`, which is at least 1.
    pub(crate) fn below(&self, bound: u8) -> u8 {
        u8::try_from(self.next() % u64::from(bound)).unwrap_or_default()
    }

    pub(crate) fn percent(&self, chance: u8) -> bool {
        self.below(100) < chance
    }
}
