//! `cargo xtask bench …`: one module a bench.

pub(crate) mod embeds;
mod figures;
mod list;
mod section;
mod startup;
mod transcript;

use anyhow::Result;

/// What to measure. Every bench measures what it compares in the same run, interleaved: read the ratios.
#[derive(Debug, clap::Subcommand)]
pub(crate) enum Bench {
    /// The packages for JavaScript and Python, in Node, Chromium and Python, against the crate on the same lines
    Embeds(embeds::Options),
    /// Lists of a thousand to a million sessions, against a bare query and a bare echo
    List(list::Options),
    /// From exec to the answer to `initialize`, against a bare agent; memory at rest
    Startup(startup::Options),
    /// What recording costs, against `cat` and the Rust SDK's conductor; load, fork, memory, the price of the sandbox
    Transcript(transcript::Options),
}

/// Runs one.
pub(crate) fn run(bench: &Bench) -> Result<()> {
    match bench {
        Bench::Embeds(options) => embeds::run(options),
        Bench::List(options) => list::run(options),
        Bench::Startup(options) => startup::run(options),
        Bench::Transcript(options) => transcript::run(options),
    }
}
