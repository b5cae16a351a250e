//! What it costs to follow lists: pages beside subscriptions, a second in which nothing happens, and a change that is told.

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use serde_json::json;

use super::super::figures::median;
use super::peer::{Peer, request};
use crate::workspace;

/// How many subscriptions there are.
const SUBSCRIPTIONS: usize = 100;
/// How long the program is left alone to see what it costs, in seconds.
const REST: u32 = 5;
/// How many changes are made, one after the other has been told.
const CHANGES: u32 = 10;

/// What it came to. Times of the processor but for pages and the time until a change was told.
#[derive(Debug)]
pub(super) struct Followed {
    /// The first page, in the same round without subscriptions and with them.
    pub(super) page_without: Duration,
    pub(super) page: Duration,
    /// A second in which nothing happens.
    pub(super) rest_without: Duration,
    pub(super) rest: Duration,
    /// A change by another process that is told to all subscriptions: until all have been told, and what it took.
    pub(super) told: Duration,
    pub(super) change: Duration,
}

impl Followed {
    /// Each figure with its name.
    pub(super) fn figures(&self) -> [(String, Duration); 6] {
        let with = format!("{SUBSCRIPTIONS} subscriptions");
        [
            ("first page, no subscription".to_owned(), self.page_without),
            (format!("first page, {with}"), self.page),
            ("processor, a second at rest, no subscription".to_owned(), self.rest_without),
            (format!("processor, a second at rest, {with}"), self.rest),
            (format!("a change elsewhere, told to {with}"), self.told),
            ("processor, the same".to_owned(), self.change),
        ]
    }
}

/// Measures a store, beside another process that changes it.
pub(super) fn measure(store: &Path, runs: u32) -> Result<Followed> {
    let start = || -> Result<Peer> {
        let program = workspace::program("acp-sessions")?;
        let mut peer = Peer::start(Command::new(program).args(["agent", "--store"]).arg(store))?;
        peer.time(&request("initialize", &json!({"protocolVersion": 1})))?;
        Ok(peer)
    };
    let (mut plain, mut followed, mut writer) = (start()?, start()?, start()?);
    for _ in 0..SUBSCRIPTIONS {
        followed.time(&request("session/list/subscribe", &json!({"limit": 1})))?;
        ensure!(followed.answer()?["result"]["subscriptionId"].is_string(), "no subscription");
    }
    let first = request("session/list", &json!({}));
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for _ in 0..runs {
        without.push(plain.time(&first)?);
        with.push(followed.time(&first)?);
    }
    let rest_without = rest(&plain)?;
    let rest = rest(&followed)?;
    followed.time(&first)?;
    let id = followed.answer()?["result"]["sessions"][0]["sessionId"].as_str().context("no session")?.to_owned();
    let (mut told, mut change) = (Vec::new(), Vec::new());
    for nth in 0..CHANGES {
        let before = followed.processor_time()?;
        writer.time(&request("session/set_title", &json!({"sessionId": id, "title": format!("Title {nth}")})))?;
        let start = Instant::now();
        for _ in 0..SUBSCRIPTIONS {
            followed.read()?;
            ensure!(followed.answer()?["params"]["sessions"][0]["sessionId"] == json!(id), "another session's change");
        }
        told.push(start.elapsed());
        change.push(followed.processor_time()?.saturating_sub(before));
    }
    for peer in [plain, followed, writer] {
        peer.stop()?;
    }
    Ok(Followed {
        page_without: median(&mut without),
        page: median(&mut with),
        rest_without,
        rest,
        told: median(&mut told),
        change: median(&mut change),
    })
}

/// What a second takes in which nothing happens.
fn rest(peer: &Peer) -> Result<Duration> {
    let before = peer.processor_time()?;
    thread::sleep(Duration::from_secs(u64::from(REST)));
    Ok(peer.processor_time()?.saturating_sub(before) / REST)
}
