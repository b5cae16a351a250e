//! An agent written with the official Rust SDK, whose abilities and habits are chosen by flags, so that the tests can
//! stand the program in front of every kind of agent.

mod folder;
mod habits;
mod options;
mod outside;
mod prompt;
mod serve;
mod slow_load;
mod state;

pub use habits::{Auth, Habits};
pub use options::Options;
pub use outside::Outside;
pub use serve::serve;
