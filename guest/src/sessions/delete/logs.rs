//! Who needs a log, and what of it is to go once somebody does so no more.

use std::collections::{BTreeMap, BTreeSet};

use crate::sessions::removal;
use crate::storage::{Expectation, Result, Storage, Write};
use crate::store::{Holders, Session, Store, keys};

/// The logs that sessions let go of, gathered over all that are deleted in one commit.
#[derive(Debug, Default)]
pub(super) struct Release {
    logs: BTreeMap<String, Holders>,
}

impl Release {
    /// Lets go of the session's own log and of all that its transcript, or what was taken out of that, is made of.
    pub(super) fn session<S: Storage>(
        &mut self,
        store: &Store<S>,
        session: &Session,
        expected: &mut Vec<Expectation>,
    ) -> Result<()> {
        let segments = session.segments.iter().chain(&session.aside);
        let mut logs: BTreeSet<&str> = segments.map(|segment| segment.log.as_str()).collect();
        logs.insert(&session.id);
        for log in logs {
            if !self.logs.contains_key(log) {
                let key = keys::log_holders(log);
                let text = store.record(key.clone())?;
                self.logs.insert(log.to_owned(), Holders::parse(text.as_deref())?);
                expected.push(Expectation { key, value: text });
            }
            let Some(holders) = self.logs.get_mut(log) else { continue };
            // A session can be a holder of its own log only by mistake; it needs nothing any more either way.
            holders.holders.remove(&session.id);
            holders.orphaned |= log == session.id;
        }
        Ok(())
    }

    /// What nobody needs any more is to be removed.
    pub(super) fn into_writes<S: Storage>(self, store: &Store<S>) -> Result<Vec<Write>> {
        let mut writes = Vec::new();
        for (log, holders) in self.logs {
            let key = keys::log_holders(&log);
            if holders.orphaned {
                writes.extend(removal::let_go(store, &log, holders.needed_until().saturating_add(1))?);
            }
            writes.push(if holders.holders.is_empty() {
                Write::Remove { key }
            } else {
                Write::Put { key, value: holders.to_text() }
            });
        }
        Ok(writes)
    }
}
