//! How long a fork takes: the same for a short history and a long one.

use std::path::Path;

use anyhow::Result;

use super::super::figures::{median, millis};
use super::super::section::Section;
use super::client::Client;
use super::sizes::Sizes;
use super::{contender, history};

/// Forks sessions of several lengths.
pub(super) fn measure(sizes: &Sizes, folder: &Path) -> Result<Section> {
    let mut section =
        Section::new("forks", "session/fork: ms from the request to its answer (median)", &[("ms", "ms")]);
    let mut forks = Vec::new();
    for updates in sizes.forked {
        let stored = history::record(folder, updates, 64, "mixed")?;
        let client = Client::start(&mut contender::sessions(&stored.store)?)?;
        let params = format!(r#"{{"sessionId":"{}","cwd":"/bench","mcpServers":[]}}"#, stored.session);
        forks.push((updates, client, params, Vec::new()));
    }
    for _ in 0..sizes.forks {
        for (_, client, params, times) in &mut forks {
            times.push(client.request("session/fork", params)?.took);
        }
    }
    for (updates, client, _, mut times) in forks {
        section.row(format!("{updates} updates"), [Some(millis(median(&mut times)))]);
        client.stop()?;
    }
    Ok(section)
}
