//! The command line.

mod agent;
mod answer;
mod delete;
mod doctor;
mod duration;
mod list;
mod options;
mod proxy;
mod prune;
mod removal;
mod serve;
mod show;
mod store;
mod table;

use std::io::IsTerminal as _;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
    /// Lists sessions, the last active first.
    List(list::Arguments),
    /// Prints what was said in a session.
    Show(show::Arguments),
    /// Deletes sessions for good.
    Delete(delete::Arguments),
    /// Deletes sessions that nobody has used for a while, and prints which.
    Prune(prune::Arguments),
    /// Checks the store; with --rebuild makes its indexes anew.
    Doctor(doctor::Arguments),
}

/// What a command returns: an error is printed as one sentence.
type Outcome = anyhow::Result<ExitCode>;

/// Does what the command line says.
pub fn main() -> ExitCode {
    let arguments = Arguments::parse();
    log_to_stderr();
    let outcome = match arguments.command {
        Command::Proxy(arguments) => proxy::run(&arguments),
        Command::Agent(arguments) => agent::run(&arguments),
        Command::List(arguments) => list::run(&arguments),
        Command::Show(arguments) => show::run(&arguments),
        Command::Delete(arguments) => delete::run(&arguments),
        Command::Prune(arguments) => prune::run(&arguments),
        Command::Doctor(arguments) => doctor::run(&arguments),
    };
    outcome.unwrap_or_else(|error| {
        // Whoever reads our output may have read enough of it.
        if !is_broken_pipe(&error) {
            eprintln!("acp-sessions: {error:#}");
        }
        ExitCode::FAILURE
    })
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    let cause = error.downcast_ref::<std::io::Error>();
    cause.is_some_and(|error| error.kind() == std::io::ErrorKind::BrokenPipe)
}

/// Warnings, and with `ACP_SESSIONS_LOG=debug` more.
fn log_to_stderr() {
    let filter = tracing_subscriber::EnvFilter::builder()
        .with_default_directive(tracing::level_filters::LevelFilter::WARN.into())
        .with_env_var("ACP_SESSIONS_LOG")
        .from_env_lossy();
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .init();
}
