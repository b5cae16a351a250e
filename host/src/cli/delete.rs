//! `acp-sessions delete`

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::ExitCode;

use super::engine::EngineOptions;
use super::printable::{Form, Out, printable};
use super::store::StoreOptions;
use super::{Outcome, removal};
use crate::sessions::Sessions;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    store: StoreOptions,

    #[command(flatten)]
    engine: EngineOptions,

    /// The sessions
    #[arg(value_name = "ID", required = true)]
    ids: Vec<String>,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Outcome {
    let component = arguments.engine.load()?;
    let mut sessions = Sessions::of(&component, arguments.store.open_existing()?)?;
    // The engine takes an unknown id for deleted; a person has more likely mistyped it, and then nothing goes.
    for id in &arguments.ids {
        sessions.get(id)?;
    }
    // One that is named twice goes once.
    let mut named = BTreeSet::new();
    for id in arguments.ids.iter().filter(|id| named.insert(*id)) {
        sessions.delete(id)?;
        writeln!(out, "Deleted {}.", printable(id, Form::Line))?;
        // Each is told when it is done, whatever becomes of the next.
        out.flush()?;
    }
    removal::finish(sessions, out)?;
    Ok(ExitCode::SUCCESS)
}
