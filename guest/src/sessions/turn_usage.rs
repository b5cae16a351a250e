//! What was used in each turn of a session, as far as its agents have said so.

use serde::Deserialize;

use super::place;
use super::transcript::{BATCH_BYTES, BYTES, TranscriptError, open, still_there};
use crate::storage::Storage;
use crate::store::{Store, Used};
use crate::time;
use crate::transcript::{Entry, Kind, Part, Progress};

/// How much of the model's context is used, in tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Context {
    /// So much.
    pub used: u64,
    /// Of so much.
    pub size: u64,
}

/// What was used in a turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnUsage {
    /// When the turn ended, RFC 3339.
    pub ended_at: String,
    /// What was used.
    pub used: Used,
    /// What was said last in it of the context.
    pub context: Option<Context>,
}

/// Some of a session's turns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TurnUsagePage {
    /// In the order of the conversation.
    pub turns: Vec<TurnUsage>,
    /// For the next page, which may be empty; none at the end.
    pub next_cursor: Option<String>,
}

/// What the end of a turn says of it.
#[derive(Deserialize)]
struct End {
    #[serde(default)]
    used: Used,
    #[serde(default)]
    context: Option<Context>,
}

/// The turns after a cursor of which something is known: at most `limit` (from 1), of not many more bytes of the
/// conversation than [`BYTES`]. Those before a fork are its parent's.
pub fn turn_usage<S: Storage>(
    store: &Store<S>,
    id: &str,
    after: Option<&str>,
    limit: u32,
) -> Result<TurnUsagePage, TranscriptError> {
    let (session, mut replay) = open(store, id, Part::Conversation, after)?;
    let limit = (limit as usize).max(1);
    let mut turns = Vec::new();
    let mut bytes = 0;
    while let Progress::Entries(entries) = replay.next(store.storage(), BATCH_BYTES)? {
        for (position, text) in entries {
            bytes += text.len();
            let end = Entry::parse(&text).filter(|entry| entry.kind == Kind::TurnEnd && entry.time >= session.created);
            turns.extend(end.and_then(|end| of(&end)));
            if turns.len() >= limit || bytes >= BYTES {
                return Ok(TurnUsagePage {
                    turns,
                    next_cursor: Some(place::to_cursor(&session, Part::Conversation, &position)),
                });
            }
        }
    }
    still_there(store, id)?;
    Ok(TurnUsagePage { turns, next_cursor: None })
}

fn of(end: &Entry<'_>) -> Option<TurnUsage> {
    let End { used, context } = serde_json::from_str(end.json).ok()?;
    let is_known = context.is_some() || !used.is_nothing();
    is_known.then(|| TurnUsage { ended_at: time::format(end.time), used, context })
}
