//! What is kept beside the sessions' records: each record of the layer's own says something that can be read.

use std::iter;

use super::fault::{Fault, Mending};
use super::pass::{Pass, Wrong, after};
use super::{BATCH, last_id};
use crate::checksum;
use crate::sessions::{folders, open_marks, unsent};
use crate::storage::{Entry, Result, Storage, StorageError, Write};
use crate::store::{Decision, Departure, Removals, State, Usage, keys};

/// Where the records of sessions and the indexes are, which are looked at by themselves; in the order of their keys.
const OTHERS: [&str; 5] = [keys::UNPROMPTED, keys::ROWS, keys::SUBAGENTS, keys::SESSIONS, keys::CHANGES];

/// The ranges between those, in which the records stand that are kept beside them.
fn ranges() -> impl Iterator<Item = (String, &'static str)> {
    let starts = iter::once(String::new()).chain(OTHERS.into_iter().map(keys::range_end));
    starts.zip(OTHERS.into_iter().chain(["\u{7f}"]))
}

impl<S: Storage> Pass<'_, S> {
    /// Looks at a batch of them behind this key; returns the last one's key, or none when there are no more.
    pub(super) fn notes(&mut self, behind: &str) -> Result<Option<String>> {
        for (start, end) in ranges() {
            if behind >= end {
                continue;
            }
            let start = after(behind, &start).max(start);
            let page = self.store.storage().scan(&start, end, false, BATCH)?;
            let Some(last) = page.entries.last().map(|entry| entry.key.clone()) else { continue };
            for entry in page.entries {
                let mut entry = Some(entry);
                self.again(|pass| {
                    let Some(found) = entry.take() else { return Ok(()) };
                    match pass.one_note(&found) {
                        // It is looked at as it is by then.
                        Err(StorageError::Conflict) => {
                            let value = pass.store.record(found.key.clone())?;
                            entry = value.map(|value| Entry { key: found.key, value });
                            Err(StorageError::Conflict)
                        }
                        result => result,
                    }
                })?;
            }
            return Ok(Some(last));
        }
        Ok(None)
    }

    fn one_note(&mut self, Entry { key, value }: &Entry) -> Result<()> {
        let (kind, rest) = key.split_at(key.find('/').map_or(key.len(), |at| at + 1));
        let is_number = value.parse::<i64>().is_ok();
        let put = |value: &str| Write::Put { key: key.clone(), value: value.to_owned() };
        let remove = || Write::Remove { key: key.clone() };
        let (is_right, fault, write) = match (kind, rest) {
            // They are looked at by themselves, or any text will do.
            (keys::REVISION | keys::LAYOUT | keys::ROSTER | keys::IDENTITY, "") => return Ok(()),
            (keys::SHARES, _) => return self.holders(key, value),
            (keys::AGENT_SESSIONS, _) => return self.mapping(key, value),
            (keys::CONNECTIONS, "") => (value.parse::<u64>().is_ok(), Fault::Note, put("0")),
            (keys::HABITS | keys::HEARTBEATS | keys::PENDING_DELETES | keys::AGENT_LISTS, _) => {
                (is_number, Fault::Note, remove())
            }
            // Whatever stands there, it says that the session is deleted.
            (keys::TOMBSTONES | keys::AGENT_TOMBSTONES | keys::STAGINGS, _) => (is_number, Fault::Note, put("0")),
            (keys::OPEN_MARKS, _) => (open_marks::read_mark(value).is_some(), Fault::Note, remove()),
            (keys::UNSENT, _) => (unsent::is_readable(value), Fault::Note, remove()),
            (keys::DEPARTURES, _) => (Departure::parse(value).is_some(), Fault::Note, remove()),
            (keys::FOLDERS, _) => (folders::is_note(value), Fault::Note, remove()),
            (keys::STATES, _) if self.is_of_nobody(key, value, Fault::StateStray)? => return Ok(()),
            (keys::USAGES, _) if self.is_of_nobody(key, value, Fault::UsageStray)? => return Ok(()),
            (keys::STATES, _) => match State::parse(value) {
                Ok(state) => (checksum::is_sound(value), Fault::Altered, put(&state.to_text())),
                Err(_) => (false, Fault::State, remove()),
            },
            (keys::USAGES, _) => match Usage::parse(value) {
                Ok(usage) => (checksum::is_sound(value), Fault::Altered, put(&usage.to_text())),
                Err(_) => (false, Fault::Usage, remove()),
            },
            (keys::REMOVALS, _) => (Removals::read_start(value).is_some(), Fault::Note, self.removal_anew(key)?),
            _ => (false, Fault::Unknown, remove()),
        };
        let is_key = kind == key.as_str() || rest.split('/').all(keys::is_encoded);
        if is_right && is_key {
            return Ok(());
        }
        let wrong = Wrong::by([(key.clone(), Some(value.clone()))]);
        let (fault, write) = if is_key { (fault, write) } else { (Fault::Unknown, remove()) };
        self.put_right_with(wrong, fault, key, write)
    }

    /// Whether what is kept beside a session's record is that of a session that is not there, which is told.
    fn is_of_nobody(&mut self, key: &str, value: &str, stray: Fault) -> Result<bool> {
        let id = last_id(key).unwrap_or_default();
        let record = keys::session(&id);
        if self.store.record(record.clone())?.is_some() {
            return Ok(false);
        }
        let fault = if self.store.is_deleted(&id)? { Fault::Deleted } else { stray };
        let wrong = Wrong::by([(key.to_owned(), Some(value.to_owned())), (record, None)]);
        self.put_right_with(wrong, fault, key, Write::Remove { key: key.to_owned() })?;
        Ok(true)
    }

    /// Of a deleted session all goes that nobody else needs; of others nothing.
    fn removal_anew(&self, key: &str) -> Result<Write> {
        let key = key.to_owned();
        let log = key.strip_prefix(keys::REMOVALS).and_then(keys::decode).unwrap_or_default();
        let is_held = self.store.record(keys::log_holders(&log))?.is_some();
        Ok(if self.store.is_deleted(&log)? && !is_held {
            Write::Put { key, value: "1".to_owned() }
        } else {
            Write::Remove { key }
        })
    }

    /// Where an agent's id leads.
    fn mapping(&mut self, key: &str, id: &str) -> Result<()> {
        let record = self.store.record(keys::session(id))?;
        if record.is_none() {
            let read = [(key.to_owned(), Some(id.to_owned())), (keys::session(id), None)];
            let write = Write::Remove { key: key.to_owned() };
            return self.put_right_with(Wrong::by(read), Fault::MappingStray, key, write);
        }
        if self.mending == Mending::Everything {
            self.know_by(key, id)?;
        }
        Ok(())
    }

    /// A session whose record was made anew is known again to the agents whose ids lead to it.
    fn know_by(&self, key: &str, id: &str) -> Result<()> {
        let names = key.splitn(3, '/').skip(1).map(keys::decode).collect::<Option<Vec<String>>>();
        let Some([agent, agent_id]) = names.as_deref() else { return Ok(()) };
        let changed = self.store.change(id).commit(|before, _, _| {
            let Some(session) = before.filter(|session| !session.agents.contains_key(agent)) else {
                return Ok(Decision::Keep);
            };
            let mut session = session.clone();
            session.know_as(agent, agent_id, u64::MAX);
            Ok(Decision::put(session))
        });
        match changed {
            // It is noted where it is looked at itself.
            Err(StorageError::Corrupt(_)) => Ok(()),
            changed => changed.map(|_| ()),
        }
    }
}
