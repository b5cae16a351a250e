//! Runs the session engine: a sandboxed component between a client and an agent of the Agent Client Protocol.
//!
//! For whoever has the lines already, an editor's extension or a server:
//!
//! - [`engine`]: the engine of one connection, lines in and lines out, which survives its instances' traps.
//! - [`sessions`]: the sessions of a store without a connection: list, read, rename, archive, delete, prune, move, check.
//! - [`store`]: the storage that the program itself uses, in SQLite; any other is lent as well.
//! - [`folders`]: what the engine may know of folders: of Git, or of whatever else knows.
//! - [`component`]: loads and instantiates the engine, lends it a storage and bounds what it uses.
//!
//! For a program that stands on pipes:
//!
//! - [`transport`]: lines in and out of pipes.
//! - [`downstream`]: the agents behind the engine: a command, or the small built-in one.
//! - [`runner`]: one connection from its first line to its end.
//! - `cli`: the command line over all of it, with the feature `cli`.
//!
//! Nothing in here knows what a session is; all that is decided is decided by the component.
//!
//! # Features
//!
//! Both are on by default; a library needs neither.
//!
//! - `cli`: the program `acp-sessions`.
//! - `compile`: runs other engines than the built-in one, which takes a compiler into the program.
//!
//! # A session layer in thirty lines
//!
//! ```no_run
#![doc = include_str!("../examples/embed.rs")]
//! ```
//!
//! The same with lines instead of pipes is `examples/lines.rs`.

// What stands between this crate's stores and the engine's is a crate over this one, and is taken into its tests as a module.
#[cfg(test)]
extern crate self as acp_sessions;

#[cfg(feature = "cli")]
pub mod cli;
pub mod component;
pub mod downstream;
pub mod engine;
pub mod engine_config;
pub mod folders;
mod private;
pub mod runner;
pub mod sessions;
mod shell_word;
pub mod store;
pub mod transport;
