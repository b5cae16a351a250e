//! `acp-sessions proxy`

use std::borrow::Cow;
use std::ffi::{OsStr, OsString};
use std::io::{self, IsTerminal as _};
use std::path::Path;

use super::options::{AgentOf, ConnectionOptions};
use super::{Outcome, serve};
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
    serve::serve(&arguments.options, &name(program), AgentOf::Program, || Ok((start()?, Some(Restart::by(start)))))
}

/// The file name of a program.
fn name(program: &OsStr) -> Cow<'_, str> {
    Path::new(program).file_name().unwrap_or(program).to_string_lossy()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_is_called_by_its_file() {
        for (program, called) in [("my-agent", "my-agent"), ("/usr/bin/my-agent", "my-agent"), ("./a b.sh", "a b.sh")] {
            assert_eq!(name(OsStr::new(program)), called);
        }
    }
}
