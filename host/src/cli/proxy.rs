//! `acp-sessions proxy`

use std::ffi::OsString;
use std::io::{self, IsTerminal as _};

use super::options::{AgentOf, ConnectionOptions};
use super::{Outcome, agent_name, serve};
use crate::downstream::{Chained, Command, SpawnError};
use crate::runner::{Restart, Started};

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    options: ConnectionOptions,

    /// The agent's program, and what it is given. Without it the program is a proxy in the chain of a conductor, which has
    /// the agent
    #[arg(value_name = "COMMAND", trailing_var_arg = true, allow_hyphen_values = true)]
    command: Vec<OsString>,
}

/// What the agent of a chain is called if it does not name itself: its command is not known here.
const CHAINED: &str = "agent";

pub(super) fn run(arguments: &Arguments) -> Outcome {
    let Some((program, rest)) = arguments.command.split_first() else {
        // A conductor has a pipe; a person has forgotten something.
        anyhow::ensure!(!io::stdin().is_terminal(), "no agent is named: acp-sessions proxy -- COMMAND");
        return serve::serve(&arguments.options, CHAINED, AgentOf::Conductor, || {
            let (agent, side) = Chained::start()?;
            Ok(((Box::new(agent), side), None))
        });
    };
    let (command, rest) = (program.clone(), rest.to_owned());
    let start = move || -> Result<Started, SpawnError> {
        let (agent, side) = Command::spawn(&command, &rest)?;
        Ok((Box::new(agent), side))
    };
    let name = agent_name::of_command(program, &arguments.command[1..]);
    serve::serve(&arguments.options, &name, AgentOf::Program, || Ok((start()?, Some(Restart::by(start)))))
}
