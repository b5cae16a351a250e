//! `acp-sessions doctor`

mod progress;
mod rebuild;

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::json;

use super::Outcome;
use super::printable::{Form, Out, printable};
use super::store::StoreOptions;
use crate::store::sqlite::Health;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    store: StoreOptions,

    /// Makes the indexes for lists and search anew from the sessions themselves. Others can use the store meanwhile, and it
    /// can be interrupted
    #[arg(long)]
    rebuild: bool,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Outcome {
    let store = arguments.store.open_existing_beside_others()?;
    let health = store.check()?;
    let path = arguments.store.path()?;
    let path = path.to_string_lossy();
    if arguments.json {
        out.json(&to_json(&path, &health))?;
    } else {
        describe(out, &path, &health)?;
    }
    if !health.faults.is_empty() {
        return Ok(ExitCode::FAILURE);
    }
    if arguments.rebuild {
        return rebuild::rebuild(store, health.entries, arguments.json, out);
    }
    Ok(ExitCode::SUCCESS)
}

fn describe(out: &mut Out, path: &str, health: &Health) -> anyhow::Result<()> {
    writeln!(out, "Store:       {}", printable(path, Form::Line))?;
    writeln!(out, "Format:      {}", health.format)?;
    writeln!(out, "Size:        {} KiB, {} KiB of it free", health.bytes / 1024, health.free_bytes / 1024)?;
    if !health.faults.is_empty() {
        writeln!(out, "Damaged:")?;
        for fault in &health.faults {
            writeln!(out, "  {}", printable(fault, Form::Line))?;
        }
        writeln!(out, "Make a copy of the file before anything else uses it.")?;
        return Ok(());
    }
    writeln!(out, "Records:     {}", health.records)?;
    writeln!(out, "Logs:        {} with {} entries", health.logs, health.entries)?;
    writeln!(out, "Search:      {} texts", health.texts)?;
    writeln!(out, "Health:      good")?;
    Ok(())
}

fn to_json(path: &str, health: &Health) -> String {
    json!({
        "store": path,
        "format": health.format,
        "bytes": health.bytes,
        "freeBytes": health.free_bytes,
        "faults": health.faults,
        "records": health.records,
        "logs": health.logs,
        "entries": health.entries,
        "texts": health.texts,
    })
    .to_string()
}
