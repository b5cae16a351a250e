//! Writing what was gathered, alone or with a change of the session's record in the same commit.

use super::Recorder;
use crate::index;
use crate::storage::{Durability, Expectation, LAST_PART, Result, Storage, StorageError, Write, next_seq};
use crate::store::{Changed, Decision, Session, Store, keys};
use crate::transcript::text;

/// How often a batch is tried again after another process wrote to the same log.
const ATTEMPTS: usize = 1000;

/// What became of a batch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flushed {
    /// It is in the store.
    Written,
    /// The session was deleted meanwhile: dropped.
    Deleted,
}

/// Where a log ends once what waits is in it.
#[derive(Debug, Clone, Copy)]
pub struct LogEnd {
    /// The number of its last entry.
    pub last: u32,
    /// Up to which entry all is the writer's own or was known to it, if that can be said; see [`Recorder::note_seen`].
    pub known: Option<u32>,
}

impl LogEnd {
    /// Whether all that stands before it is known.
    pub fn is_known(&self) -> bool {
        self.known == Some(self.last)
    }
}

/// The first part of what waits, as writes.
struct Batch {
    writes: Vec<Write>,
    rows: usize,
    /// The number of the open run's entry, if it is among them.
    run: Option<u32>,
    /// The log's last number when they are written.
    end: u32,
    /// Entries up to this one are not indexed.
    unindexed: u32,
}

impl Recorder {
    /// Writes what waits, with `extra` in the same commit as the last of it.
    pub fn flush<S: Storage>(&mut self, store: &Store<S>, extra: &[Write], durability: Durability) -> Result<Flushed> {
        if !self.is_dirty() && extra.is_empty() {
            return Ok(Flushed::Written);
        }
        if self.drain(store, durability)? == Flushed::Deleted {
            return Ok(Flushed::Deleted);
        }
        let flushed = self.write(store, extra, durability);
        self.note(flushed)
    }

    /// Writes what waits and changes the session's record, in one commit; see [`crate::store::Change`] for `decide`.
    /// Where that leaves the record alone, what waits is written all the same, with what it added to the writes.
    pub fn flush_with<S: Storage>(
        &mut self,
        store: &Store<S>,
        durability: Durability,
        mut decide: impl FnMut(Option<&Session>, &mut Vec<Expectation>, &mut Vec<Write>) -> Result<Decision>,
    ) -> Result<(Flushed, Changed)> {
        self.flush_with_end(store, durability, |before, _, expected, writes| decide(before, expected, writes))
    }

    /// Writes what waits and changes the session's record, as [`Self::flush_with`] does, for whom it matters how long
    /// the log is after the commit: `decide` gets its end as well.
    pub fn flush_with_end<S: Storage>(
        &mut self,
        store: &Store<S>,
        durability: Durability,
        mut decide: impl FnMut(Option<&Session>, LogEnd, &mut Vec<Expectation>, &mut Vec<Write>) -> Result<Decision>,
    ) -> Result<(Flushed, Changed)> {
        let result = self.try_flush_with(store, durability, &mut decide);
        self.note(result)
    }

    fn try_flush_with<S: Storage>(
        &mut self,
        store: &Store<S>,
        durability: Durability,
        decide: &mut impl FnMut(Option<&Session>, LogEnd, &mut Vec<Expectation>, &mut Vec<Write>) -> Result<Decision>,
    ) -> Result<(Flushed, Changed)> {
        if self.drain(store, durability)? == Flushed::Deleted {
            return Ok((Flushed::Deleted, Changed::Nothing));
        }
        let log = self.log.clone();
        for _ in 0..ATTEMPTS {
            let mut is_gone = false;
            let mut is_again = false;
            let mut batch = None;
            // What was decided to go with an unchanged record.
            let mut alone = (Vec::new(), Vec::new());
            let changed = store.change(&log).with(durability).commit(|before, expected, writes| {
                is_gone = false;
                if before.is_none() && store.is_deleted(&log)? {
                    is_gone = true;
                    return Ok(Decision::Keep);
                }
                if std::mem::replace(&mut is_again, true) {
                    self.check_places(store)?;
                }
                let gathered = self.gather(store, usize::MAX)?;
                let read = expected.len();
                let known = self.seen.map(|_| self.overtaken.unwrap_or(gathered.end));
                let end = LogEnd { last: gathered.end, known };
                let after = decide(before, end, expected, writes)?;
                match &after {
                    Decision::Put(_) => writes.extend(gathered.writes.iter().cloned()),
                    Decision::Remove => is_gone = true,
                    Decision::Keep => alone = (expected.split_off(read), std::mem::take(writes)),
                }
                batch = Some(gathered);
                Ok(after)
            })?;
            match (changed, batch) {
                (changed, _) if is_gone => {
                    self.discard();
                    return Ok((Flushed::Deleted, changed));
                }
                (Changed::Nothing, _) => {
                    let (expected, writes) = alone;
                    match self.write_once(store, &expected, &writes, durability, usize::MAX) {
                        Ok(()) => return Ok((Flushed::Written, Changed::Nothing)),
                        Err(StorageError::Conflict) => self.check_places(store)?,
                        Err(error) => return Err(error),
                    }
                }
                (changed, batch) => {
                    if let Some(batch) = batch {
                        self.written(&batch);
                    }
                    return Ok((Flushed::Written, changed));
                }
            }
        }
        Err(too_busy())
    }

