//! Saying how a store is.

use std::io::Write as _;
use std::process::ExitCode;

use serde_json::{Value, json};

use super::super::Outcome;
use super::super::printable::{Form, Out, printable};
use super::found::Found;
use crate::component::sessions::Mending;
use crate::store::sqlite::{Damaged, Fault, Health};

/// What a file of no bytes says.
const NOTHING: &str = "no sessions yet";

/// Whether nothing is wrong with it.
pub(super) fn is_good(health: &Health, found: &Found) -> bool {
    health.faults.is_empty() && !found.is_any_left()
}

/// What there is.
pub(super) fn describe(out: &mut Out, path: &str, health: &Health) -> anyhow::Result<()> {
    writeln!(out, "Store:       {}", printable(path, Form::Line))?;
    writeln!(out, "Format:      {}", health.format)?;
    writeln!(out, "Size:        {} KiB, {} KiB of it free", health.bytes / 1024, health.free_bytes / 1024)?;
    writeln!(out, "Records:     {}", health.records)?;
    writeln!(out, "Logs:        {} with {} entries", health.logs, health.entries)?;
    writeln!(out, "Search:      {} texts", health.texts)?;
    Ok(())
}

/// A file of no bytes: nothing was ever written into it, or all of it is lost, which nobody can tell apart.
pub(super) fn of_nothing(path: &str, as_json: bool, out: &mut Out) -> Outcome {
    let faults = vec![Fault { of: Damaged::File, what: NOTHING.to_owned() }];
    let health = Health { format: 0, faults, records: 0, logs: 0, entries: 0, texts: 0, bytes: 0, free_bytes: 0 };
    if as_json {
        to_json(out, path, &health, &Found::default())?;
    } else {
        writeln!(out, "Store:       {}", printable(path, Form::Line))?;
        writeln!(out, "Health:      empty: {NOTHING}")?;
        writeln!(out, "If there were any, all of the file is lost: neither --rebuild nor --salvage brings them back.")?;
    }
    Ok(ExitCode::FAILURE)
}

/// Whether that is well, and what can be done where it is not.
pub(super) fn conclude(out: &mut Out, health: &Health, found: &Found) -> anyhow::Result<()> {
    if is_good(health, found) {
        writeln!(out, "Health:      good")?;
        return Ok(());
    }
    if !health.faults.is_empty() {
        writeln!(out, "Damaged:")?;
        for fault in &health.faults {
            writeln!(out, "  {}", printable(&fault.what, Form::Line))?;
        }
    }
    if found.is_any_left() {
        writeln!(out, "Wrong:")?;
        found.print(false, out)?;
    }
    writeln!(out, "Health:      damaged")?;
    let is = |damaged| health.faults.iter().any(|fault| fault.of == damaged);
    let is_file = is(Damaged::File);
    if !is_file && (is(Damaged::Derived) || found.needs(Mending::Derived)) {
        writeln!(out, "What follows from the rest can be made anew: acp-sessions doctor --rebuild")?;
    }
    if is_file || is(Damaged::Rows) || found.needs(Mending::Everything) {
        writeln!(out, "What can be read can be written into a new store: acp-sessions doctor --salvage FILE")?;
    }
    if is_file {
        writeln!(out, "Make a copy of the file before anything else uses it.")?;
    }
    Ok(())
}

/// All of it for programs.
pub(super) fn to_json(out: &mut Out, path: &str, health: &Health, found: &Found) -> anyhow::Result<()> {
    let mut object = store_to_json(path, health);
    object["good"] = json!(is_good(health, found));
    object["findings"] = found.to_json();
    Ok(out.json(&object.to_string())?)
}

/// What there is, and what is wrong with the file.
pub(super) fn store_to_json(path: &str, health: &Health) -> Value {
    let faults: Vec<&str> = health.faults.iter().map(|fault| fault.what.as_str()).collect();
    json!({
        "store": path,
        "format": health.format,
        "bytes": health.bytes,
        "freeBytes": health.free_bytes,
        "faults": faults,
        "records": health.records,
        "logs": health.logs,
        "entries": health.entries,
        "texts": health.texts,
    })
}
