//! What the log has of a turn that is still under way, for whoever goes on with it after an instance was lost.

use super::entry::{Entry, Kind};
use super::open_calls::OpenCalls;
use crate::rpc::Object;
use crate::storage::{Bounds, Result, Storage};

/// How far back is looked, in entries.
const LOOK_BACK: u32 = 4000;
/// How much is read at a time.
const BATCH: Bounds = Bounds { limit: 256, max_bytes: 1024 * 1024 };

/// What the log has of a turn.
#[derive(Debug, Default)]
pub struct Begun {
    /// The entries of its prompts: more than one where a client did not wait.
    pub prompts: Vec<String>,
    /// Its tool calls that have not ended.
    pub calls: OpenCalls,
}

/// Looks for the turn of this tag at the end of a log.
pub fn begun<S: Storage>(storage: &S, log: &str, tag: &str) -> Result<Begun> {
    let mut begun = Begun::default();
    let mut start = storage.log_end(log)?.saturating_sub(LOOK_BACK) + 1;
    loop {
        let page = storage.read_log(log, start, BATCH)?;
        let Some(last) = page.entries.last() else { return Ok(begun) };
        start = last.seq.saturating_add(1);
        for text in page.entries.into_iter().map(|entry| entry.value) {
            match Entry::parse(&text).filter(|entry| entry.turn == Some(tag)) {
                Some(Entry { kind: Kind::Prompt, .. }) => begun.prompts.push(text),
                Some(Entry { kind: Kind::Update, json, .. }) => {
                    if let Some(update) = Object::parse_or_empty(json).get("update") {
                        begun.calls.feed(update);
                    }
                }
                _ => {}
            }
        }
        if !page.more {
            return Ok(begun);
        }
    }
}
