//! One connection from its first line to its end: what comes from either side goes to the engine, what the engine
//! answers goes where it belongs.
//!
//! ```text
//!   client ──▶ input ─┐          ┌─ output ──▶ client
//!                     ├─▶ engine ─┤
//!   agent  ──▶ input ─┘          └─ output ──▶ agent
//! ```
//!
//! One thread reads, decides and writes. It waits at one place, for all streams at once, and never for one of them: what
//! a stream does not take at the moment waits in its output.

mod connection;
mod ends;
mod restart;
mod shutdown;
mod streams;
mod timer;

pub use self::connection::Connection;
pub use self::ends::{End, Ends, RunError, Timing};
pub use self::restart::{Restart, Started};

#[cfg(test)]
mod tests;
