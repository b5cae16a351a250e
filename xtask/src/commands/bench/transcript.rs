//! What recording costs while a conversation goes on, how fast it comes back, and how fast an agent's own sessions are listed.

mod client;
mod contender;
mod fork;
mod history;
mod intake;
mod load;
mod memory;
mod overhead;
mod sandbox;
mod sizes;
mod sync;

use anyhow::{Context as _, Result};
use serde_json::json;

use super::section::Section;
use crate::workspace;
use sizes::Sizes;

/// Options of `cargo xtask bench transcript`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// Small sizes: whether it works, not how fast it is
    #[arg(long)]
    short: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Only these parts
    #[arg(long, value_enum, value_delimiter = ',')]
    only: Vec<Part>,
}

/// What is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// What each request and notification takes longer than without anything between
    Overhead,
    /// How fast a history comes back, and the memory it takes
    Load,
    /// How long a fork takes
    Fork,
    /// How long it takes to list the sessions that an agent has already
    Intake,
    /// The engine as a component, against the same engine in machine code
    Sandbox,
}

/// Measures and prints.
pub(crate) fn run(options: &Options) -> Result<()> {
    build()?;
    let sizes = if options.short { Sizes::short() } else { Sizes::full() };
    let folder = tempfile::tempdir().context("cannot make a temporary folder")?;
    let is_wanted = |part| options.only.is_empty() || options.only.contains(&part);
    let mut sections = Vec::new();
    let mut done = |section: Section| {
        if !options.json {
            section.print();
        }
        sections.push(section);
    };
    if is_wanted(Part::Overhead) {
        overhead::measure(&sizes, folder.path())?.into_iter().for_each(&mut done);
    }
    if is_wanted(Part::Load) {
        load::measure(&sizes, folder.path(), &mut done)?;
    }
    if is_wanted(Part::Fork) {
        done(fork::measure(&sizes, folder.path())?);
    }
    if is_wanted(Part::Intake) {
        done(intake::measure(&sizes, folder.path())?);
    }
    if is_wanted(Part::Sandbox) {
        done(sandbox::measure(&sizes)?);
    }
    if options.json {
        let mut figures: serde_json::Map<_, _> =
            sections.iter().map(|section| (section.key.to_owned(), section.to_json())).collect();
        figures.insert("bench".into(), json!("transcript"));
        println!("{:#}", serde_json::Value::Object(figures));
    }
    Ok(())
}

fn build() -> Result<()> {
    let programs = ["--bin", "acp-sessions", "--bin", "conductor", "--bin", "fast_agent", "--example", "sandbox"];
    workspace::run(workspace::cargo(["build", "--release", "--workspace"]).args(programs))
}
