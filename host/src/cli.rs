//! The command line.

#![deny(clippy::print_stdout, clippy::print_stderr, reason = "what is printed may be text of others: `printable`")]

mod agent;
mod agent_name;
mod completions;
mod delete;
mod doctor;
mod duration;
mod engine;
mod given_back;
mod left_behind;
mod list;
mod log;
mod manual;
mod options;
mod permissions;
mod printable;
mod proxy;
mod prune;
mod relocate;
mod removal;
mod serve;
mod show;
mod store;
mod table;
mod update;
mod usage;

use std::io::{ErrorKind, Write as _};
use std::process::ExitCode;
use std::str::FromStr as _;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use clap::{Parser, Subcommand};
use signal_hook::consts::SIGXFSZ;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;

use crate::folders::Folders;
use log::Log;
use printable::{Form, Out, printable};

/// Gives any agent of the Agent Client Protocol sessions that last: stored, listed, loaded, resumed, forked, deleted.
#[derive(Debug, Parser)]
#[command(name = "acp-sessions", version, about, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Stands on standard input and output between a client and the agent that COMMAND starts.
    /// Without COMMAND it is a proxy in the chain of a conductor.
    Proxy(proxy::Arguments),
    /// Is an agent by itself: echoes each prompt, or streams what a command makes of it.
    Agent(agent::Arguments),
    /// Lists sessions, the last prompted first.
    List(list::Arguments),
    /// Prints what was said in a session.
    Show(show::Arguments),
    /// Sums up what sessions have used: tokens and costs, as far as agents have told them.
    Usage(usage::Arguments),
    /// Deletes sessions for good.
    Delete(delete::Arguments),
    /// Deletes sessions that nobody has used for a while, and prints which.
    Prune(prune::Arguments),
    /// Has sessions follow a folder that was renamed or moved, and prints which.
    Move(relocate::Arguments),
    /// Checks the store; makes anew what can be, or writes what can be read into a new one.
    Doctor(doctor::Arguments),
    /// Prints what a shell completes this command line by.
    Completions(completions::Arguments),
    /// Writes the pages of the manual to a folder.
    Manual(manual::Arguments),
}

impl Command {
    /// Whether all that it does is to print something: then it has done that where nobody reads on.
    fn only_prints(&self) -> bool {
        matches!(self, Self::List(_) | Self::Show(_) | Self::Usage(_) | Self::Completions(_))
    }
}

/// What a command returns: an error is printed as one sentence.
type Outcome = anyhow::Result<ExitCode>;

/// Does what the command line says.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    log_to_stderr();
    take_full_files_for_errors();
    let mut out = Out::stdout();
    let only_prints = arguments.command.only_prints();
    let outcome = match arguments.command {
        Command::Proxy(arguments) => proxy::run(&arguments),
        Command::Agent(arguments) => agent::run(&arguments),
        Command::List(arguments) => list::run(&arguments, &mut out),
        Command::Show(arguments) => show::run(&arguments, &mut out),
        Command::Usage(arguments) => usage::run(&arguments, &mut out),
        Command::Delete(arguments) => delete::run(&arguments, &mut out),
        Command::Prune(arguments) => prune::run(&arguments, &mut out),
        Command::Move(arguments) => relocate::run(&arguments, &mut out),
        Command::Doctor(arguments) => doctor::run(&arguments, &mut out),
        Command::Completions(arguments) => completions::run(&arguments, &mut out),
        Command::Manual(arguments) => manual::run(&arguments),
    };
    Folders::stop();
    // What was done before something failed is told before it.
    let told = out.flush();
    let outcome = outcome.and_then(|code| match told {
        // What the command was for is done.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(code),
        told => Ok(told.map(|()| code)?),
    });
    let code = outcome.unwrap_or_else(|error| {
        match (is_broken_pipe(&error), only_prints) {
            // Whoever reads our output may have read enough of it.
            (true, true) => return ExitCode::SUCCESS,
            (true, false) => complain(&anyhow::anyhow!(
                "nobody reads the output any more, so not all was done: run the command again"
            )),
            (false, _) => complain(&error),
        }
        ExitCode::FAILURE
    });
    Log::finish();
    code
}

/// A file that may not grow any more is one that cannot be written, and no reason to end at once.
fn take_full_files_for_errors() {
    let reached = Arc::new(AtomicBool::new(false));
    if let Err(error) = signal_hook::flag::register(SIGXFSZ, reached) {
        tracing::debug!(%error, "a limit for the size of files would end the program");
    }
}

/// Prints an error on one line.
fn complain(error: &anyhow::Error) {
    let complaint = format!("acp-sessions: {error:#}");
    Log::line(&printable(&complaint, Form::Line));
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<std::io::Error>();
    cause.is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// Logs warnings, and with `ACP_SESSIONS_LOG=debug`, or `acp_sessions::runner=debug`, more.
fn log_to_stderr() {
    let asked = std::env::var("ACP_SESSIONS_LOG").ok().filter(|asked| !asked.is_empty());
    let printed = tracing_subscriber::fmt::layer()
        .with_writer(|| Log)
        // Where the log cannot be written there is nobody to be told, and a program that tries would end.
        .log_internal_errors(false)
        // Its colours are control characters, and what is logged may have some of its own.
        .with_ansi(false);
    let warnings = || Targets::new().with_default(LevelFilter::WARN);
    let (filter, mistake) = match asked.as_deref().map(Targets::from_str) {
        None => (warnings(), None),
        Some(Ok(filter)) => (filter, None),
        Some(Err(mistake)) => (warnings(), Some(mistake)),
    };
    tracing_subscriber::registry().with(filter).with(printed).init();
    if let Some(mistake) = mistake {
        tracing::warn!("ACP_SESSIONS_LOG is not understood ({mistake}), so warnings are logged and no more");
    }
}
