//! `acp-sessions list`

use std::io::Write as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;
use std::{env, fs, thread};

use clap::ValueEnum;
use serde::Serialize;
use serde_json::value::RawValue;

use super::Outcome;
use super::engine::EngineOptions;
use super::left_behind::Here;
use super::printable::Out;
use super::store::StoreOptions;
use super::table;
use crate::component::sessions::{self, ArchivedSessions, ListCriteria, Page, Session, SessionState};
use crate::sessions::{Sessions, SessionsError};
use crate::store::Sqlite;

/// The most that the engine returns at once.
const PAGE: u32 = 1000;

/// How many rows a table has that nobody has set a limit: a program reads all.
const ROWS: u32 = 50;

#[derive(Debug, Clone, Copy, ValueEnum)]
enum Archived {
    /// Leaves them out
    Exclude,
    /// Lists them too
    Include,
    /// Lists nothing else
    Only,
}

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    store: StoreOptions,

    #[command(flatten)]
    engine: EngineOptions,

    /// Only sessions of exactly this folder
    #[arg(long, value_name = "DIR")]
    cwd: Option<String>,

    /// With --cwd, also sessions of the corresponding folders in the other worktrees of its Git repository
    #[arg(long, requires = "cwd")]
    worktrees: bool,

    /// Only sessions that hold all these words, or "this phrase", in their title or conversation
    #[arg(long, value_name = "WORDS")]
    search: Option<String>,

    /// What to do with archived sessions
    #[arg(long, value_enum, default_value_t = Archived::Exclude, default_missing_value = "only", num_args = 0..=1)]
    archived: Archived,

    /// Also sessions of sub-agents
    #[arg(long)]
    subagents: bool,

    /// At most this many [default: 50, with --json all]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    limit: Option<u32>,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Outcome {
    let cwds = arguments.cwd.as_deref().map(paths_of).transpose()?.unwrap_or_default();
    // Where the command is run is where most look for what they miss.
    let here = cwds.first().cloned().or_else(|| absolute(".").ok());
    let here = here.map(Here::begin);
    let component = arguments.engine.load()?;
    let mut store = Sessions::of(&component, arguments.store.open_existing()?)?;
    let criteria = ListCriteria {
        cwds,
        search: arguments.search.clone(),
        archived: match arguments.archived {
            Archived::Exclude => ArchivedSessions::Hidden,
            Archived::Include => ArchivedSessions::Shown,
            Archived::Only => ArchivedSessions::Only,
        },
        subagents: arguments.subagents,
        include_worktrees: arguments.worktrees,
        ..ListCriteria::default()
    };
    if arguments.json {
        // There may be very many of them: nobody has to hold all.
        each_page(&mut store, &criteria, arguments.limit, |sessions| write_json(out, &sessions))?;
    } else {
        let (sessions, is_more) = gather(&mut store, &criteria, arguments.limit.unwrap_or(ROWS))?;
        write_table(out, &sessions, is_more)?;
    }
    out.flush()?;
    if let Some(here) = here {
        here.tell(&mut store, &arguments.store);
    }
    Ok(ExitCode::SUCCESS)
}

fn write_json(out: &mut Out, sessions: &[Session]) -> anyhow::Result<()> {
    sessions.iter().try_for_each(|session| Ok(out.json(&to_json(session)?)?))
}

fn write_table(out: &mut Out, sessions: &[Session], is_more: bool) -> anyhow::Result<()> {
    if sessions.is_empty() {
        writeln!(out, "No sessions.")?;
        return Ok(());
    }
    table::write(out, sessions)?;
    if is_more {
        writeln!(out, "There are more; --limit N shows them.")?;
    }
    Ok(())
}

/// As many sessions as are wanted, and whether there are more.
fn gather(
    store: &mut Sessions<'_, Sqlite>,
    criteria: &ListCriteria,
    limit: u32,
) -> anyhow::Result<(Vec<Session>, bool)> {
    let mut sessions = Vec::new();
    let is_more = each_page(store, criteria, Some(limit), |page| {
        sessions.extend(page);
        Ok(())
    })?;
    Ok((sessions, is_more))
}

