//! Who shares which log: it follows from the sessions' records, and keeps what one session's delete would take from others.

use std::collections::BTreeMap;

use super::fault::Fault;
use super::pass::{Pass, Wrong};
use crate::sessions::removal;
use crate::storage::{Result, Storage, Write, next_seq};
use crate::store::{Holders, Session, keys};
use crate::transcript::lost_entry;

/// How many entries that are missing at a log's end are marked in one commit.
const MARKED: u32 = 128;

impl<S: Storage> Pass<'_, S> {
    /// Whether every log that the session has a part of is held for it, and is as long as that.
    pub(super) fn held(&mut self, session: &Session, record: (String, Option<String>)) -> Result<()> {
        let mut parts: BTreeMap<&str, u32> = BTreeMap::new();
        for part in session.segments.iter().chain(&session.aside) {
            let until = parts.entry(&part.log).or_default();
            *until = part.until.max(*until);
        }
        for (log, until) in parts {
            let shared = log != session.id;
            let read = [keys::log_holders(log), keys::session(log), keys::removal(log)];
            let found = self.read(read.into())?;
            let [holders, owner, removal] = &found[..] else { return Ok(()) };
            let mut wrong = Wrong::by([record.clone(), holders.clone(), removal.clone()]);
            // One that cannot be read is noted where it is looked at itself.
            let Ok(mut known) = Holders::parse(holders.1.as_deref()) else { continue };
            if shared && known.holders.get(&session.id).is_none_or(|held| *held < until) {
                known.holders.insert(session.id.clone(), until);
                known.orphaned = owner.1.is_none();
                wrong.add(Fault::Sharing, log, [Write::Put { key: holders.0.clone(), value: known.to_text() }]);
            }
            let end = self.store.storage().log_end(log)?;
            if end < until {
                let mut seq = end;
                let mut marks = Vec::new();
                for _ in 0..MARKED.min(until - end) {
                    seq = next_seq(seq)?;
                    marks.push(Write::Append { log: log.to_owned(), seq, value: lost_entry(self.now) });
                }
                let subject = format!("{log}, entries {} to {until}", end + 1);
                wrong.add(Fault::EntryMissing, &subject, marks);
                self.put_right(wrong)?;
                // There may be more of them.
                return if self.mends(Fault::EntryMissing) { self.held(session, record) } else { Ok(()) };
            }
            self.put_right(wrong)?;
        }
        Ok(())
    }

    /// Whether those who hold a log are there, and whether the session whose log it is still needs it itself.
    pub(super) fn holders(&mut self, key: &str, text: &str) -> Result<()> {
        let Ok(holders) = Holders::parse(Some(text)) else {
            let wrong = Wrong::by([(key.to_owned(), Some(text.to_owned()))]);
            return self.put_right_with(wrong, Fault::SharingUnreadable, key, Write::Remove { key: key.to_owned() });
        };
        let Some(log) = key.strip_prefix(keys::SHARES).and_then(keys::decode) else {
            let wrong = Wrong::by([(key.to_owned(), Some(text.to_owned()))]);
            return self.put_right_with(wrong, Fault::Unknown, key, Write::Remove { key: key.to_owned() });
        };
        let ids: Vec<String> = holders.holders.keys().cloned().chain([log.clone()]).collect();
        let mut there = self.whether_there(&ids)?;
        let own = there.pop();
        let mut wrong = Wrong::by([(key.to_owned(), Some(text.to_owned()))]);
        let mut now = holders.clone();
        for (id, (record, is_deleted)) in ids.iter().zip(there) {
            if record.is_none() {
                wrong.expected.extend(Wrong::by([(keys::session(id), None)]).expected);
                wrong.add(if is_deleted { Fault::Sharing } else { Fault::Lost }, id, []);
                now.holders.remove(id);
            }
        }
        let is_orphaned = own.is_some_and(|(record, _)| record.is_none());
        if now.orphaned != is_orphaned {
            wrong.add(Fault::Sharing, &log, []);
            now.orphaned = is_orphaned;
        }
        if now.holders.is_empty() && is_orphaned {
            wrong.writes.extend(removal::let_go(self.store, &log, 1)?);
        }
        let key = key.to_owned();
        wrong.writes.push(if now.holders.is_empty() {
            Write::Remove { key }
        } else {
            Write::Put { key, value: now.to_text() }
        });
        self.put_right(wrong)
    }

    /// One fault that one write puts right.
    pub(super) fn put_right_with(&mut self, mut wrong: Wrong, fault: Fault, subject: &str, write: Write) -> Result<()> {
        wrong.add(fault, subject, [write]);
        self.put_right(wrong)
    }
}
