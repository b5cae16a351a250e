//! An agent written with the official Rust SDK, whose abilities are chosen by flags, so that the tests can stand the
//! program in front of every kind of agent.

mod options;
mod prompt;
mod serve;
mod state;

pub use options::Options;
pub use serve::serve;
