//! `acp-sessions doctor`

use std::io::{self, IsTerminal as _};
use std::process::ExitCode;

use super::Outcome;
use super::answer::plain;
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

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let store = arguments.store.open_existing()?;
    let health = store.check()?;
    println!("Store:       {}", arguments.store.path()?.display());
    println!("Format:      {}", health.format);
    println!("Size:        {} KiB, {} KiB of it free", health.bytes / 1024, health.free_bytes / 1024);
    if !health.faults.is_empty() {
        println!("Damaged:");
        for fault in &health.faults {
            println!("  {fault}");
        }
        println!("Make a copy of the file before anything else uses it.");
        return Ok(ExitCode::FAILURE);
    }
    println!("Records:     {}", health.records);
    println!("Logs:        {} with {} entries", health.logs, health.entries);
    println!("Search:      {} texts", health.texts);
    println!("Health:      good");
    if arguments.rebuild {
        return rebuild(store);
    }
    Ok(ExitCode::SUCCESS)
}

fn rebuild(store: Sqlite) -> Outcome {
    let component = store::engine()?;
    let mut engine = component.instantiate(store)?;
    let watched = io::stderr().is_terminal();
    let mut done = 0_u64;
    let mut cursor = None;
    let broken = loop {
        let rebuilt = plain(engine.rebuild_indexes(cursor.as_deref(), STEP))?;
        done += u64::from(rebuilt.done);
        if watched {
            eprint!("\rIndexed:     {done} sessions");
        }
        cursor = rebuilt.next_cursor;
        if cursor.is_none() {
            break rebuilt.broken;
        }
    };
    if watched {
        eprintln!();
    }
    engine.into_storage().compact()?;
    println!("Rebuilt the indexes of {done} sessions.");
    if broken.is_empty() {
        return Ok(ExitCode::SUCCESS);
    }
    println!("Records that cannot be read, and were left as they are:");
    for key in broken {
        println!("  {key}");
    }
    Ok(ExitCode::FAILURE)
}
