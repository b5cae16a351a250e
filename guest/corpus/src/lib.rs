//! The conformance corpus of `tests/corpus`: what a case is, how a story is recorded as one, how one is played. And the cases of
//! `tests/storage`, which storages are held against ([`contract`]).
//!
//! A story that drives its engines as [`Recorded`] ones is recorded, and held against its case or, where `CORPUS_RECORD` is
//! set, written as one. The format is told in `tests/corpus/README.md`.

mod case;
mod compare;
mod content;
pub mod contract;
mod file;
mod play;
mod recorded;
mod recorder;
mod tape;
mod typed;
mod watched;

use std::cell::Cell;

pub use case::{Arrival, Call, Case, Connect, Content as Arrived, Fault, Flaw, Peer, Step, WriteBy};
pub use compare::{difference, differences};
pub use content::Content;
pub use file::{all, folder, read};
pub use play::play;
pub use recorded::Recorded;
pub use recorder::Recorder;

/// The random numbers of one instance, one after the other.
#[derive(Debug)]
pub struct Numbers {
    instance: u32,
    drawn: Cell<u32>,
}

impl Numbers {
    /// Of an instance that has drawn none yet.
    pub fn of(instance: u32) -> Self {
        Self { instance, drawn: Cell::new(0) }
    }

    /// The next one.
    pub fn draw(&self) -> u64 {
        self.drawn.set(self.drawn.get() + 1);
        random(self.instance, self.drawn.get())
    }
}

/// The random number that the engine of this instance gets when it asks for the `nth` time, from 1 on.
fn random(instance: u32, nth: u32) -> u64 {
    (u64::from(instance) << 32 | u64::from(nth)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}
