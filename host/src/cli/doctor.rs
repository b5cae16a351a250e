//! `acp-sessions doctor`

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;

use super::Outcome;
use super::answer::plain;
use super::printable::{Form, Out, printable};
use super::store::{self, StoreOptions};
use crate::store::Sqlite;

/// How many sessions are indexed in one step.
const STEP: u32 = 100;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    store: StoreOptions,

    /// Makes the indexes for lists and search anew from the sessions themselves
    #[arg(long)]
    rebuild: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Outcome {
    let store = arguments.store.open_existing()?;
    let health = store.check()?;
    writeln!(out, "Store:       {}", printable(&arguments.store.path()?.to_string_lossy(), Form::Line))?;
    writeln!(out, "Format:      {}", health.format)?;
    writeln!(out, "Size:        {} KiB, {} KiB of it free", health.bytes / 1024, health.free_bytes / 1024)?;
    if !health.faults.is_empty() {
        writeln!(out, "Damaged:")?;
        for fault in &health.faults {
            writeln!(out, "  {}", printable(fault, Form::Line))?;
        }
        writeln!(out, "Make a copy of the file before anything else uses it.")?;
        return Ok(ExitCode::FAILURE);
    }
    writeln!(out, "Records:     {}", health.records)?;
    writeln!(out, "Logs:        {} with {} entries", health.logs, health.entries)?;
    writeln!(out, "Search:      {} texts", health.texts)?;
    writeln!(out, "Health:      good")?;
    if arguments.rebuild {
        return rebuild(store, out);
    }
    Ok(ExitCode::SUCCESS)
}

fn rebuild(store: Sqlite, out: &mut Out) -> Outcome {
    let component = store::engine()?;
    let mut engine = component.instantiate(store)?;
    let watched = io::stderr().is_terminal();
    let mut done = 0_u64;
    let mut cursor = None;
    let broken = loop {
        let rebuilt = plain(engine.rebuild_indexes(cursor.as_deref(), STEP))?;
        done += u64::from(rebuilt.done);
        if watched {
            write!(io::stderr(), "\rIndexed:     {done} sessions")?;
        }
        cursor = rebuilt.next_cursor;
        if cursor.is_none() {
            break rebuilt.broken;
        }
    };
    if watched {
        writeln!(io::stderr())?;
    }
    engine.into_storage().compact()?;
    writeln!(out, "Rebuilt the indexes of {done} sessions.")?;
    if broken.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(out, "Records that cannot be read, and were left as they are:")?;
    for key in broken {
        writeln!(out, "  {}", printable(&key, Form::Line))?;
    }
    Ok(ExitCode::FAILURE)
}
