//! The floor: what a list costs when nothing is decided. A bare keyset query, prepared once, and an echo of JSON.

use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use acp_sessions_guest::store::keys;
use anyhow::{Context as _, Result};
use rusqlite::{Connection, OpenFlags, params};
use serde_json::{Value, json};

use crate::many::AGENT;

/// Answers each line of `input`: `{"query":N}` with the nanoseconds that a query of N rows took, anything else with
/// itself, read and written as JSON.
pub fn serve(store: &Path, input: impl BufRead, mut output: impl Write) -> Result<()> {
    let connection = Connection::open_with_flags(store, OpenFlags::SQLITE_OPEN_READ_ONLY)
        .with_context(|| format!("cannot open {}", store.display()))?;
    for line in input.lines() {
        let request: Value = serde_json::from_str(&line?)?;
        let answer = match request.get("query").and_then(Value::as_i64) {
            Some(rows) => json!({ "nanoseconds": query(&connection, rows)? }),
            None => request,
        };
        serde_json::to_writer(&mut output, &answer)?;
        output.write_all(b"\n")?;
        output.flush()?;
    }
    Ok(())
}

fn query(connection: &Connection, rows: i64) -> Result<u64> {
    let start = keys::rows('m', Some(AGENT), None);
    let end = keys::range_end(&start);
    let begun = Instant::now();
    let mut statement = connection
        .prepare_cached("SELECT key, value FROM records WHERE key >= ?1 AND key < ?2 ORDER BY key DESC LIMIT ?3")?;
    let mut rows = statement.query(params![start, end, rows])?;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let (key, value): (String, String) = (row.get(0)?, row.get(1)?);
        bytes += key.len() + value.len();
    }
    std::hint::black_box(bytes);
    Ok(u64::try_from(begun.elapsed().as_nanos())?)
}
