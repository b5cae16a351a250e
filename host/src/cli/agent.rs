//! `acp-sessions agent`

use super::options::{AgentOf, ConnectionOptions};
use super::{Outcome, serve};
use crate::downstream::Builtin;

#[derive(Debug, clap::Args)]
pub(super) struct Arguments {
    #[command(flatten)]
    options: ConnectionOptions,

    /// A shell command that answers prompts: it reads the prompt from its input, its output is streamed back line by
    /// line. It runs in the session's folder, with `ACP_SESSION_ID`, `ACP_SESSION_CWD` and `ACP_SESSION_MODE` set, and is
    /// ended when the prompt is cancelled. Without it the prompt is echoed
    #[arg(long, value_name = "COMMAND")]
    exec: Option<String>,
}

pub(super) fn run(arguments: &Arguments) -> Outcome {
    serve::serve(&arguments.options, "acp-sessions", AgentOf::Program, || {
        let (agent, side) = Builtin::start(arguments.exec.clone())?;
        Ok(((Box::new(agent), side), None))
    })
}
