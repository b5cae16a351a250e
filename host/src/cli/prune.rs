//! `acp-sessions prune`

use std::io::{self, IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use chrono::{SecondsFormat, TimeDelta, Utc};

use super::duration;
use super::engine::EngineOptions;
use super::list::absolute;
use super::printable::Out;
use super::store::StoreOptions;
use super::{Outcome, removal, table};
use crate::sessions::{Prune, Sessions};

/// How many sessions go in one step. Others can use the store between steps.
const STEP: u32 = 50;

/// How long windows that have been silent are left to say that they are there, before it is asked again.
const ASKS_AGAIN: Duration = Duration::from_millis(100);

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    store: StoreOptions,

    #[command(flatten)]
    engine: EngineOptions,

    /// How long a session must have been idle, as in 30d, 12h, 45m, 2w
    #[arg(long, value_name = "TIME", value_parser = duration::parse)]
    older_than: TimeDelta,

    /// Only sessions of exactly this folder
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,

    /// Only says what would be deleted
    #[arg(long)]
    dry_run: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Outcome {
    let component = arguments.engine.load()?;
    let mut sessions = Sessions::of(&component, arguments.store.open_existing()?)?;
    let since = Utc::now()
        .checked_sub_signed(arguments.older_than)
        .ok_or_else(|| anyhow::anyhow!("--older-than goes back further than time does"))?
        .to_rfc3339_opts(SecondsFormat::Millis, true);
    let cwd = arguments.cwd.as_deref().map(absolute).transpose()?;
    let which = Prune { idle_since: &since, cwd: cwd.as_deref(), dry_run: arguments.dry_run };
    let mut count = 0;
    let mut cursor = None;
    let (mut notes, mut has_said_so) = (io::stderr(), false);
    loop {
        let page = sessions.prune(which, STEP, cursor.as_deref())?;
        for session in &page.sessions {
            let updated = session.updated_at.as_deref().unwrap_or("-");
            writeln!(out, "{}  {updated}  {}  {}", table::id(session), table::folder(session), table::title(session))?;
        }
        out.flush()?;
        count += page.sessions.len();
        let is_awaiting = page.sessions.is_empty() && page.next_cursor == cursor;
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
        if is_awaiting {
            if !std::mem::replace(&mut has_said_so, true) && notes.is_terminal() {
                writeln!(notes, "Waiting a moment for windows that have been silent ...")?;
            }
            thread::sleep(ASKS_AGAIN);
        }
    }
    let done = if arguments.dry_run { "would be deleted" } else { "deleted" };
    writeln!(out, "{count} {} {done}.", if count == 1 { "session" } else { "sessions" })?;
    out.flush()?;
    if !arguments.dry_run {
        removal::finish(sessions, out)?;
    }
    Ok(ExitCode::SUCCESS)
}
