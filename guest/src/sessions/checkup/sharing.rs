//! Who shares which log: it follows from the sessions' records, and keeps what one session's delete would take from others.

use std::collections::BTreeMap;

use super::fault::Fault;
use super::gap;
use super::pass::{Pass, Wrong};
use crate::sessions::removal;
use crate::storage::{Result, Storage, Write, next_seq};
use crate::store::{Decision, Holders, Session, keys};
use crate::transcript::lost_entry;

impl<S: Storage> Pass<'_, S> {
    /// Whether every log that the session has a part of is held for it, and is as long as that; and its own as long as it
    /// was when its last turn had ended.
    pub(super) fn held(&mut self, session: &Session, record: &(String, Option<String>)) -> Result<()> {
        let mut parts: BTreeMap<&str, u32> = BTreeMap::new();
        for part in session.segments.iter().chain(&session.aside) {
            let until = parts.entry(&part.log).or_default();
            *until = part.until.max(*until);
        }
        if let settled @ 1.. = session.own_end_at(session.settled) {
            let until = parts.entry(&session.id).or_default();
            *until = u32::try_from(settled).unwrap_or(u32::MAX).max(*until);
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
            if end >= until {
                self.put_right(wrong)?;
            } else if gap::may_be_missing(until - end) {
                self.lengthen(log, end, until, wrong)?;
            } else {
                self.put_right(wrong)?;
                self.shorten(session, log, end)?;
            }
        }
        Ok(())
    }

    /// Marks what is missing at a log's end, one entry after the other up to this one.
    fn lengthen(&mut self, log: &str, mut end: u32, until: u32, mut wrong: Wrong) -> Result<()> {
        let subject = format!("{log}, entries {} to {until}", end + 1);
        loop {
            let last = until.min(end.saturating_add(gap::MARKED));
            let mut marks = Vec::new();
            while end < last {
                end = next_seq(end)?;
                marks.push(Write::Append { log: log.to_owned(), seq: end, value: lost_entry(self.now) });
            }
            wrong.add(Fault::EntryMissing, &subject, marks);
            let expected = wrong.expected.clone();
            self.put_right(wrong)?;
            if end == until || !self.mends(Fault::EntryMissing) {
                return Ok(());
            }
            wrong = Wrong { expected, ..Wrong::default() };
        }
    }

    /// Takes out of a session's record what it says to be behind a log's end.
    fn shorten(&mut self, session: &Session, log: &str, end: u32) -> Result<()> {
        let is_mended = self.mends(Fault::EntryAstray);
        if is_mended {
            self.store.change(&session.id).commit(|before, _, _| {
                let Some(mut session) = before.cloned() else { return Ok(Decision::Keep) };
                for parts in [&mut session.segments, &mut session.aside] {
                    parts.iter_mut().filter(|part| part.log == log).for_each(|part| part.until = part.until.min(end));
                    parts.retain(|part| part.from <= part.until);
                }
                if session.own_end_at(session.settled) > u64::from(end) && session.id == log {
                    session.settled = 0;
                }
                Ok(Decision::put(session))
            })?;
        }
        self.note(Fault::EntryAstray, &format!("{}, its part of {log}", session.id), is_mended);
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
