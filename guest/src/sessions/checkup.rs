//! Checking a store: what is derived is compared with what it is derived from, what is wrong is told, and what can be put
//! right is. Other processes may use the store meanwhile: nothing counts as wrong that changes while it is looked at, and
//! each commit expects what it was made from.

mod cost;
mod counters;
mod fault;
mod gap;
mod lost;
mod notes;
mod pass;
mod record;
mod restored;
mod session;
mod sharing;
mod strays;
mod sweep;
#[cfg(test)]
mod tests;
mod text;

use serde::{Deserialize, Serialize};

pub use fault::{Fault, Finding, Mending};

use super::upgrade;
use crate::storage::{Bounds, Storage, StorageError};
use crate::store::{Layout, Store, keys};
use pass::Pass;

/// How much is read, and written in one commit, at a time: others wait that long.
const BATCH: Bounds = Bounds { limit: 256, max_bytes: 256 * 1024 };

/// What a part of a checkup came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkup {
    /// How many sessions it did.
    pub done: u32,
    /// How many entries of logs it compared.
    pub entries: u32,
    /// What was found, in this call alone.
    pub findings: Vec<Finding>,
    /// Where the next call goes on; none at the end.
    pub next: Option<String>,
}

/// How far a checkup has come.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum CheckupStage {
    /// The records without which no session can be changed.
    Counters,
    /// Bringing a store of an earlier version up to date, so that no list lacks anything meanwhile.
    Upgrade,
    /// Making records anew, by what the lists say of sessions that have none, behind this key.
    Rows(String),
    /// The logs of sessions that have no record, behind this name.
    Logs(Option<String>),
    /// Taking out records that cannot be read, behind this key.
    Unread(String),
    /// What is kept beside the sessions' records, behind this key.
    Notes(String),
    /// Index entries that no record stands for, behind this key.
    Strays(String),
    /// What is derived from each session, behind this key.
    Sessions(String),
    /// The texts of a log of the session with this key, from an entry on.
    Text { session: String, log: String, from: u32 },
    /// The texts of those that are no more, behind this name.
    Sweep(Option<String>),
}

/// Why a checkup does not go on.
#[derive(Debug, thiserror::Error)]
pub enum CheckupError {
    /// The cursor is not one of a checkup's.
    #[error("the cursor is not one that a checkup gave")]
    Cursor,
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Does a part of a checkup: up to about `limit` sessions. What `mending` does not go as far as to put right is told and
/// left as it is.
pub fn check<S: Storage>(
    store: &Store<S>,
    mending: Mending,
    cursor: Option<&str>,
    limit: u32,
    now: i64,
) -> Result<Checkup, CheckupError> {
    let stage = cursor.map_or(Ok(CheckupStage::Counters), serde_json::from_str);
    let stage = stage.map_err(|_| CheckupError::Cursor)?;
    let mut pass = Pass::new(store, mending, now);
    let next = match stage {
        CheckupStage::Counters => {
            pass.counters()?;
            Some(CheckupStage::Upgrade)
        }
        CheckupStage::Upgrade => Some(match mending {
            Mending::Nothing => CheckupStage::Logs(None),
            _ if upgrade::is_due(store)? && upgrade::step(store)? => CheckupStage::Upgrade,
            Mending::Derived => CheckupStage::Logs(None),
            Mending::Everything => CheckupStage::Rows(String::new()),
        }),
        CheckupStage::Rows(behind) => Some(pass.rows(&behind)?.map_or(CheckupStage::Logs(None), CheckupStage::Rows)),
        CheckupStage::Logs(behind) => {
            let rest = pass.logs(behind.as_deref())?;
            Some(rest.map_or(CheckupStage::Unread(String::new()), |behind| CheckupStage::Logs(Some(behind))))
        }
        CheckupStage::Unread(_) if mending < Mending::Everything => Some(CheckupStage::Notes(String::new())),
        CheckupStage::Unread(behind) => {
            Some(pass.unread(&behind)?.map_or(CheckupStage::Notes(String::new()), CheckupStage::Unread))
        }
        CheckupStage::Notes(behind) => match pass.notes(&behind)? {
            Some(behind) => Some(CheckupStage::Notes(behind)),
            // Of an earlier layout no index can be compared.
            None if store.look_at_layout()?.0 != Layout::Present => None,
            None => Some(CheckupStage::Strays(String::new())),
        },
        CheckupStage::Strays(behind) => {
            Some(pass.strays(&behind)?.map_or(CheckupStage::Sessions(String::new()), CheckupStage::Strays))
        }
        CheckupStage::Sessions(behind) => Some(pass.sessions(&behind, limit)?),
        CheckupStage::Text { session, log, from } => {
            let read = pass.texts(&session, Some((&log, from)));
            Some(pass.unless_unreadable(read, &session)?.flatten().unwrap_or(CheckupStage::Sessions(session)))
        }
        CheckupStage::Sweep(behind) => pass.sweep(behind.as_deref())?.map(|behind| CheckupStage::Sweep(Some(behind))),
    };
    let next = next.map(|stage| serde_json::to_string(&stage).unwrap_or_default());
    Ok(Checkup { done: pass.done, entries: pass.budget.entries, findings: pass.findings, next })
}

/// The id that the last part of a key is.
fn last_id(key: &str) -> Option<String> {
    keys::decode(key.rsplit_once('/')?.1)
}
