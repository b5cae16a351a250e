//! How fast a history comes back, and the memory it takes.

use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{Result, ensure};

use super::super::figures::{median, millis};
use super::super::section::Section;
use super::client::Client;
use super::sizes::{History, Sizes};
use super::{contender, history, memory};

/// How long a client that does not read is left alone: far longer than it takes to fill everything between.
const UNREAD: Duration = Duration::from_secs(2);

/// Measures each history in a store of its own and with fresh processes.
pub(super) fn measure(sizes: &Sizes, folder: &Path, done: &mut impl FnMut(Section)) -> Result<()> {
    let mut section = Section::new(
        "loads",
        "session/load in a fresh process: ms from the request (median), most memory of acp-sessions",
        &[
            ("first", "first_ms"),
            ("last", "last_ms"),
            ("a second", "updates_per_second"),
            ("MB/s", "megabytes_per_second"),
            ("MiB peak", "memory_mib"),
            ("unread", "unread_memory_mib"),
            ("s to record", "recording_s"),
            ("MiB peak", "recording_memory_mib"),
        ],
    );
    for history in &sizes.histories {
        one(history, folder, &mut section)?;
    }
    done(section);
    Ok(())
}

fn one(history: &History, folder: &Path, section: &mut Section) -> Result<()> {
    let History { updates, bytes, kind, loads } = *history;
    let stored = history::record(folder, updates, bytes, kind)?;
    let params = format!(r#"{{"sessionId":"{}","cwd":"/bench","mcpServers":[]}}"#, stored.session);
    let (mut firsts, mut lasts) = (Vec::new(), Vec::new());
    let (mut peak, mut size) = (None::<f64>, 0);
    for _ in 0..loads {
        let mut client = Client::start(&mut contender::sessions(&stored.store)?)?;
        let loaded = client.request("session/load", &params)?;
        ensure!(loaded.notifications > updates, "{} of {updates} came and the prompt", loaded.notifications);
        firsts.extend(loaded.first);
        lasts.push(loaded.took);
        size = loaded.bytes;
        peak = memory::high_water(client.process()).into_iter().chain(peak).reduce(f64::max);
        client.stop()?;
    }
    let mut idler = Client::start(&mut contender::sessions(&stored.store)?)?;
    idler.send("session/load", &params)?;
    thread::sleep(UNREAD);
    let unread = memory::high_water(idler.process());
    idler.stop()?;
    fs::remove_file(&stored.store)?;
    let last = median(&mut lasts);
    #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
    let (updates_f, megabytes) = (updates as f64, size as f64 / 1e6);
    section.row(
        format!("{updates} updates, {megabytes:.0} MB"),
        [
            Some(millis(median(&mut firsts))),
            Some(millis(last)),
            Some(updates_f / last.as_secs_f64()),
            Some(megabytes / last.as_secs_f64()),
            peak,
            unread,
            Some(stored.seconds),
            stored.memory,
        ],
    );
    Ok(())
}
