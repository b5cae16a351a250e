//! `acp-sessions move`

use std::io::Write as _;
use std::process::ExitCode;

use serde::Serialize;

use super::Outcome;
use super::engine::EngineOptions;
use super::list::absolute;
use super::printable::{Out, shortened};
use super::store::StoreOptions;
use super::table::{FOLDER_WIDTH, ID_WIDTH, TITLE_WIDTH};
use crate::component::sessions::Relocation;
use crate::sessions::{Relocate, Sessions};

/// How many sessions move in one step. Others can use the store between steps.
const STEP: u32 = 50;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    store: StoreOptions,

    #[command(flatten)]
    engine: EngineOptions,

    /// The folder as it was called before
    #[arg(value_name = "OLD")]
    old: String,

    /// What it is called now
    #[arg(value_name = "NEW")]
    new: String,

    /// Only says what would move
    #[arg(long)]
    dry_run: bool,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Outcome {
    let (old, new) = (absolute(&arguments.old)?, absolute(&arguments.new)?);
    let component = arguments.engine.load()?;
    let mut sessions = Sessions::of(&component, arguments.store.open_existing()?)?;
    let which = Relocate { old: &old, new: &new, dry_run: arguments.dry_run };
    let mut count = 0;
    let mut cursor = None;
    loop {
        let page = sessions.relocate(which, STEP, cursor.as_deref())?;
        for session in &page.sessions {
            if arguments.json {
                out.json(&to_json(session)?)?;
            } else {
                writeln!(out, "{}", line(session))?;
            }
        }
        // Each is told when it is done, whatever becomes of the next.
        out.flush()?;
        count += page.sessions.len();
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    if !arguments.json {
        let done = if arguments.dry_run { "would be moved" } else { "moved" };
        writeln!(out, "{count} {} {done}.", if count == 1 { "session" } else { "sessions" })?;
    }
    Ok(ExitCode::SUCCESS)
}

fn line(session: &Relocation) -> String {
    let folder = |folder| shortened(folder, FOLDER_WIDTH);
    let id = shortened(&session.id, ID_WIDTH);
    let title = shortened(session.title.as_deref().unwrap_or("-"), TITLE_WIDTH);
    let (before, after) = (folder(&session.old_cwd), folder(&session.new_cwd));
    let place = if before == after { before.into_owned() } else { format!("{before} -> {after}") };
    let further = match session.directories {
        0 => String::new(),
        1 => "  (with a further folder)".to_owned(),
        count => format!("  (with {count} further folders)"),
    };
    format!("{id}  {place}  {title}{further}")
}

/// A session as a line of JSON has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'s> {
    session_id: &'s str,
    title: Option<&'s str>,
    old_cwd: &'s str,
    cwd: &'s str,
    additional_directories_moved: u32,
}

fn to_json(session: &Relocation) -> serde_json::Result<String> {
    serde_json::to_string(&Row {
        session_id: &session.id,
        title: session.title.as_deref(),
        old_cwd: &session.old_cwd,
        cwd: &session.new_cwd,
        additional_directories_moved: session.directories,
    })
}
