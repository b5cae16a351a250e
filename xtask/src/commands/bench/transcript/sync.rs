//! What it takes to have the bytes of a turn on disk, without anything around it: the floor of every turn that is kept.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};

/// About what the store's write-ahead log grows by in a short turn.
const TURN: usize = 48 << 10;

/// A file that grows by the bytes of a turn and is synced, again and again.
pub(super) struct Sync(File);

impl Sync {
    pub(super) fn create(path: &Path) -> Result<Self> {
        Ok(Self(File::create(path).context("cannot write to the bench's folder")?))
    }

    /// How long the bytes of one turn take.
    pub(super) fn turn(&mut self) -> Result<Duration> {
        let start = Instant::now();
        self.0.write_all(&vec![0x5A; TURN])?;
        self.0.sync_data()?;
        Ok(start.elapsed())
    }
}
