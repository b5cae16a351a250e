//! Writing what can be read of a damaged store into a new one.

use std::io::Write as _;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::json;

use super::super::Outcome;
use super::super::printable::{Form, Out, printable};
use super::Arguments;
use super::found::Found;
use super::interrupt::{INTERRUPTED, Interrupt};
use super::pass::Pass;
use super::progress::Progress;
use crate::component::sessions::Mending;
use crate::sessions::Sessions;
use crate::store::Sqlite;
use crate::store::sqlite::{Salvage, Salvaged};

/// How often all is looked through to mend it, at most.
const MOST_PASSES: usize = 4;

/// Salvages what is in `file` into `target`.
pub(super) fn salvage(arguments: &Arguments, file: &Path, target: &Path, out: &mut Out) -> Outcome {
    let as_json = arguments.json;
    anyhow::ensure!(
        target.symlink_metadata().is_err(),
        "{} is there already: name a file that is not, the new store is made in it",
        target.display()
    );
    let interrupt = Interrupt::listen()?;
    let (salvage, mut new) = Salvage::begin(target)?;
    let read = new.salvage_from(file, || !interrupt.is_set());
    let read = read.with_context(|| format!("{} cannot be read", file.display()))?;
    let Some(read) = read else { return given_up(as_json, out) };
    anyhow::ensure!(
        read.records + read.entries > 0,
        "there is nothing in {} that can be read as what sessions are kept in",
        file.display()
    );
    let component = arguments.engine.load()?;
    let mut sessions = Sessions::of(&component, new)?;
    let mut pass =
        Pass::new(Mending::Everything, i64::try_from(read.entries).unwrap_or(i64::MAX), Progress::new(as_json));
    pass.run(&mut sessions, &interrupt, Some(out))?;
    pass.progress.end()?;
    let mut after = looked_at(&mut sessions, &interrupt)?;
    // What was mended may tell of something else, as a log that has become shorter does of what is missing at its end.
    for _ in 1..MOST_PASSES {
        if !after.found.is_any_left() || interrupt.is_set() {
            break;
        }
        pass.run(&mut sessions, &interrupt, None)?;
        after = looked_at(&mut sessions, &interrupt)?;
    }
    if interrupt.is_set() {
        return given_up(as_json, out);
    }
    let health = sessions.into_storage()?.check()?;
    salvage.finish().with_context(|| format!("the new store cannot be named {}", target.display()))?;
    let is_good = super::health::is_good(&health, &after.found);
    let found = pass.found.only_lost();
    let saved = Saved { sessions: after.done.sessions, entries: after.done.entries, read, found: &found };
    if as_json {
        saved.to_json(target, is_good, out)?;
    } else {
        saved.tell(target, out)?;
        super::health::conclude(out, &health, &after.found)?;
    }
    Ok(if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What is wrong by now.
fn looked_at(sessions: &mut Sessions<'_, Sqlite>, interrupt: &Interrupt) -> anyhow::Result<Pass> {
    let mut pass = Pass::new(Mending::Nothing, 0, Progress::quiet());
    pass.run(sessions, interrupt, None)?;
    Ok(pass)
}

fn given_up(as_json: bool, out: &mut Out) -> Outcome {
    if as_json {
        out.json(&json!({ "ended": "interrupted" }).to_string())?;
    } else {
        writeln!(out, "Interrupted. What was written of the new store is removed; the damaged one is as it was.")?;
    }
    Ok(ExitCode::from(INTERRUPTED))
}

/// What was saved.
struct Saved<'a> {
    sessions: u64,
    entries: u64,
    read: Salvaged,
    found: &'a Found,
}

impl Saved<'_> {
    fn tell(&self, target: &Path, out: &mut Out) -> anyhow::Result<()> {
        let target = target.to_string_lossy();
        writeln!(out, "Saved:       {} sessions with {} entries", self.sessions, self.entries)?;
        writeln!(out, "New store:   {}", printable(&target, Form::Line))?;
        let Salvaged { nobodys, bad_rows, bad_pages, .. } = self.read;
        let lost = [
            (bad_pages, "parts of the file could not be read"),
            (bad_rows, "rows could not be read, or not whole"),
            (nobodys, "entries could be read, but not of which session they are"),
        ];
        if lost.iter().any(|(count, _)| *count > 0) || self.found.is_any_mended() {
            writeln!(out, "Not saved, or made anew:")?;
        }
        for (count, what) in lost.into_iter().filter(|(count, _)| *count > 0) {
            writeln!(out, "  {what}: {count}")?;
        }
        self.found.print(true, out)
    }

    fn to_json(&self, target: &Path, is_good: bool, out: &mut Out) -> anyhow::Result<()> {
        let Salvaged { nobodys, bad_rows, bad_pages, .. } = self.read;
        let object = json!({ "ended": "done", "store": target.to_string_lossy(), "sessions": self.sessions,
            "entries": self.entries, "badPages": bad_pages, "badRows": bad_rows, "nobodysEntries": nobodys,
            "good": is_good, "findings": self.found.to_json() });
        Ok(out.json(&object.to_string())?)
    }
}
