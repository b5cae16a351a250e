//! The floor: what a list costs when nothing is decided. A bare keyset query, prepared once, and an echo of JSON.

use std::io::{BufRead, Write};
use std::path::Path;
use std::time::Instant;

use anyhow::{Context as _, Result};
use rusqlite::{Connection, OpenFlags};
use serde_json::{Value, json};

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
    let start = Instant::now();
    let mut statement = connection.prepare_cached(
        "SELECT key, value FROM records WHERE key >= 'i/m/u/' AND key < 'i/m/u/~' ORDER BY key DESC LIMIT ?1",
    )?;
    let mut rows = statement.query([rows])?;
    let mut bytes = 0;
    while let Some(row) = rows.next()? {
        let (key, value): (String, String) = (row.get(0)?, row.get(1)?);
        bytes += key.len() + value.len();
    }
    std::hint::black_box(bytes);
    Ok(u64::try_from(start.elapsed().as_nanos())?)
}