    /// Commits all that waits, in other places if somebody else wrote to the log.
    fn write<S: Storage>(&mut self, store: &Store<S>, extra: &[Write], durability: Durability) -> Result<Flushed> {
        self.again_elsewhere(store, |recorder| recorder.write_once(store, &[], extra, durability, usize::MAX))
    }

    /// Writes something, in other places if somebody else wrote to the log.
    pub(super) fn again_elsewhere<S: Storage>(
        &mut self,
        store: &Store<S>,
        mut write: impl FnMut(&mut Self) -> Result<()>,
    ) -> Result<Flushed> {
        for _ in 0..ATTEMPTS {
            match write(self) {
                Ok(()) => return Ok(Flushed::Written),
                Err(StorageError::Conflict) => {
                    if store.is_deleted(&self.log)? {
                        self.discard();
                        return Ok(Flushed::Deleted);
                    }
                    self.lose_places();
                }
                Err(error) => return Err(error),
            }
        }
        Err(too_busy())
    }

    /// Commits so many of the rows that wait; with all of them, the open run as well.
    pub(super) fn write_once<S: Storage>(
        &mut self,
        store: &Store<S>,
        expected: &[Expectation],
        extra: &[Write],
        durability: Durability,
        rows: usize,
    ) -> Result<()> {
        let mut batch = self.gather(store, rows)?;
        let mut expected = expected.to_vec();
        expected.push(Expectation { key: keys::tombstone(&self.log), value: None });
        let mut writes = std::mem::take(&mut batch.writes);
        writes.extend_from_slice(extra);
        store.commit(&expected, writes, durability)?;
        self.written(&batch);
        Ok(())
    }

    /// The writes of so many of the rows that wait; with all of them, of the open run as well.
    fn gather<S: Storage>(&mut self, store: &Store<S>, rows: usize) -> Result<Batch> {
        let end = if let Some(end) = self.end {
            end
        } else {
            let end = store.storage().log_end(&self.log)?;
            self.note_end(end);
            end
        };
        let mut batch = Batch { writes: Vec::new(), rows: 0, run: None, end, unindexed: self.unindexed };
        if let Some(gap) = self.backlog.gap() {
            batch.add(&self.log, gap, Some(String::new()), None)?;
        }
        let is_all = self.backlog.len() <= rows;
        for row in self.backlog.rows().take(rows) {
            batch.add(&self.log, row.text.clone(), row.tokens.clone(), row.amends)?;
            batch.rows += 1;
        }
        if let Some(run) = self.run.as_mut().filter(|run| is_all && run.is_dirty()) {
            let row = run.row(self.unindexed == 0);
            batch.run = Some(batch.add(&self.log, row.text, row.tokens, row.amends)?);
        }
        Ok(batch)
    }

    /// A batch is in the store.
    fn written(&mut self, batch: &Batch) {
        self.end = Some(batch.end);
        self.seen = self.seen.map(|seen| seen.max(batch.end));
        self.backlog.written(batch.rows);
        if let (Some(run), Some(seq)) = (&mut self.run, batch.run) {
            run.written_at(seq);
        }
    }

    /// Somebody else has changed something: if it was this log, the places in it are lost.
    fn check_places<S: Storage>(&mut self, store: &Store<S>) -> Result<()> {
        if self.end != Some(store.storage().log_end(&self.log)?) {
            self.lose_places();
        }
        Ok(())
    }

    pub(super) fn lose_places(&mut self) {
        self.end = None;
        self.backlog.lose_places();
        if let Some(run) = &mut self.run {
            run.lose_place();
        }
    }

    /// Takes note of how an attempt ended: the next is due when as much has come again.
    pub(super) fn note<T>(&mut self, result: Result<T>) -> Result<T> {
        self.fresh = 0;
        if let Err(error) = &result {
            self.backlog.failed(error);
        }
        result
    }
}

impl Batch {
    /// Adds an entry and returns its number.
    fn add(&mut self, log: &str, value: String, tokens: Option<String>, amends: Option<u32>) -> Result<u32> {
        let seq = amends.map_or_else(|| next_seq(self.end), Ok)?;
        self.end = self.end.max(seq);
        // An entry past the last part is kept, and not found.
        if seq > self.unindexed && seq <= LAST_PART {
            let tokens = tokens.unwrap_or_else(|| text::tokens_of_entry(&value));
            if !tokens.is_empty() {
                let owner = index::Owner::Log(log).name();
                self.writes.push(Write::IndexText { owner, part: seq, tokens });
            }
        }
        let log = log.to_owned();
        self.writes.push(match amends {
            Some(_) => Write::Amend { log, seq, value },
            None => Write::Append { log, seq, value },
        });
        Ok(seq)
    }
}

fn too_busy() -> StorageError {
    StorageError::Unavailable("other processes keep writing to the same session".to_owned())
}