/// Takes as many sessions as are wanted, or all, page by page. Returns whether there are more.
fn each_page(
    store: &mut Sessions<'_, Sqlite>,
    criteria: &ListCriteria,
    limit: Option<u32>,
    mut take: impl FnMut(Vec<Session>) -> anyhow::Result<()>,
) -> anyhow::Result<bool> {
    let (mut left, mut cursor) = (limit, None);
    loop {
        let page = page(store, criteria, left.map_or(PAGE, |left| left.min(PAGE)), cursor.as_deref())?;
        left = left.map(|left| left.saturating_sub(u32::try_from(page.sessions.len()).unwrap_or(u32::MAX)));
        take(page.sessions)?;
        cursor = page.next_cursor;
        if cursor.is_none() || left == Some(0) {
            return Ok(cursor.is_some());
        }
    }
}

/// A folder, by the path that sessions have that were made in it: by its own, and where the command is run in it, by the one
/// by which its user has come there, too.
fn paths_of(folder: &str) -> anyhow::Result<Vec<String>> {
    let own = absolute(folder)?;
    let come_by = (folder == ".").then(|| env::var("PWD").ok()).flatten();
    let come_by = come_by.filter(|path| *path != own && Path::new(path).is_absolute() && is_same_folder(path, &own));
    Ok([own].into_iter().chain(come_by).collect())
}

fn is_same_folder(one: &str, other: &str) -> bool {
    let identity = |path: &str| fs::metadata(path).map(|found| (found.dev(), found.ino())).ok();
    identity(one).is_some_and(|one| identity(other) == Some(one))
}

/// A page, once Git has said which worktrees it is of: it is asked beside, and not waited for long.
fn page(
    store: &mut Sessions<'_, Sqlite>,
    criteria: &ListCriteria,
    limit: u32,
    cursor: Option<&str>,
) -> Result<Page, SessionsError> {
    loop {
        match store.list(criteria, limit, cursor) {
            Err(SessionsError::NotYet(_)) => thread::sleep(Duration::from_millis(2)),
            listed => return listed,
        }
    }
}

/// The engine knows absolute folders only; one that is not there any more may still have sessions.
pub(super) fn absolute(folder: &str) -> anyhow::Result<String> {
    anyhow::ensure!(!folder.is_empty(), "no folder is named: `.` is the one that the command is run in");
    let path = std::path::absolute(folder)?.into_os_string();
    path.into_string()
        .map_err(|path| anyhow::anyhow!("the path {} is not text in UTF-8, as those of sessions are", path.display()))
}

/// A session as a line of JSON has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'s> {
    session_id: &'s str,
    cwd: &'s str,
    title: Option<&'s str>,
    created_at: &'s str,
    updated_at: Option<&'s str>,
    last_prompt_at: Option<&'s str>,
    last_turn_ended_at: Option<&'s str>,
    model: Option<&'s str>,
    forked_from: Option<&'s str>,
    state: Option<&'s str>,
    cost: Option<Cost<'s>>,
    archived: bool,
    agent: Option<&'s str>,
    snippet: Option<&'s str>,
    matched_in: Option<&'s str>,
    set_aside: u32,
    /// As it was given: it may hold numbers and depths that no value of ours has room for.
    #[serde(rename = "_meta")]
    meta: Option<&'s RawValue>,
}

/// What a session has cost.
#[derive(Serialize)]
struct Cost<'s> {
    /// With all of its digits.
    amount: &'s RawValue,
    currency: &'s str,
}

impl<'s> Cost<'s> {
    fn of(cost: &'s sessions::Cost) -> serde_json::Result<Self> {
        Ok(Self { amount: serde_json::from_str(&cost.amount)?, currency: &cost.currency })
    }
}

/// What is being done in a session, as the protocol's draft of list extensions calls it.
fn state_name(state: SessionState) -> &'static str {
    match state {
        SessionState::Idle => "idle",
        SessionState::Running => "running",
        SessionState::RequiresAction => "requires_action",
    }
}

fn to_json(session: &Session) -> anyhow::Result<String> {
    Ok(serde_json::to_string(&Row {
        session_id: &session.id,
        cwd: &session.cwd,
        title: session.title.as_deref(),
        created_at: &session.created_at,
        updated_at: session.updated_at.as_deref(),
        last_prompt_at: session.last_prompt_at.as_deref(),
        last_turn_ended_at: session.last_turn_ended_at.as_deref(),
        model: session.model.as_deref(),
        forked_from: session.forked_from.as_deref(),
        state: session.state.map(state_name),
        cost: session.cost.as_ref().map(Cost::of).transpose()?,
        archived: session.archived,
        agent: session.agent.as_deref(),
        snippet: session.snippet.as_deref(),
        matched_in: session.matched_in.as_deref(),
        set_aside: session.set_aside,
        meta: session.meta.as_deref().map(serde_json::from_str).transpose()?,
    })?)
}
