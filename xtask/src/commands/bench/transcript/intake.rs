//! How long it takes until the sessions of an agent that has many of its own are all listed.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, ensure};
use serde_json::json;

use super::super::figures::{median, millis};
use super::super::section::Section;
use super::client::Client;
use super::contender;
use super::sizes::Sizes;

/// How often it is looked whether all are there.
const EVERY: Duration = Duration::from_millis(5);
/// Asks for the last session of the agent's list alone; see `fast_agent`.
const LAST: &str = r#"{"cwd":"/bench/last"}"#;

/// Has the agent list its sessions in pages of several sizes, to a client and to the layer, in turns.
pub(super) fn measure(sizes: &Sizes, folder: &Path) -> Result<Section> {
    let count = sizes.listed;
    let mut section = Section::new(
        "intake",
        format!("An agent's {count} sessions: ms from the start until all are listed (median)"),
        &[("agent alone", "agent_ms"), ("first time", "first_ms"), ("ratio", "ratio"), ("µs each", "each_us")],
    );
    for page in sizes.pages {
        let (mut alone, mut taken_in) = (Vec::new(), Vec::new());
        for round in 0..sizes.intakes {
            alone.push(ask_all(&mut listing(contender::direct()?, count, page), count)?);
            let store = folder.join(format!("intake-{page}-{round}.db"));
            taken_in.push(take_in(&mut listing(contender::sessions(&store)?, count, page), count)?);
        }
        let (alone, taken_in) = (median(&mut alone), median(&mut taken_in));
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let each = taken_in.as_secs_f64() * 1e6 / count as f64;
        section.row(
            format!("in pages of {page}"),
            [Some(millis(alone)), Some(millis(taken_in)), Some(millis(taken_in) / millis(alone)), Some(each)],
        );
    }
    Ok(section)
}

/// The command, with an agent that lists so many sessions in pages of that many.
fn listing(mut command: Command, count: usize, page: usize) -> Command {
    command.arg(count.to_string()).arg(page.to_string());
    command
}

/// Asks for all pages, one after another.
fn ask_all(command: &mut Command, count: usize) -> Result<Duration> {
    let start = Instant::now();
    let mut client = Client::start(command)?;
    let listed = page_through(&mut client)?;
    let took = start.elapsed();
    client.stop()?;
    ensure!(listed == count, "{listed} of {count} were listed");
    Ok(took)
}

/// Waits until the last session of the agent's list is there, and looks whether the others are.
fn take_in(command: &mut Command, count: usize) -> Result<Duration> {
    let start = Instant::now();
    let mut client = Client::start(command)?;
    while client.request("session/list", LAST)?.result["sessions"].as_array().is_none_or(Vec::is_empty) {
        thread::sleep(EVERY);
    }
    let took = start.elapsed();
    let listed = page_through(&mut client)?;
    client.stop()?;
    ensure!(listed == count, "{listed} of {count} were taken in");
    Ok(took)
}

/// How many sessions all pages have.
fn page_through(client: &mut Client) -> Result<usize> {
    let (mut params, mut listed) = (json!({}), 0);
    loop {
        let mut page = client.request("session/list", &params.to_string())?.result;
        listed += page["sessions"].as_array().map_or(0, Vec::len);
        let cursor = page["nextCursor"].take();
        if cursor.is_null() {
            return Ok(listed);
        }
        params = json!({ "cursor": cursor });
    }
}
