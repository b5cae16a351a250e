//! What is kept is bounded.

use std::collections::BTreeMap;

use acp_sessions_guest::storage::{Memory, Storage};

use super::ALL;
use crate::ground::Broke;

/// What a host keeps of a connection without open sessions and requests.
const FEW: usize = 4;

/// Records that may outlive all sessions: the revision, the agents' names, which store it is, tombstones, deletes to be done, what is known of agents' lists
/// and of connections.
const LASTING: [&str; 12] = ["r", "v", "i", "c", "k", "x/", "y/", "z/", "d/", "n/", "o/", "c/"];

/// The memos of a connection on which nothing is open.
pub(crate) fn memos(memos: &BTreeMap<String, String>) -> Vec<Broke> {
    let too_many = memos.len() > FEW || memos.keys().any(|key| key.starts_with("q/"));
    too_many.then(|| Broke::new("memos", format!("with nothing open, these are kept: {memos:?}"))).into_iter().collect()
}

/// What is in the store when all sessions have been deleted.
pub(crate) fn nothing_left(memory: &Memory) -> Vec<Broke> {
    let (_, entries, texts) = memory.counts();
    let page = memory.scan("", "~", false, ALL).unwrap_or_default();
    let keys: Vec<String> = page.entries.into_iter().map(|entry| entry.key).collect();
    let lasts =
        |key: &String| LASTING.iter().any(|lasting| key == lasting || (lasting.len() > 1 && key.starts_with(lasting)));
    let left: Vec<_> = keys.into_iter().filter(|key| !lasts(key)).collect();
    let is_empty = entries == 0 && texts == 0 && left.is_empty();
    let text = || format!("with all sessions deleted, {entries} log entries, {texts} texts and {left:?} are left");
    (!is_empty).then(|| Broke::new("left-over", text())).into_iter().collect()
}
