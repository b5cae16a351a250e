//! A connection on standard input and output.

use std::fs::File;
use std::io::{self, IsTerminal as _, PipeReader, Write as _, pipe};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use super::Outcome;
use super::options::{AgentOf, ConnectionOptions};
use crate::component::Component;
use crate::component::connection::Content;
use crate::runner::{Connection, End, Ends, Restart, Started};
use crate::store::Sqlite;
use crate::transport::readiness::{self, Watch};
use crate::transport::{Input, Output, Side};

/// The longest line taken from a client.
const LONGEST_LINE: usize = 16 << 20;

/// Where a client cannot be served, its first request is waited for this long, and what follows that, this long.
const FIRST_REQUEST: Duration = Duration::from_secs(1);
const NEXT_REQUEST: Duration = Duration::from_millis(50);
/// What its requests are answered with then.
const INTERNAL_ERROR: i64 = -32603;

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
    let ((downstream, agent), restart) = start().inspect_err(refuse)?;
    let (component, storage, client) = prepare(options).inspect_err(refuse)?;
    let restart = restart.filter(|_| options.restarts());
    let ends = Ends { client, agent, downstream, restart, stop: stop.into() };
    match Connection::open(&component, storage, options.settings(name, agent_of), ends, options.timing())?.run()? {
        End::ClientGone | End::Stopped => Ok(ExitCode::SUCCESS),
        End::AgentGone(how) => anyhow::bail!("the agent has ended: {how}"),
        End::Undone(what) => anyhow::bail!(what),
    }
}

fn prepare(options: &ConnectionOptions) -> anyhow::Result<(Component<Sqlite>, Sqlite, Side)> {
    let storage = options.store.open()?;
    let component = options.engine.load()?;
    Ok((component, storage, client()?))
}

/// There is nothing that could serve a client: what it asks first is answered with why, so that its user sees more than that the
/// program has ended.
fn refuse(why: &anyhow::Error) {
    if io::stdin().is_terminal() {
        return;
    }
    let Ok(stdin) = io::stdin().as_fd().try_clone_to_owned() else { return };
    let mut input = Input::new(stdin, LONGEST_LINE);
    let mut deadline = Instant::now() + FIRST_REQUEST;
    while !input.has_ended() && is_readable(&input, deadline) {
        for id in input.read().iter().filter_map(asked_with) {
            let error = json!({ "code": INTERNAL_ERROR, "message": format!("Internal error: {why:#}") });
            // Who does not listen is told on standard error alone.
            let _ = writeln!(io::stdout(), "{}", json!({ "jsonrpc": "2.0", "id": id, "error": error }));
            deadline = Instant::now() + NEXT_REQUEST;
        }
    }
}

/// Waits until there is something to read, or the end. Not longer than this.
fn is_readable(input: &Input, deadline: Instant) -> bool {
    readiness::wait(&[(input.as_fd(), Watch::Read)], Some(deadline)).is_ok_and(|ready| ready == [true])
}

/// The id of what is asked with a line.
fn asked_with(line: &Content) -> Option<Value> {
    let Content::Line(line) = line else { return None };
    let message: Value = serde_json::from_str(line).ok()?;
    message.get("id").filter(|_| message.get("method").is_some()).cloned()
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
