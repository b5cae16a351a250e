//! What is measured of one store.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::super::figures::{median, millis, rounded};
use super::followed::{self, Followed};
use super::kinds;
use super::peer::{Peer, request};
use crate::workspace;

/// What one store came to: medians.
#[derive(Debug)]
pub(super) struct Figures {
    /// The bare query of a page, inside the process that makes it.
    pub(super) query: Duration,
    /// A page sent to a process that reads it, writes it again and sends it back.
    pub(super) echo: Duration,
    /// Each kind of page, by name.
    pub(super) pages: Vec<(String, Duration)>,
    /// All pages, one after another.
    pub(super) full: Duration,
    /// What it costs to follow lists.
    pub(super) followed: Followed,
    /// The most memory of the program, in KiB.
    pub(super) memory: Option<u64>,
}

impl Figures {
    /// How long the page of this name took.
    pub(super) fn page(&self, name: &str) -> Option<Duration> {
        self.pages.iter().find(|(of, _)| of == name).map(|(_, took)| *took)
    }

    pub(super) fn to_json(&self) -> Value {
        let pages: serde_json::Map<String, Value> =
            self.pages.iter().map(|(name, took)| (name.clone(), json!(rounded_up(*took)))).collect();
        let followed = self.followed.figures();
        let followed: serde_json::Map<String, Value> =
            followed.into_iter().map(|(name, took)| (name, json!(rounded_up(took)))).collect();
        json!({
            "query_ms": rounded_up(self.query),
            "echo_ms": rounded_up(self.echo),
            "pages_ms": pages,
            "full_ms": rounded(millis(self.full)),
            "followed_ms": followed,
            "memory_kib": self.memory,
        })
    }
}

/// In milliseconds, to a microsecond.
fn rounded_up(took: Duration) -> f64 {
    (millis(took) * 1000.0).round() / 1000.0
}

/// Measures a store: every kind of request in turn, so that what else the machine does falls on all of them.
pub(super) fn measure(store: &Path, runs: u32) -> Result<Figures> {
    let mut program =
        Peer::start(Command::new(workspace::program("acp-sessions")?).args(["agent", "--store"]).arg(store))?;
    let mut floor = Peer::start(Command::new(workspace::program("list_store")?).arg("floor").arg(store))?;
    program.time(&request("initialize", &json!({"protocolVersion": 1})))?;

    let whole = page_through(&mut program)?;
    let kinds = kinds::all(&mut program, &whole)?;
    program.time(&kinds[0].line)?;
    let page = program.answer_line().to_owned();
    let rows = program.answer()?["result"]["sessions"].as_array().context("no rows")?.len();
    // One more, which tells whether there is another page.
    let query = format!("{}\n", json!({ "query": rows + 1 }));

    let mut queries = Vec::new();
    let mut echoes = Vec::new();
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); kinds.len()];
    for _ in 0..runs {
        floor.time(&query)?;
        let nanoseconds = floor.answer()?["nanoseconds"].as_u64().context("no time of a query")?;
        queries.push(Duration::from_nanos(nanoseconds));
        echoes.push(floor.time(&page)?);
        for (times, kind) in times.iter_mut().zip(&kinds) {
            times.push(program.time(&kind.line)?);
            let found = program.answer_line().contains("\"sessionId\"");
            ensure!(found == kind.has_rows, "the page `{}`: {}", kind.name, program.answer_line());
        }
    }
    let memory = program.peak_memory();
    program.stop()?;
    floor.stop()?;
    let followed = followed::measure(store, runs)?;
    let pages = kinds.iter().zip(&mut times).map(|(kind, times)| (kind.name.clone(), median(times))).collect();
    Ok(Figures { query: median(&mut queries), echo: median(&mut echoes), pages, full: whole.took, followed, memory })
}

/// A list that was paged through.
#[derive(Debug, Default)]
pub(super) struct Whole {
    /// How long it took.
    pub(super) took: Duration,
    /// The cursor of page 500, or of the last page before the end.
    pub(super) deep: Value,
    /// The time of the first row of each page.
    pub(super) times: Vec<String>,
}

fn page_through(program: &mut Peer) -> Result<Whole> {
    let mut whole = Whole::default();
    let mut cursor = Value::Null;
    for page in 1_u64.. {
        if !cursor.is_null() && page <= 500 {
            whole.deep = cursor.clone();
        }
        whole.took += program.time(&request("session/list", &json!({ "cursor": cursor })))?;
        let answer = program.answer()?;
        ensure!(answer["error"].is_null(), "a list failed: {answer}");
        whole.times.extend(answer["result"]["sessions"][0]["updatedAt"].as_str().map(str::to_owned));
        cursor = answer["result"]["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    Ok(whole)
}
