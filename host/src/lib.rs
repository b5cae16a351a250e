//! Runs the session engine: a sandboxed component between a client and an agent of the Agent Client Protocol.
//!
//! - [`component`]: loads and instantiates the engine, lends it a storage and bounds what it uses.
//! - [`store`]: the storage that the program itself uses, in SQLite.
//! - [`transport`]: lines in and out of pipes.
//! - [`downstream`]: the agents behind the engine: a command, or the small built-in one.
//! - [`runner`]: one connection from its first line to its end.
//! - [`cli`]: the command line over all of it.
//!
//! Nothing in here knows what a session is; all that is decided is decided by the component.

pub mod cli;
pub mod component;
pub mod downstream;
pub mod engine_config;
mod private;
pub mod runner;
pub mod store;
pub mod transport;
