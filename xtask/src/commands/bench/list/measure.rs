//! What is measured of one store.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use serde_json::{Value, json};

use super::super::figures::{median, millis, rounded};
use super::peer::{Peer, request};
use crate::workspace;

/// The rows of a page in a plain request.
const PAGE: u64 = 100;
/// What the bench's stores hold; see `bench/src/many.rs`.
const DIRECTORY: &str = "/home/somebody/work/project-3";
const RARE_WORD: &str = "xylophone";
const COMMON_WORD: &str = "refactor";

/// What one store came to: medians.
#[derive(Debug)]
pub(super) struct Figures {
    /// The bare query of a page, inside the process that makes it.
    pub(super) query: Duration,
    /// A page sent to a process that reads it, writes it again and sends it back.
    pub(super) echo: Duration,
    /// Each kind of page, by name.
    pub(super) pages: Vec<(&'static str, Duration)>,
    /// All pages, one after another.
    pub(super) full: Duration,
    /// The most memory of the program, in KiB.
    pub(super) memory: Option<u64>,
}

impl Figures {
    pub(super) fn to_json(&self) -> Value {
        let pages: serde_json::Map<String, Value> =
            self.pages.iter().map(|(name, took)| ((*name).to_owned(), json!(rounded_up(*took)))).collect();
        json!({
            "query_ms": rounded_up(self.query),
            "echo_ms": rounded_up(self.echo),
            "pages_ms": pages,
            "full_ms": rounded(millis(self.full)),
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

    let (full, deep) = page_through(&mut program)?;
    let kinds = kinds(&mut program, &deep)?;
    program.time(&kinds[0].1)?;
    let page = program.answer_line().to_owned();
    let query = format!("{}\n", json!({ "query": PAGE + 1 }));

    let mut queries = Vec::new();
    let mut echoes = Vec::new();
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); kinds.len()];
    for _ in 0..runs {
        floor.time(&query)?;
        let nanoseconds = floor.answer()?["nanoseconds"].as_u64().context("no time of a query")?;
        queries.push(Duration::from_nanos(nanoseconds));
        echoes.push(floor.time(&page)?);
        for (times, (name, line)) in times.iter_mut().zip(&kinds) {
            times.push(program.time(line)?);
            let found = program.answer_line().contains("\"sessionId\"");
            ensure!(found, "the page `{name}` is empty: {}", program.answer_line());
        }
    }
    let memory = program.peak_memory();
    program.stop()?;
    floor.stop()?;
    let pages = kinds.iter().zip(&mut times).map(|((name, _), times)| (*name, median(times))).collect();
    Ok(Figures { query: median(&mut queries), echo: median(&mut echoes), pages, full, memory })
}

/// Pages through the whole list; how long it took, and the cursor of page 500, or of the last page before the end.
fn page_through(program: &mut Peer) -> Result<(Duration, Value)> {
    let mut took = Duration::ZERO;
    let mut deep = Value::Null;
    let mut cursor = Value::Null;
    for page in 1_u64.. {
        if !cursor.is_null() && page <= 500 {
            deep = cursor.clone();
        }
        took += program.time(&request("session/list", &json!({ "cursor": cursor })))?;
        let answer = program.answer()?;
        ensure!(answer["error"].is_null(), "a list failed: {answer}");
        cursor = answer["result"]["nextCursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    Ok((took, deep))
}

/// The requests.
fn kinds(program: &mut Peer, deep: &Value) -> Result<Vec<(&'static str, String)>> {
    program.time(&request("session/list", &json!({})))?;
    let page = program.answer()?;
    // Among the first rows many share a time: half a page is behind the middle one's.
    let middle = &page["result"]["sessions"][(PAGE / 2) as usize]["updatedAt"];
    let own = |options: Value| json!({"_meta": {"acp-sessions": options}});
    let kinds = [
        ("first page", json!({})),
        ("page 500, or last", json!({ "cursor": deep })),
        // As many rows as the directory has in the smallest store, so that the sizes compare.
        ("cwd page, 50 rows", json!({ "cwd": DIRECTORY, "_meta": {"acp-sessions": {"limit": 50}} })),
        ("updatedAfter page", own(json!({ "updatedAfter": middle }))),
        ("search, rare word", own(json!({ "search": RARE_WORD }))),
        ("search, common word", own(json!({ "search": COMMON_WORD }))),
        ("search, half a word", own(json!({ "search": &COMMON_WORD[..5] }))),
        ("search, both words", own(json!({ "search": format!("{COMMON_WORD} {RARE_WORD}") }))),
    ];
    Ok(kinds.into_iter().map(|(name, params)| (name, request("session/list", &params))).collect())
}
