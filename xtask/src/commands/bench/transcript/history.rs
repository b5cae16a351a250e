//! Sessions with a history, made by a conversation through the proxy itself.

use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};

use super::client::Client;
use super::contender;
use super::memory;

/// A store with one session in it.
pub(super) struct Stored {
    pub(super) store: PathBuf,
    pub(super) session: String,
    /// What recording it took, in seconds and MiB.
    pub(super) seconds: f64,
    pub(super) memory: Option<f64>,
}

/// Has an agent send these updates in one turn, recorded in a store of its own.
pub(super) fn record(folder: &Path, updates: usize, bytes: usize, kind: &str) -> Result<Stored> {
    let store = folder.join(format!("{kind}-{updates}.db"));
    let mut client = Client::start(&mut contender::sessions(&store)?)?;
    let session = client.open_session()?;
    let streamed = client.stream(&session, updates, bytes, kind)?;
    ensure!(streamed.notifications >= updates, "{} of {updates} updates came", streamed.notifications);
    let memory = memory::high_water(client.process());
    client.stop()?;
    Ok(Stored { store, session, seconds: streamed.took.as_secs_f64(), memory })
}
