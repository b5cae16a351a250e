//! One connection from its first line to its end: what comes from either side goes to the engine, what the engine
//! answers goes where it belongs.
//!
//! ```text
//!   reader ─┐             ┌─ outbox ─ writer ─▶ client
//!           ├─ inbox ─▶ engine
//!   reader ─┘             └─ outbox ─ writer ─▶ agent
//! ```
//!
//! The engine's thread waits for the inbox only, never for a pipe.

mod connection;
mod engine;
mod shutdown;

pub use self::connection::{Connection, End, Pipes, Timing};
pub use self::engine::RunError;

#[cfg(test)]
mod tests;
