//! Deleting: the record, every index entry, the text, the log, all in one commit with the tombstones.

use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

use crate::search;
use crate::storage::{Expectation, Result, Storage, StorageError, Write};
use crate::store::{Changed, Session, Store, keys};

/// Who shares a log with its own session, and up to which entry.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Holders {
    /// By session id.
    pub holders: BTreeMap<String, u64>,
    /// Whether the session whose log it is has been deleted, so that only the holders keep it.
    #[serde(default)]
    pub orphaned: bool,
}

impl Holders {
    /// Reads the record of a log; empty where nobody shares it.
    pub fn parse(text: Option<&str>) -> Result<Self> {
        text.map_or(Ok(Self::default()), |text| {
            serde_json::from_str(text).map_err(|error| StorageError::Corrupt(format!("a log's holders: {error}")))
        })
    }

    /// The record's text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// The last entry that anybody but the log's own session needs.
    fn needed_until(&self) -> u64 {
        self.holders.values().copied().max().unwrap_or(0)
    }
}

/// Deletes a session for good and returns it; `None` if there is none. What forks of it share of its log stays, for
/// them alone, until the last of them is deleted.
pub fn delete<S: Storage>(store: &Store<S>, id: &str, now: i64) -> Result<Option<Session>> {
    let changed = store.change(id).durable().commit(|before, expected, writes| {
        let Some(session) = before else { return Ok(None) };
        writes.push(Write::Put { key: keys::tombstone(id), value: now.to_string() });
        writes.push(Write::Delete { key: keys::state(id) });
        for (agent, known) in &session.agents {
            writes.push(Write::Put { key: keys::agent_tombstone(agent, &known.id), value: now.to_string() });
            writes.push(Write::Delete { key: keys::agent_session(agent, &known.id) });
        }
        release_logs(store, session, expected, writes)?;
        Ok(Some(None))
    })?;
    Ok(match changed {
        Changed::Done { before, .. } => before.map(|session| *session),
        Changed::Nothing => None,
    })
}

/// Lets go of the session's own log and of those it inherited from; drops what nobody needs any more.
fn release_logs<S: Storage>(
    store: &Store<S>,
    session: &Session,
    expected: &mut Vec<Expectation>,
    writes: &mut Vec<Write>,
) -> Result<()> {
    let mut logs: BTreeSet<&str> = session.segments.iter().map(|segment| segment.log.as_str()).collect();
    logs.extend(session.aside.iter().map(|segment| segment.log.as_str()));
    logs.insert(&session.id);
    for log in logs {
        let key = keys::log_holders(log);
        let text = store.record(key.clone())?;
        let mut holders = Holders::parse(text.as_deref())?;
        expected.push(Expectation { key: key.clone(), value: text });
        if log == session.id {
            holders.orphaned = true;
        } else {
            holders.holders.remove(&session.id);
        }
        if holders.orphaned {
            let from = holders.needed_until() + 1;
            writes.push(Write::CutLog { log: log.to_owned(), from });
            writes.push(Write::DropText { owner: search::Owner::Log(log).name(), from });
            if from == 1 {
                writes.push(Write::Delete { key });
                continue;
            }
        }
        let write = if holders.holders.is_empty() && !holders.orphaned {
            Write::Delete { key }
        } else {
            Write::Put { key, value: holders.to_text() }
        };
        writes.push(write);
    }
    Ok(())
}
