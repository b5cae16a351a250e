//! `acp-sessions list`

use std::io::Write as _;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

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

    /// At most this many
    #[arg(long, value_name = "N", default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..))]
    limit: u32,

    /// One JSON object a line
    #[arg(long)]
    json: bool,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Outcome {
    let cwd = arguments.cwd.as_deref().map(absolute).transpose()?;
    // Where the command is run is where most look for what they miss.
    let here = cwd.clone().or_else(|| absolute(".").ok()).map(Here::begin);
    let component = arguments.engine.load()?;
    let mut store = Sessions::of(&component, arguments.store.open_existing()?)?;
    let criteria = ListCriteria {
        cwd,
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
    let mut sessions = Vec::new();
    let mut cursor = None;
    while sessions.len() < arguments.limit as usize {
        let left = arguments.limit - u32::try_from(sessions.len())?;
        let page = page(&mut store, &criteria, left.min(PAGE), cursor.as_deref())?;
        sessions.extend(page.sessions);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    if arguments.json {
        for session in &sessions {
            out.json(&to_json(session)?)?;
        }
    } else if sessions.is_empty() {
        writeln!(out, "No sessions.")?;
    } else {
        table::write(out, &sessions)?;
        if cursor.is_some() {
            writeln!(out, "There are more; --limit N shows them.")?;
        }
    }
    out.flush()?;
    if let Some(here) = here {
        here.tell(&mut store, &arguments.store);
    }
    Ok(ExitCode::SUCCESS)
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
