//! Lists of stores of a thousand to a million sessions, against a bare query and a bare echo.

mod followed;
mod kinds;
mod measure;
mod peer;
mod table;

use std::path::PathBuf;

use anyhow::{Context as _, Result};
use serde_json::json;

use crate::{style, workspace};
use measure::{Figures, measure};

/// Options of `cargo xtask bench list`.
#[derive(Debug, clap::Args)]
pub(crate) struct Options {
    /// How many sessions, one store for each
    #[arg(long, value_delimiter = ',', default_value = "1000,10000,100000,1000000")]
    sizes: Vec<u64>,
    /// How often each request is sent
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Keep the stores in this folder, and use those that are there: the largest takes minutes to make
    #[arg(long, value_name = "DIR")]
    stores: Option<PathBuf>,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// Measures and prints.
pub(crate) fn run(options: &Options) -> Result<()> {
    workspace::build(&["acp-sessions", "list_store"])?;
    let temporary = tempfile::tempdir().context("cannot make a temporary folder")?;
    let folder = options.stores.as_deref().unwrap_or(temporary.path());
    let mut columns: Vec<(u64, Figures)> = Vec::new();
    for &sessions in &options.sizes {
        let store = folder.join(format!("{sessions}.db"));
        if !store.exists() {
            eprintln!("{}", style::dim(format_args!("making a store of {sessions} sessions")));
            fill(&store, sessions)?;
        }
        columns.push((sessions, measure(&store, options.runs)?));
    }
    if options.json {
        let columns: Vec<_> = columns
            .iter()
            .map(|(sessions, figures)| json!({"sessions": sessions, "figures": figures.to_json()}))
            .collect();
        println!("{:#}", json!({"bench": "list", "runs": options.runs, "stores": columns}));
    } else {
        table::print(options.runs, &columns);
    }
    Ok(())
}

/// Makes a store under another name first, so that one half made is never taken for a whole one.
fn fill(store: &std::path::Path, sessions: u64) -> Result<()> {
    let part = store.with_extension("part");
    for side in ["part", "part-wal", "part-shm"] {
        let path = store.with_extension(side);
        if path.exists() {
            std::fs::remove_file(&path).with_context(|| format!("cannot remove {}", path.display()))?;
        }
    }
    let mut command = std::process::Command::new(workspace::program("list_store")?);
    workspace::run(command.arg("fill").arg("--sessions").arg(sessions.to_string()).arg(&part))?;
    std::fs::rename(&part, store).context("cannot rename the store")
}
