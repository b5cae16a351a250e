//! Makes the stores that `cargo xtask bench list` reads, and serves the floor that it compares with.

use std::io;
use std::path::PathBuf;

use acp_sessions_bench::{fill, floor};
use clap::Parser;

#[derive(Debug, Parser)]
enum Command {
    /// Make a store of so many sessions
    Fill {
        /// How many
        #[arg(long)]
        sessions: u64,
        /// The file; it must not be there
        store: PathBuf,
    },
    /// Answer lines with a bare query of this store, or with an echo
    Floor {
        /// The file
        store: PathBuf,
    },
}

fn main() -> anyhow::Result<()> {
    match Command::parse() {
        Command::Fill { sessions, store } => fill::fill(&store, sessions),
        Command::Floor { store } => floor::serve(&store, io::stdin().lock(), io::stdout().lock()),
    }
}
