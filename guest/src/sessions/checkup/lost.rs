//! Sessions whose records are missing or cannot be read. What is said in them is still there, and mostly their list rows.

use super::fault::Fault;
use super::pass::{Pass, Wrong};
use super::record::{Record, id_of};
use super::restored;
use super::strays::tells_of;
use super::sweep::{LOOKED, is_somebody};
use super::{BATCH, last_id};
use crate::sessions::removal;
use crate::storage::{Expectation, Result, Storage, Write};
use crate::store::{Changed, Decision, Row, Session, keys};

impl<S: Storage> Pass<'_, S> {
    /// Looks at a batch of list rows behind this key; sessions that have rows and no record that can be read get one.
    pub(super) fn rows(&mut self, behind: &str) -> Result<Option<String>> {
        let page = self.behind(behind, keys::ROWS, BATCH)?;
        let last = page.entries.last().map(|entry| entry.key.clone());
        for entry in page.entries {
            let Some(id) = last_id(&entry.key) else { continue };
            let (record, is_deleted) = self.whether_there(std::slice::from_ref(&id))?.remove(0);
            let is_lost = matches!(Record::of(&id, record.as_deref()), Record::None | Record::Unreadable);
            if is_deleted || !is_lost || !tells_of(&entry, &id) {
                continue;
            }
            if let Some(row) = Row::parse(&entry.value).and_then(|row| restored::of_row(&row.extended(None))) {
                self.restore(&id, record, Some(row))?;
            }
        }
        Ok(last)
    }

    /// Looks at some logs behind this name, for those that are nobody's.
    pub(super) fn logs(&mut self, behind: Option<&str>) -> Result<Option<String>> {
        let names = self.store.storage().log_names(behind, LOOKED)?;
        let Some(last) = names.last().cloned() else { return Ok(None) };
        let making = self.in_the_making()?;
        for log in names.iter().filter(|log| !making.contains(log)) {
            self.again(|pass| pass.nobodys_log(log))?;
        }
        Ok(Some(last))
    }

    fn nobodys_log(&mut self, log: &str) -> Result<()> {
        let read = [keys::session(log), keys::log_holders(log), keys::removal(log), keys::tombstone(log)];
        let records = self.read(read.into())?;
        let [record, holders, removal, tombstone] = &records[..] else { return Ok(()) };
        let is_unreadable = matches!(Record::of(log, record.1.as_deref()), Record::Unreadable);
        let is_somebodys = record.1.is_some() && !is_unreadable
            || is_somebody(&holders.0, holders.1.as_deref())
            || removal.1.is_some();
        if is_somebodys || self.store.storage().log_end(log)? == 0 {
            return Ok(());
        }
        let mut wrong = Wrong::by(records.clone());
        if tombstone.1.is_some() {
            // A record that cannot be read of a session that was deleted goes with what was said in it.
            wrong.add(Fault::Deleted, log, removal::let_go(self.store, log, 1)?);
            wrong.writes.push(Write::Remove { key: record.0.clone() });
            return self.put_right(wrong);
        }
        let fault = if is_unreadable { Fault::Record } else { Fault::Lost };
        if self.mends(fault) {
            return self.restore(log, record.1.clone(), None);
        }
        // One that cannot be read is noted where records are looked at.
        if !is_unreadable {
            wrong.add(fault, log, []);
        }
        self.put_right(wrong)
    }

    /// Looks at a batch of records behind this key; those that cannot be read, and of which nothing else is known, go, and
    /// those that are not as they were written are from now on as they can be read.
    pub(super) fn unread(&mut self, behind: &str) -> Result<Option<String>> {
        let page = self.behind(behind, keys::SESSIONS, BATCH)?;
        let last = page.entries.last().map(|entry| entry.key.clone());
        for entry in page.entries {
            let id = id_of(&entry.key);
            let record = id.as_ref().map_or(Record::Unreadable, |id| Record::of(id, Some(&entry.value)));
            let key = entry.key.clone();
            let (fault, subject, write) = match record {
                Record::Session(_) => continue,
                Record::Altered(session) => {
                    (Fault::Altered, session.id.clone(), Write::Put { key, value: session.to_text() })
                }
                Record::None | Record::Unreadable => (Fault::Record, key.clone(), Write::Remove { key }),
            };
            let wrong = Wrong::by([(entry.key, Some(entry.value))]);
            self.put_right_with(wrong, fault, &subject, write)?;
        }
        Ok(last)
    }

    /// Makes a session's record anew, by what a list row says of it where there is one, and by what is said in it.
    fn restore(&mut self, id: &str, unreadable: Option<String>, row: Option<Session>) -> Result<()> {
        let session = restored::with_log(self.store, id, row, self.now)?;
        let key = keys::session(id);
        let fault = if unreadable.is_some() { Fault::Record } else { Fault::Lost };
        if let Some(text) = unreadable {
            let expected = [Expectation { key: key.clone(), value: Some(text) }];
            let remove = vec![Write::Remove { key }];
            self.store.commit(&expected, remove, crate::storage::Durability::Relaxed)?;
        }
        let changed = self.store.change(id).commit(|before, _, _| match before {
            None => Ok(Decision::put(session.clone())),
            Some(_) => Ok(Decision::Keep),
        })?;
        if matches!(changed, Changed::Done { .. }) {
            self.note(fault, id, true);
        }
        Ok(())
    }
}
