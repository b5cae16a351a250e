//! A connection on standard input and output.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::thread;

use anyhow::Context as _;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::options::ConnectionOptions;
use super::{Outcome, store};
use crate::component::Component;
use crate::component::connection::Peer;
use crate::downstream::Agent;
use crate::runner::{Connection, End, Pipes};
use crate::store::Sqlite;
use crate::transport::{Inbox, reader, writer};

/// The longest line taken from a client.
const LONGEST_LINE: usize = 16 << 20;

/// Serves one client with the agent that `start` starts. `name` is what the agent is called if it does not name itself.
pub(super) fn serve(
    options: &ConnectionOptions,
    name: &str,
    start: impl FnOnce(&Pipes) -> anyhow::Result<Box<dyn Agent>>,
) -> Outcome {
    let pipes = Pipes::default();
    stop_at_signals(&pipes.inbox)?;
    // The agent comes first: it takes longest to start, and does so while the rest is prepared.
    let agent = start(&pipes)?;
    let (component, storage) = prepare(options, &pipes)?;
    match Connection::open(&component, storage, options.settings(name), pipes, agent, options.timing())?.run()? {
        End::ClientGone | End::Stopped => Ok(ExitCode::SUCCESS),
        End::AgentGone(how) => anyhow::bail!("the agent has ended: {how}"),
    }
}

fn prepare(options: &ConnectionOptions, pipes: &Pipes) -> anyhow::Result<(Component<Sqlite>, Sqlite)> {
    let storage = options.store.open()?;
    let component = store::engine()?;
    connect_client(pipes)?;
    Ok((component, storage))
}

/// Standard input and output, without the buffers of the standard library: whole batches are read and written. The
/// process keeps no other hold on its output, so that the client finds it at an end when the connection has closed it,
/// whatever there is left to wait for.
fn connect_client(pipes: &Pipes) -> anyhow::Result<()> {
    let duplicate = |stream: &dyn AsFd| stream.as_fd().try_clone_to_owned().map(File::from);
    let input = duplicate(&io::stdin()).context("standard input cannot be used")?;
    let output = duplicate(&io::stdout()).context("standard output cannot be used")?;
    let nowhere = File::options().write(true).open("/dev/null").context("/dev/null cannot be used")?;
    rustix::stdio::dup2_stdout(&nowhere).context("standard output cannot be used")?;
    let source = pipes.inbox.source(Peer::Client);
    writer::spawn(output, pipes.client.clone(), pipes.inbox.clone(), source.clone());
    reader::spawn(input, LONGEST_LINE, source);
    Ok(())
}

fn stop_at_signals(inbox: &Inbox) -> anyhow::Result<()> {
    let mut signals = Signals::new([SIGTERM, SIGINT, SIGHUP]).context("signals cannot be received")?;
    let inbox = inbox.clone();
    thread::spawn(move || {
        for _ in signals.forever() {
            inbox.stop();
        }
    });
    Ok(())
}
