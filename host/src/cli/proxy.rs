//! `acp-sessions proxy`

use std::ffi::OsString;

use super::options::ConnectionOptions;
use super::{Outcome, serve};
use crate::downstream::Command;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    options: ConnectionOptions,

    /// The agent's program, and what it is given
    #[arg(value_name = "COMMAND", required = true, trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    serve::serve(&arguments.options, |pipes| {
        let (program, rest) = arguments.command.split_first().expect("clap requires a command");
        Ok(Box::new(Command::spawn(program, rest, &pipes.inbox, &pipes.agent)?))
    })
}
