//! Making the indexes anew: step by step, so that others can write between, and so that it can be given up.

use std::io::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;
use serde_json::json;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::super::answer::plain;
use super::super::printable::{Form, Out, printable};
use super::super::{Outcome, store};
use super::progress::{Done, Progress};
use crate::store::Sqlite;
use crate::store::sqlite::Compaction;

/// How many sessions are indexed in one step.
const STEP: u32 = 100;

/// How a program ends that was interrupted: 128 and the number of SIGINT.
const INTERRUPTED: u8 = 130;

/// `entries` is how many the logs have.
pub(super) fn rebuild(store: Sqlite, entries: i64, as_json: bool, out: &mut Out) -> Outcome {
    let interrupted = when_interrupted()?;
    let is_interrupted = || interrupted.load(Ordering::SeqCst);
    let component = store::engine()?;
    let mut engine = component.instantiate(store)?;
    let mut done = Done { sessions: 0, entries: 0, of: u64::try_from(entries).unwrap_or_default() };
    let mut progress = Progress::new(as_json);
    let (mut cursor, mut broken) = (None, Vec::new());
    while !is_interrupted() {
        let rebuilt = plain(engine.rebuild_indexes(cursor.as_deref(), STEP))?;
        done.sessions += u64::from(rebuilt.done);
        done.entries += u64::from(rebuilt.entries);
        (cursor, broken) = (rebuilt.next_cursor, rebuilt.broken);
        if cursor.is_none() {
            break;
        }
        progress.show(done, out)?;
    }
    if !is_interrupted() {
        let mut store = engine.into_storage();
        let mut compaction = Compaction::default();
        while !is_interrupted() && compaction.step(&mut store)? {}
    }
    progress.end()?;
    let is_given_up = is_interrupted();
    if as_json {
        let Done { sessions, entries, of } = done;
        let end = json!({ "ended": if is_given_up { "interrupted" } else { "done" }, "sessions": sessions,
            "entries": entries, "of": of, "broken": broken });
        out.json(&end.to_string())?;
    } else {
        tell(out, done, is_given_up, &broken)?;
    }
    Ok(match (is_given_up, broken.is_empty()) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::FAILURE,
    })
}

fn tell(out: &mut Out, done: Done, is_given_up: bool, broken: &[String]) -> anyhow::Result<()> {
    if is_given_up {
        writeln!(
            out,
            "Interrupted after {} sessions, {} of {} entries. Nothing is half done; it can be run again at any time.",
            done.sessions, done.entries, done.of
        )?;
    } else {
        writeln!(out, "Rebuilt the indexes of {} sessions.", done.sessions)?;
    }
    if !broken.is_empty() {
        writeln!(out, "Records that cannot be read, and were left as they are:")?;
        for key in broken {
            writeln!(out, "  {}", printable(key, Form::Line))?;
        }
    }
    Ok(())
}

/// Is set when the program is asked to stop: it does so after the step that it is at.
fn when_interrupted() -> anyhow::Result<Arc<AtomicBool>> {
    let interrupted = Arc::new(AtomicBool::new(false));
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        signal_hook::flag::register(signal, Arc::clone(&interrupted)).context("signals cannot be received")?;
    }
    Ok(interrupted)
}
