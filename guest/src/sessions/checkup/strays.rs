//! Index entries that no record stands for.

use super::fault::Fault;
use super::pass::{Pass, Wrong, after};
use super::record::Record;
use super::{BATCH, last_id};
use crate::rpc::Object;
use crate::storage::{Entry, RecordPage, Result, Storage, Write};
use crate::store::{Row, keys};

/// Where index entries are.
const INDEXES: [&str; 4] = [keys::UNPROMPTED, keys::ROWS, keys::SUBAGENTS, keys::CHANGES];

impl<S: Storage> Pass<'_, S> {
    /// Looks at a batch of index entries behind this key for those that no record stands for; returns the last one's key,
    /// or none when there are no more.
    pub(super) fn strays(&mut self, behind: &str) -> Result<Option<String>> {
        for prefix in INDEXES {
            let end = keys::range_end(prefix);
            if behind > end.as_str() {
                continue;
            }
            let start = after(behind, prefix).max(prefix.to_owned());
            let last = self.again(|pass| {
                let page = pass.store.storage().scan(&start, &end, false, BATCH)?;
                let last = page.entries.last().map(|entry| entry.key.clone());
                pass.strays_of(page).map(|()| last)
            })?;
            if last.is_some() {
                return Ok(last);
            }
        }
        Ok(None)
    }

    fn strays_of(&mut self, page: RecordPage) -> Result<()> {
        let ids: Vec<String> = page.entries.iter().map(|entry| last_id(&entry.key).unwrap_or_default()).collect();
        let (mut stray, mut lost) = (Wrong::default(), Wrong::default());
        let records = self.whether_there(&ids)?;
        for ((entry, id), (record, is_deleted)) in page.entries.into_iter().zip(&ids).zip(records) {
            let fault = match Record::of(id, record.as_deref()) {
                Record::None if !is_deleted && tells_of(&entry, id) => Fault::Lost,
                Record::Session(session) if session.index_keys().contains(&entry.key) && !is_deleted => continue,
                Record::None | Record::Session(_) => Fault::IndexStray,
                // What a record says that cannot be read, or is not as it was written, is not known: its entries stay.
                Record::Unreadable | Record::Altered(_) => continue,
            };
            let wrong = if fault == Fault::Lost { &mut lost } else { &mut stray };
            // It stands for nothing only if it is still there: the record was read later, and may have changed in between.
            let read = [(keys::session(id), record), (entry.key.clone(), Some(entry.value))];
            wrong.expected.extend(Wrong::by(read).expected);
            wrong.add(fault, id, [Write::Remove { key: entry.key }]);
        }
        self.put_right(stray)?;
        self.put_right(lost)
    }
}

/// Whether this is a list row of the session, and so the last that is known of it where its record is missing.
pub(super) fn tells_of(entry: &Entry, id: &str) -> bool {
    let row = Row::parse(&entry.value).and_then(|row| Object::parse(row.json));
    row.and_then(|row| row.get_string("sessionId")).as_deref() == Some(id)
}
