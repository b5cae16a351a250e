//! What is said in a log: whether all of it is there and can be read, and whether search knows it as it is.
//!
//! Whoever writes to the log meanwhile indexes what is new himself. Two things could still go wrong: the text of a log that is
//! cut comes back, so each commit expects what every delete changes; and the last entry, which may grow, is indexed as it
//! was, so it is read again until it is what was indexed.

use std::collections::BTreeMap;

use super::CheckupStage;
use super::fault::{Fault, Mending};
use super::gap::Gap;
use super::pass::{Pass, Wrong};
use super::record::{Record, id_of};
use super::session::logs_of;
use crate::index;
use crate::storage::{Bounds, LAST_PART, LogEntry, Result, Storage, StorageError, Write};
use crate::store::{Holders, Session, keys};
use crate::transcript::{Entry, lost_entry, text};

/// How much is compared at a time, and indexed in one commit, an entry at least. Others wait that long: a store of 100 MB
/// takes some 10 ms for it.
const TEXTS: Bounds = Bounds { limit: 128, max_bytes: 32 * 1024 };
/// What an entry counts for besides its text.
const ENTRY: usize = 64;

impl<S: Storage> Pass<'_, S> {
    /// Compares a session's logs, from this entry of this one of them on, as far as the budget goes; returns where to go on
    /// if that is amid them.
    pub(super) fn texts(&mut self, key: &str, start: Option<(&str, u32)>) -> Result<Option<CheckupStage>> {
        let record = self.store.record(key.to_owned())?;
        let id = id_of(key).unwrap_or_default();
        // One that was deleted meanwhile took all that is derived from it along.
        let Record::Session(session) = Record::of(&id, record.as_deref()) else { return Ok(None) };
        for log in logs_of(&session) {
            let from = match start {
                Some((begun, from)) if log == begun => from,
                Some((begun, _)) if log < begun => continue,
                _ => 1,
            };
            let stage = |from| CheckupStage::Text { session: key.to_owned(), log: log.to_owned(), from };
            if self.budget.left == 0 {
                return Ok(Some(stage(from)));
            }
            if (log == id || self.is_for_this_one(log, &id)?)
                && let Some(from) = self.log(log, from)?
            {
                return Ok(Some(stage(from)));
            }
        }
        Ok(None)
    }

    /// Whether a shared log is to be looked at for this one of its holders: it is done once, and for its own session where
    /// that is still there.
    fn is_for_this_one(&self, log: &str, id: &str) -> Result<bool> {
        let holders = Holders::parse(self.store.record(keys::log_holders(log))?.as_deref())?;
        Ok(holders.orphaned && holders.holders.keys().next().is_some_and(|first| first == id))
    }

    /// Compares what a log holds from an entry on, as far as the budget goes; returns where to go on if there is more.
    fn log(&mut self, log: &str, from: u32) -> Result<Option<u32>> {
        if from <= 1 {
            self.again(|pass| pass.outside(log))?;
        }
        let mut start = from.max(1);
        loop {
            let Some(read) = self.again(|pass| pass.entries(log, start))? else { return Ok(None) };
            self.budget.entries += read.entries;
            self.budget.left = self.budget.left.saturating_sub(read.bytes);
            let Some(next) = read.next else { return Ok(None) };
            start = next;
            if self.budget.left == 0 {
                return Ok(Some(start));
            }
        }
    }

    /// Texts before the first entry and behind the last, which are nobody's.
    fn outside(&mut self, log: &str) -> Result<()> {
        let owner = index::Owner::Log(log).name();
        let storage = self.store.storage();
        let read = |start, limit| match storage.read_texts(&owner, start, Bounds { limit, max_bytes: 1 }) {
            Err(StorageError::Unsupported) => Ok(Vec::new()),
            page => page.map(|page| page.texts),
        };
        let mut wrong = Wrong::by(self.whoever_needs_it(log)?);
        if read(0, 1)?.iter().any(|text| text.part == 0) {
            let none = Write::IndexText { owner: owner.clone(), part: 0, tokens: String::new() };
            wrong.add(Fault::TextStray, log, [none]);
        }
        let end = storage.log_end(log)?;
        // What comes to stand behind it meanwhile is compared after this, with the rest.
        if let Some(text) = read(end.saturating_add(1), 1)?.first()
            && storage.log_end(log)? < text.part
        {
            wrong.add(Fault::TextStray, log, [Write::DropText { owner: owner.clone(), start: end.saturating_add(1) }]);
        }
        self.put_right(wrong)
    }

    /// Compares some entries; none where there are no more.
    fn entries(&mut self, log: &str, start: u32) -> Result<Option<Compared>> {
        let mut wrong = Wrong::by(self.whoever_needs_it(log)?);
        let page = self.store.storage().read_log(log, start, TEXTS)?;
        let Some(last) = page.entries.last() else { return Ok(None) };
        if let Some(gap) = Gap::before(&page, start) {
            let next = self.gap(log, &gap, &page.entries, wrong)?;
            return Ok(Some(Compared { next: Some(next), entries: 0, bytes: ENTRY }));
        }
        let contiguous = contiguous(&page.entries);
        let entries = &page.entries[..contiguous];
        let is_all = contiguous == page.entries.len();
        let last = entries.last().unwrap_or(last);
        let mut damaged = Vec::new();
        for entry in entries {
            let Some((fault, value)) = self.damage(&entry.value) else { continue };
            let subject = format!("{log}, entry {}", entry.seq);
            damaged.push((fault, subject, Write::Restore { log: log.to_owned(), seq: entry.seq, value }));
        }
        self.compare(log, entries, &mut wrong)?;
        if !wrong.faults.is_empty() {
            // The last one may have grown between the two that were read.
            let again = self.store.storage().read_log(log, start, TEXTS)?;
            if again.entries.get(..contiguous) != Some(entries) {
                return Err(StorageError::Conflict);
            }
        }
        self.put_right(wrong)?;
        let mut broken = Wrong::by(self.whoever_needs_it(log)?);
        for (fault, subject, write) in damaged {
            broken.add(fault, &subject, [write]);
        }
        let is_replaced = self.is_put_right(broken)?;
        let bytes = entries.iter().map(|entry| entry.value.len() + ENTRY).sum();
        let count = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        let mut next = Some(last.seq + 1).filter(|_| page.more || !is_all);
        if is_replaced {
            next = Some(start);
        } else if next.is_none() && self.mending > Mending::Nothing {
            let again = self.store.storage().read_log(log, last.seq, Bounds { limit: 1, max_bytes: 1 })?;
            next = again.entries.first().filter(|entry| *entry != last).map(|grown| grown.seq);
        }
        Ok(Some(Compared { next, entries: count, bytes }))
    }

    /// What is wrong with an entry itself, and what may stand in its place: one that is not as it was written stays as it
    /// can be read.
    fn damage(&self, value: &str) -> Option<(Fault, String)> {
        if !Entry::is_readable(value) {
            return Some((Fault::Entry, lost_entry(self.now)));
        }
        Some(value).filter(|value| !Entry::is_sound(value)).map(|value| (Fault::Altered, Entry::resealed(value)))
    }

    /// Compares texts with the entries that they are of. What follows from an entry that is not as it was written may well
    /// be as it should, and is left alone.
    fn compare(&self, log: &str, entries: &[LogEntry], wrong: &mut Wrong) -> Result<()> {
        let owner = index::Owner::Log(log).name();
        let indexed = || entries.iter().filter(|entry| entry.seq <= LAST_PART);
        let (Some(first), Some(last)) = (indexed().next(), indexed().next_back()) else { return Ok(()) };
        let mut texts: BTreeMap<u32, String> = BTreeMap::new();
        let mut start = first.seq;
        while start <= last.seq {
            let limit = last.seq - start + 1;
            let page = match self.store.storage().read_texts(&owner, start, Bounds { limit, max_bytes: u32::MAX }) {
                Err(StorageError::Unsupported) => return Ok(()),
                page => page?,
            };
            let Some(behind) = page.texts.last().map(|text| text.part + 1).filter(|_| page.more) else {
                texts.extend(page.texts.into_iter().map(|text| (text.part, text.tokens)));
                break;
            };
            texts.extend(page.texts.into_iter().map(|text| (text.part, text.tokens)));
            start = behind;
        }
        let mut needed = None;
        for entry in indexed().filter(|entry| Entry::is_sound(&entry.value)) {
            let tokens = text::tokens_of_entry(&entry.value);
            let fault = match texts.get(&entry.seq) {
                Some(found) if *found == tokens => continue,
                None if tokens.is_empty() => continue,
                None if !self.is_needed(log, entry.seq, &mut needed)? => continue,
                None => Fault::TextMissing,
                // Of what has one half of a surrogate pair in it, the rest was indexed as it came.
                Some(_) if tokens.is_empty() && is_awkward(&entry.value) => continue,
                Some(_) if tokens.is_empty() => Fault::TextStray,
                Some(_) => Fault::TextWrong,
            };
            wrong.add(fault, log, [Write::IndexText { owner: owner.clone(), part: entry.seq, tokens }]);
        }
        Ok(())
    }

    /// Whether somebody needs this entry of a log; who does is read once.
    fn is_needed(&self, log: &str, seq: u32, needed: &mut Option<Needed>) -> Result<bool> {
        let needed = match needed {
            Some(needed) => needed,
            None => needed.insert(self.needed(log)?),
        };
        Ok(needed.has(log, seq))
    }

    /// Which entries of a log are part of a transcript.
    fn needed(&self, log: &str) -> Result<Needed> {
        let holders = Holders::parse(self.store.record(keys::log_holders(log))?.as_deref())?;
        if !holders.orphaned {
            return Ok(Needed::All);
        }
        let sessions = holders.holders.keys().map(|id| self.store.session(id));
        sessions.filter_map(Result::transpose).collect::<Result<_>>().map(Needed::By)
    }

    /// What changes when a log is let go of, and when the last of that is removed: its session is deleted, or one that
    /// shares it.
    fn whoever_needs_it(&self, log: &str) -> Result<Vec<(String, Option<String>)>> {
        self.read(vec![keys::tombstone(log), keys::log_holders(log), keys::removal(log)])
    }
}

