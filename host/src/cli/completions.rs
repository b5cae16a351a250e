//! `acp-sessions completions`

use std::io::Write as _;
use std::process::ExitCode;

use clap::CommandFactory as _;
use clap_complete::Shell;

use super::printable::Out;
use super::{Arguments as CommandLine, Outcome};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    /// The shell that is to complete the command line
    shell: Shell,
}

pub(super) fn run(arguments: &Arguments, out: &mut Out) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut CommandLine::command(), "acp-sessions", &mut script);
    let script = String::from_utf8(script)?;
    // For bash, clap writes a hyphen in the program's name in two ways, and then finds no command (clap_complete 4.6.11).
    out.write_all(script.replace("acp__subcmd__sessions", "acp__sessions").as_bytes())?;
    Ok(ExitCode::SUCCESS)
}
