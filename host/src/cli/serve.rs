//! A connection on standard input and output.

use std::fs::File;
use std::io::{self, PipeReader, pipe};
use std::os::fd::AsFd;
use std::process::ExitCode;

use anyhow::Context as _;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::Outcome;
use super::options::{AgentOf, ConnectionOptions};
use crate::component::Component;
use crate::runner::{Connection, End, Ends, Restart, Started};
use crate::store::Sqlite;
use crate::transport::{Input, Output, Side};

/// The longest line taken from a client.
const LONGEST_LINE: usize = 16 << 20;

/// Serves one client with the agent that `start` starts, and says how to start again, if it can be. `name` is what the agent
/// is called if it does not name itself, `agent_of` says who has it.
pub(super) fn serve(
    options: &ConnectionOptions,
    name: &str,
    agent_of: AgentOf,
    start: impl FnOnce() -> anyhow::Result<(Started, Option<Restart>)>,
) -> Outcome {
    let stop = stop_at_signals()?;
    // The agent comes first: it takes longest to start, and does so while the rest is prepared.
    let ((downstream, agent), restart) = start()?;
    let (component, storage, client) = prepare(options)?;
    let restart = restart.filter(|_| options.restarts());
    let ends = Ends { client, agent, downstream, restart, stop: stop.into() };
    match Connection::open(&component, storage, options.settings(name, agent_of), ends, options.timing())?.run()? {
        End::ClientGone | End::Stopped => Ok(ExitCode::SUCCESS),
        End::AgentGone(how) => anyhow::bail!("the agent has ended: {how}"),
    }
}

fn prepare(options: &ConnectionOptions) -> anyhow::Result<(Component<Sqlite>, Sqlite, Side)> {
    let storage = options.store.open()?;
    let component = options.engine.load()?;
    Ok((component, storage, client()?))
}

/// Standard input and output, without the buffers of the standard library: whole batches are read and written. The
/// process keeps no other hold on its output, so that the client finds it at an end when the connection has closed it,
/// whatever there is left to wait for.
fn client() -> anyhow::Result<Side> {
    let duplicate = |stream: &dyn AsFd| stream.as_fd().try_clone_to_owned();
    let input = duplicate(&io::stdin()).context("standard input cannot be used")?;
    let output = duplicate(&io::stdout()).context("standard output cannot be used")?;
    let nowhere = File::options().write(true).open("/dev/null").context("/dev/null cannot be used")?;
    rustix::stdio::dup2_stdout(&nowhere).context("standard output cannot be used")?;
    Ok(Side { from: Input::new(input, LONGEST_LINE), to: Output::new(output) })
}

/// What can be read once for each signal that asks the program to stop.
fn stop_at_signals() -> anyhow::Result<PipeReader> {
    let (stop, asked) = pipe().context("signals cannot be received")?;
    for signal in [SIGTERM, SIGINT, SIGHUP] {
        let asked = asked.try_clone().context("signals cannot be received")?;
        signal_hook::low_level::pipe::register(signal, asked).context("signals cannot be received")?;
    }
    Ok(stop)
}
