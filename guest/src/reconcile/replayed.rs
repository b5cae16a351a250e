//! What an agent has replayed.

use crate::storage::{Bounds, Result, Storage};
use crate::transcript::Recorder;

const BATCH: Bounds = Bounds { limit: 512, max_bytes: 256 * 1024 };

/// Where a replay is. Its entries are numbered from 1.
#[derive(Debug, Clone, Copy)]
pub enum Replayed<'a> {
    /// In the staging log of this name.
    Log(&'a str),
    /// With a recorder that has written none of it: its runs are closed.
    Held(&'a Recorder),
}

impl Replayed<'_> {
    /// Gives each entry, with its number. Returns how many there are.
    pub(super) fn each<S: Storage>(&self, storage: &S, mut entry: impl FnMut(u64, &str)) -> Result<u64> {
        match self {
            Self::Log(log) => each_of_log(storage, log, entry),
            Self::Held(recorder) => {
                (1..).zip(recorder.waiting()).for_each(|(number, text)| entry(number, text));
                Ok(recorder.waiting().len() as u64)
            }
        }
    }
}

fn each_of_log<S: Storage>(storage: &S, log: &str, mut each: impl FnMut(u64, &str)) -> Result<u64> {
    let end = storage.log_end(log)?;
    let mut next = 1;
    while next <= end {
        let page = storage.read_log(log, next, BATCH)?;
        for entry in page.entries.iter().filter(|entry| entry.seq <= end) {
            each(entry.seq.into(), &entry.value);
        }
        let Some(last) = page.entries.last().filter(|_| page.more) else { break };
        next = last.seq + 1;
    }
    Ok(end.into())
}
