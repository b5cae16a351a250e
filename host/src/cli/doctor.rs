//! `acp-sessions doctor`

mod found;
mod health;
mod interrupt;
mod pass;
mod progress;
mod rebuild;
mod salvage;

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use serde_json::json;

use super::Outcome;
use super::engine::EngineOptions;
use super::printable::Out;
use super::store::StoreOptions;
use crate::component::sessions::Mending;
use crate::sessions::Sessions;
use crate::store::Sqlite;
use crate::store::sqlite::{Damaged, Health, OpenError, fault_of_journal};
use found::Found;
use interrupt::{INTERRUPTED, Interrupt};
use pass::Pass;
use progress::Progress;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    store: StoreOptions,

    #[command(flatten)]
    engine: EngineOptions,

    /// Makes anew what follows from the rest: indexes for lists and search, counters. Others can use the store meanwhile, and
    /// it can be interrupted
    #[arg(long)]
    rebuild: bool,

    /// Writes what can be read of the store into a new one in FILE, however damaged it is. The store itself stays as it is
    #[arg(long, value_name = "FILE", conflicts_with = "rebuild")]
    salvage: Option<PathBuf>,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Outcome {
    arguments.store.check_exists()?;
    if let Some(target) = &arguments.salvage {
        return salvage::salvage(arguments, &arguments.store.path()?, target, out);
    }
    let path = arguments.store.path()?;
    if is_nothing(&path) {
        return health::of_nothing(&path.to_string_lossy(), arguments.json, out);
    }
    // Whoever opens the file to write drops what cannot be used of its journal.
    let journal = fault_of_journal(&path);
    let (store, mut health) = match Sqlite::examine(&path) {
        Ok(store) => {
            let health = store.check()?;
            (Some(store), health)
        }
        Err(error @ OpenError::Open { .. }) => (None, Health::of_unreadable(&error)),
        Err(error @ OpenError::Foreign(_)) => {
            anyhow::bail!("{error}; if it was one, acp-sessions doctor --salvage FILE looks for what can be read in it")
        }
        Err(error) => return Err(error.into()),
    };
    health.faults.extend(journal);
    let path = path.to_string_lossy();
    let is_usable = health.faults.iter().all(|fault| fault.of != Damaged::File);
    if arguments.rebuild && is_usable {
        drop(store);
        return rebuild::rebuild(arguments, &path, &health, out);
    }
    let found = match store {
        None => Some(Found::default()),
        Some(store) => compare(arguments, store, &health)?,
    };
    let Some(found) = found else {
        if arguments.json {
            out.json(&json!({ "ended": "interrupted" }).to_string())?;
        } else {
            writeln!(out, "Interrupted before all was compared. Nothing was changed.")?;
        }
        return Ok(ExitCode::from(INTERRUPTED));
    };
    if arguments.json {
        health::to_json(out, &path, &health, &found)?;
    } else {
        if arguments.rebuild {
            writeln!(out, "Not rebuilt: the file itself is damaged, and what is written to it could be lost as well.")?;
        }
        health::describe(out, &path, &health)?;
        health::conclude(out, &health, &found)?;
        if is_usable && health.has_much_free() {
            writeln!(
                out,
                "{} MiB of the file are free. acp-sessions doctor --rebuild gives them back to the disk.",
                health.free_bytes >> 20
            )?;
        }
    }
    Ok(if health::is_good(&health, &found) { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Whether nothing was ever written into this file, nor into a journal beside it.
fn is_nothing(path: &Path) -> bool {
    let length = |path: &Path| fs::metadata(path).map_or(0, |found| found.len());
    let journal = [path.as_os_str(), OsStr::new("-wal")].into_iter().collect::<OsString>();
    path.is_file() && length(path) == 0 && length(Path::new(&journal)) == 0
}

/// Has the engine compare what is in the store; none where it was interrupted. Of a damaged file that goes as far as it goes.
fn compare(arguments: &Arguments, store: Sqlite, health: &Health) -> anyhow::Result<Option<Found>> {
    let component = arguments.engine.load()?;
    let mut sessions = Sessions::of(&component, store)?;
    let interrupt = Interrupt::listen()?;
    let mut pass = Pass::new(Mending::Nothing, health.entries, Progress::quiet());
    match pass.run(&mut sessions, &interrupt, None) {
        Err(_) if !health.faults.is_empty() => {}
        result => result?,
    }
    Ok((!interrupt.is_set()).then_some(pass.found))
}
