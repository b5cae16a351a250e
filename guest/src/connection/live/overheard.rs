//! What an agent has told of a conversation of which nothing becomes part: another window may be in the midst of a turn. It need
//! not be told that again.

use serde::{Deserialize, Serialize};

use crate::reconcile::Sum;
use crate::storage::{Bounds, Result, Storage};
use crate::store::Session;
use crate::transcript::{Entry, Kind};

/// The last entry of a session's own log, which its window may go on with: the agent has told it as it was then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Last {
    seq: u32,
    read: Sum,
}

/// How much of a transcript an agent has told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Overheard {
    /// So many entries, as they are.
    pub(super) heard: u64,
    /// And the next one, as it was.
    pub(super) last: Option<Last>,
}

impl Last {
    /// The last entry of this log, if it is one that may grow.
    pub(super) fn read<S: Storage>(storage: &S, log: &str, seq: u32) -> Result<Option<Self>> {
        let text = entry(storage, log, seq)?;
        let may_grow = |text: &String| Entry::parse(text).is_none_or(|entry| entry.kind == Kind::Update);
        Ok(text.filter(may_grow).map(|text| Self { seq, read: Sum::of_bytes(text.as_bytes()) }))
    }

    pub(super) fn is_as_it_was<S: Storage>(self, storage: &S, log: &str) -> Result<bool> {
        Ok(entry(storage, log, self.seq)?.is_some_and(|text| Sum::of_bytes(text.as_bytes()) == self.read))
    }
}

fn entry<S: Storage>(storage: &S, log: &str, seq: u32) -> Result<Option<String>> {
    if seq == 0 {
        return Ok(None);
    }
    let page = storage.read_log(log, seq, Bounds { limit: 1, max_bytes: 1 })?;
    Ok(page.entries.into_iter().next().filter(|entry| entry.seq == seq).map(|entry| entry.value))
}

impl Overheard {
    /// So many entries of this session, of which it had heard this many before, and whose own log ended with `last` if that
    /// may grow.
    pub(super) fn of(told: u64, heard: u64, session: &Session, last: Option<Last>) -> Self {
        match last.filter(|last| told > heard && session.has_own(last.seq) && session.length_up_to(last.seq) == told) {
            Some(last) => Self { heard: told - 1, last: Some(last) },
            None => Self { heard: told, last: None },
        }
    }

    /// How many entries it has told, the last one among them.
    pub(super) fn told(&self) -> u64 {
        self.heard + u64::from(self.last.is_some())
    }
}
