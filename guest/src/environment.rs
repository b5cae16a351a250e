//! The two things besides storage that the engine is lent: a clock and randomness.

use std::cell::Cell;

/// What time it is, and bytes nobody can guess.
pub trait Environment {
    /// Milliseconds since 1970, UTC.
    fn now(&self) -> i64;

    /// 64 random bits, good enough for ids.
    fn random(&self) -> u64;
}

impl<E: Environment + ?Sized> Environment for &E {
    fn now(&self) -> i64 {
        (**self).now()
    }

    fn random(&self) -> u64 {
        (**self).random()
    }
}

/// An environment as one call of the host's sees it: all that happens in a call happens at once. The clock is asked
/// once at most, and only where the time matters: calls out of the component are dear in some runtimes.
#[derive(Debug)]
pub struct Moment<E> {
    environment: E,
    now: Cell<Option<i64>>,
}

impl<E> Moment<E> {
    /// The first moment.
    pub fn new(environment: E) -> Self {
        Self { environment, now: Cell::new(None) }
    }

    /// This moment is over.
    pub fn pass(&self) {
        self.now.set(None);
    }
}

impl<E: Environment> Environment for Moment<E> {
    fn now(&self) -> i64 {
        let now = self.now.get().unwrap_or_else(|| self.environment.now());
        self.now.set(Some(now));
        now
    }

    fn random(&self) -> u64 {
        self.environment.random()
    }
}
