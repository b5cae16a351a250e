//! Making anew what follows from the rest: step by step, so that others can write between, and so that it can be given up.

use std::io::Write as _;
use std::process::ExitCode;
use std::time::Duration;

use serde_json::json;

use super::super::Outcome;
use super::super::given_back;
use super::super::printable::{Form, Out, printable};
use super::interrupt::{INTERRUPTED, Interrupt};
use super::pass::Pass;
use super::progress::{Done, Progress, counted};
use super::{Arguments, health};
use crate::component::sessions::Mending;
use crate::sessions::Sessions;
use crate::store::Sqlite;
use crate::store::sqlite::{Damaged, GivenBack, Health};

/// Rebuilds the store in this file, which was found so.
pub(super) fn rebuild(arguments: &Arguments, path: &str, before: &Health, out: &mut Out) -> Outcome {
    let as_json = arguments.json;
    let is_in_use = Sqlite::is_in_use(&arguments.store.path()?);
    let interrupt = Interrupt::listen()?;
    let mut store = arguments.store.open_existing_beside_others()?;
    anyhow::ensure!(
        !store.is_read_only(),
        "the session store {} is read-only: nothing of it can be made anew",
        printable(path, Form::Line)
    );
    if before.faults.iter().any(|fault| fault.of == Damaged::Derived) {
        store.mend()?;
    }
    if as_json {
        out.json(&health::store_to_json(path, before).to_string())?;
    } else {
        health::describe(out, path, before)?;
    }
    let component = arguments.engine.load()?;
    let mut sessions = Sessions::of(&component, store)?;
    let mut pass = Pass::new(Mending::Derived, before.entries, Progress::new(as_json));
    pass.run(&mut sessions, &interrupt, Some(out))?;
    let mut store = sessions.into_storage()?;
    clean(&mut store, &pass, &interrupt)?;
    pass.progress.end()?;
    // What of the file could be mended has been.
    let after = if before.faults.is_empty() { before.clone() } else { store.check()? };
    let Done { sessions, entries, of } = pass.done;
    let is_good = health::is_good(&after, &pass.found);
    let mut given = Ok(GivenBack::Nothing);
    if is_good && !interrupt.is_set() {
        // Where nobody else has the store open, nobody is kept waiting.
        let longest = if is_in_use { given_back::LONGEST } else { Duration::MAX };
        given = given_back::give_back(&mut store, longest, interrupt.goes_on());
    }
    let is_given_up = interrupt.is_set();
    if as_json {
        let faults: Vec<&str> = after.faults.iter().map(|fault| fault.what.as_str()).collect();
        let end = json!({ "ended": if is_given_up { "interrupted" } else { "done" }, "sessions": sessions,
            "entries": entries, "of": of, "good": is_good && !is_given_up, "faults": faults, "findings": pass.found.to_json(),
            "givenBackBytes": if let Ok(GivenBack::Bytes(bytes)) = given { bytes } else { 0 } });
        out.json(&end.to_string())?;
    } else {
        tell(out, before, &after, &pass, is_given_up)?;
        if !is_given_up {
            given_back::tell(&given, out)?;
        }
    }
    Ok(match (is_given_up, is_good) {
        (true, _) => ExitCode::from(INTERRUPTED),
        (false, true) => ExitCode::SUCCESS,
        (false, false) => ExitCode::FAILURE,
    })
}

/// What was written over is cleaned out of the file at once, and the search index is merged with that.
fn clean(store: &mut Sqlite, pass: &Pass, interrupt: &Interrupt) -> anyhow::Result<()> {
    if pass.found.is_any_mended() {
        store.clean_from_now_on()?;
    }
    while !interrupt.is_set() && store.clean_slice()? {}
    Ok(())
}

fn tell(out: &mut Out, before: &Health, after: &Health, pass: &Pass, is_given_up: bool) -> anyhow::Result<()> {
    let Done { sessions, entries, of } = pass.done;
    let mended: Vec<_> = before.faults.iter().filter(|fault| !after.faults.contains(fault)).collect();
    let is_any_mended = pass.found.is_any_mended() || !mended.is_empty();
    if is_any_mended {
        writeln!(out, "Put right:")?;
        for fault in mended {
            writeln!(out, "  {}", printable(&fault.what, Form::Line))?;
        }
        pass.found.print(true, out)?;
    }
    if is_given_up {
        writeln!(
            out,
            "Interrupted after {}, {entries} of {of} entries. Nothing is half done; it can be run again at any \
             time.",
            counted(sessions)
        )?;
        return Ok(());
    }
    health::conclude(out, after, &pass.found)?;
    let outcome = match (is_any_mended, health::is_good(after, &pass.found)) {
        (true, _) => ", and put right what differed",
        (false, true) => ": nothing had to be rebuilt",
        (false, false) => ": what is wrong with it cannot be rebuilt",
    };
    writeln!(out, "Compared {}{outcome}.", counted(sessions))?;
    Ok(())
}
