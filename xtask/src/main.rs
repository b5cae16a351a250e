//! The project's own commands: `cargo xtask help`.

mod commands;
mod imports;
mod style;
mod workspace;

// The build script of the host uses these too, so that both find the same compiler and build the same module.
#[path = "../../host/build/guest.rs"]
mod guest;
#[path = "../../host/build/wasm_target.rs"]
mod wasm_target;

use std::process::ExitCode;

use clap::Parser;

/// The project's own commands.
#[derive(Debug, Parser)]
#[command(bin_name = "cargo xtask", disable_help_subcommand = false)]
enum Command {
    /// Get what builds the engine for WebAssembly
    WasmTarget(commands::wasm_target::Options),
    /// Build the program `acp-sessions` and the engine component
    Build,
    /// Write the engine component with its interface, checksums and a list of what it is made of to one folder
    Component(commands::component::Options),
    /// Write the program in every form in which it is given away: an archive, packages for Debian, npm and Python
    Dist(commands::dist::Options),
    /// Build, play a conversation of an editor with the built-in agent, and show what happened
    Demo,
    /// Check everything: format, lints, unit tests, whole-program tests, official clients, the component
    Test(commands::test::Options),
    /// Check licences, sources and duplicates of all crates, and their known faults where the list of these can be had
    Deny,
    /// Measure
    #[command(subcommand)]
    Bench(commands::bench::Bench),
    /// Try for long to break what is promised
    Torture(commands::torture::Options),
    /// Feed the engine random cursors, list params and searches, or random conversations
    Fuzz(commands::fuzz::Options),
}

fn main() -> ExitCode {
    let done = match Command::parse() {
        Command::WasmTarget(options) => commands::wasm_target::run(&options),
        Command::Build => commands::build::run(),
        Command::Component(options) => commands::component::run(&options),
        Command::Dist(options) => commands::dist::run(&options),
        Command::Demo => commands::demo::run(),
        Command::Test(options) => commands::test::run(&options),
        Command::Deny => commands::deny::run(),
        Command::Bench(bench) => commands::bench::run(&bench),
        Command::Torture(options) => commands::torture::run(&options),
        Command::Fuzz(options) => commands::fuzz::run(&options),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{} {error:#}", style::error("error:"));
            ExitCode::FAILURE
        }
    }
}
