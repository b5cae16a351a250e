//! Reading a transcript a page at a time, for those who have no connection to replay it to.

use crate::storage::{Storage, StorageError};
use crate::store::Store;
use crate::transcript::{Entry, Position, Progress, Replay, Start};

const BATCH_BYTES: u32 = 256 * 1024;

/// Why there is no transcript.
#[derive(Debug, thiserror::Error)]
pub enum TranscriptError {
    /// There is no such session.
    #[error("no session has this id")]
    NotFound,
    /// The transcript has no such place.
    #[error("the transcript has no such place")]
    Place,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// A part of a transcript.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TranscriptPage {
    /// Updates, each with the place to go on at after it.
    pub updates: Vec<(Position, String)>,
    /// Whether there may be more.
    pub more: bool,
}

/// The updates of a session from a place on, about `limit` of them: an entry is never split.
pub fn transcript<S: Storage>(
    store: &Store<S>,
    id: &str,
    from: Position,
    limit: u32,
) -> Result<TranscriptPage, TranscriptError> {
    let session = store.session(id)?.ok_or(TranscriptError::NotFound)?;
    let mut replay = Replay::open(store.storage(), &session, Start::At(from))?;
    if !replay.contains(from) {
        return Err(TranscriptError::Place);
    }
    let mut updates = Vec::new();
    while updates.len() < limit as usize {
        let Progress::Entries(entries) = replay.next(store.storage(), BATCH_BYTES)? else {
            return Ok(TranscriptPage { updates, more: false });
        };
        for (position, text) in entries {
            if updates.len() >= limit as usize {
                return Ok(TranscriptPage { updates, more: true });
            }
            let read = Entry::parse(&text).map(|entry| entry.updates()).unwrap_or_default();
            updates.extend(read.into_iter().map(|update| (position, update)));
        }
    }
    Ok(TranscriptPage { updates, more: true })
}
