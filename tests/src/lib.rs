//! What the whole-program tests are made of: a client that speaks raw lines, agents of every kind, the official JSON
//! schema as a judge, and a model for agents that need one.

#![expect(clippy::missing_panics_doc, reason = "whatever is not as it should be fails the test")]

pub mod agent;
pub mod client;
pub mod clients;
pub mod engines;
pub mod followed;
pub mod git;
pub mod launch;
pub mod model_stub;
pub mod process;
pub mod ran;
pub mod reader;
pub mod real_agents;
pub mod scene;
pub mod schema;
pub mod script;
pub mod tap;
pub mod torture;
pub mod transcript;
pub mod unprivileged;

use std::time::{Duration, Instant};

/// How long a test waits for anything before it fails: far longer than anything takes, on a busy machine too.
pub const PATIENCE: Duration = Duration::from_mins(2);

/// Looks again and again until it is so.
pub fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "it never came to pass that {what}");
    }
}