/// Which entries of a log somebody needs: of what an agent told that was here already nobody does, and it is not indexed.
#[derive(Debug)]
enum Needed {
    /// Its own session has all of it.
    All,
    /// What these hold, since its own session is no more, or never was.
    By(Vec<Session>),
}

impl Needed {
    fn has(&self, log: &str, seq: u32) -> bool {
        match self {
            Self::All => true,
            Self::By(holders) => holders.iter().any(|session| session.has_had(log, seq)),
        }
    }
}

/// What came of comparing some entries.
#[derive(Debug, Clone, Copy)]
struct Compared {
    /// Where to go on; none at the end.
    next: Option<u32>,
    entries: u32,
    bytes: usize,
}

/// Whether an entry is JSON, but holds what not every reader of JSON can take.
fn is_awkward(value: &str) -> bool {
    Entry::parse(value).is_some_and(|entry| serde_json::from_str::<serde_json::Value>(entry.json).is_err())
}

/// How many of these follow one another.
fn contiguous(entries: &[LogEntry]) -> usize {
    let Some(first) = entries.first() else { return 0 };
    let is_next = |(entry, nth): (&LogEntry, u32)| entry.seq == first.seq.saturating_add(nth);
    entries.iter().zip(0..).take_while(|(entry, nth)| is_next((entry, *nth))).count()
}
