//! What of WASI the engine is lent: the time of day and random numbers. It has no business with files, sockets or standard
//! output.
//!
//! These are four functions over the standard library and `getrandom`; wasmtime's implementation of all of WASI would bring
//! seventy crates, an asynchronous runtime among them.

use std::time::{Duration, SystemTime};

use wasmtime::{Error, Result, format_err};

use super::bindings::wasi::clocks::wall_clock::{self, Datetime};
use super::bindings::wasi::random::random;

/// The most random bytes that are given at once. The engine asks for eight.
const MOST_RANDOM: u64 = 64 * 1024;

/// The machine's clock and its random numbers.
#[derive(Debug)]
pub(super) struct Wasi;

impl wall_clock::Host for Wasi {
    fn now(&mut self) -> Result<Datetime> {
        // A clock that stands before 1970 has never been set.
        Ok(datetime(SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default()))
    }

    fn resolution(&mut self) -> Result<Datetime> {
        Ok(datetime(Duration::from_nanos(1)))
    }
}

impl random::Host for Wasi {
    fn get_random_bytes(&mut self, length: u64) -> Result<Vec<u8>> {
        let length = usize::try_from(length).ok().filter(|_| length <= MOST_RANDOM);
        let length =
            length.ok_or_else(|| format_err!("more than {MOST_RANDOM} random bytes were asked for at once"))?;
        let mut bytes = vec![0; length];
        getrandom::fill(&mut bytes).map_err(no_randomness)?;
        Ok(bytes)
    }

    fn get_random_u64(&mut self) -> Result<u64> {
        getrandom::u64().map_err(no_randomness)
    }
}

fn no_randomness(error: getrandom::Error) -> Error {
    format_err!("the system has no random numbers: {error}")
}

fn datetime(since_1970: Duration) -> Datetime {
    Datetime { seconds: since_1970.as_secs(), nanoseconds: since_1970.subsec_nanos() }
}

#[cfg(test)]
mod tests {
    use super::random::Host as _;
    use super::wall_clock::Host as _;
    use super::*;

    #[test]
    fn the_time_is_the_systems() {
        let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        let (before, told, after) = (now(), Wasi.now().unwrap(), now());
        let told = Duration::new(told.seconds, told.nanoseconds);
        assert!((before..=after).contains(&told), "{told:?} is not between {before:?} and {after:?}");
        assert!(Wasi.resolution().is_ok_and(|step| (step.seconds, step.nanoseconds) > (0, 0)));
    }

    #[test]
    fn random_bytes_are_as_many_as_asked_for_up_to_a_bound() {
        for (length, expected) in
            [(0, Some(0)), (8, Some(8)), (MOST_RANDOM, Some(65_536)), (MOST_RANDOM + 1, None), (u64::MAX, None)]
        {
            assert_eq!(Wasi.get_random_bytes(length).ok().map(|bytes| bytes.len()), expected, "{length}");
        }
        // Once in 2^64 runs these are the same.
        assert_ne!(Wasi.get_random_u64().unwrap(), Wasi.get_random_u64().unwrap());
    }
}
