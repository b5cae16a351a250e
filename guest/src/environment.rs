//! The two things besides storage that the engine is lent: a clock and randomness.

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
