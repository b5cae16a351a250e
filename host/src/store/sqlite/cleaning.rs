//! Seeing to it that what was removed is nowhere in the files of the store.
//!
//! SQLite overwrites a row as it is deleted (`secure_delete`). Three places hold it still. The search index has its words in
//! its older parts until they are merged with the newer ones, which say that they are gone. Pages have copies of rows in
//! their gaps, from when rows moved from page to page. And the journal has pages as they were. So after something was
//! removed there is a pass: the index is merged into one part, every page is looked at and its gaps are overwritten
//! ([`page`]), and the journal is emptied. What is in gaps is never copied, so one look at each page will do.
//!
//! A pass goes slice by slice, each a small transaction, and rests three times as long as a slice took. How far it is
//! stands in the store: whichever process has time does the next slice, and what a killed one has left is gone on with.

mod page;
mod segments;
mod state;

#[cfg(test)]
mod tests;

use std::thread;
use std::time::{Duration, Instant, SystemTime};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, ErrorCode, OptionalExtension as _, params};

use super::Sqlite;
use super::error::{Error, Result};
use super::transaction::{Lock, Transaction};
use crate::component::storage::Durability;
use crate::store::Upkeep;
use crate::store::format::FreePages;
use page::Header;
use state::{Stage, State};

pub(super) use state::note;

/// How many pages of the index a slice writes anew.
const MERGED: i64 = 32;
/// How many pages of the file a slice looks at, and how many it overwrites at most.
const LOOKED_AT: u32 = 512;
const OVERWRITTEN: usize = 64;
/// It looks at no more once it has taken so long, as where the file has to be read from the disk: a request may be waiting.
const LOOKING: Duration = Duration::from_millis(2);
/// After every so many pages the clock is asked.
const PAGES_BETWEEN: u32 = 16;
/// So many times as long as a slice took nothing is done after it.
const REST: u32 = 3;
/// How long others may be kept from writing while the journal waits for those who read.
const JOURNAL_WAITS: Duration = Duration::from_millis(20);
/// When it is tried again to empty it: after this many milliseconds at first, and at most.
const JOURNAL_AGAIN: (i64, i64) = (50, 5_000);
/// When something is tried again that another process stood in the way of.
const AGAIN: Duration = Duration::from_millis(50);
/// How often it is looked whether others have left anything to do: who has removed something mostly sees to it, and each look
/// takes a lock.
const LOOKED_EVERY: Duration = Duration::from_mins(1);
/// When it is tried again after it has failed.
const FAILED_RESTS: Duration = Duration::from_mins(1);
/// The row of the index that is no text's, and its only token, which no word is.
const NOBODYS: (i64, &str) = (0, "\u{10ffff}");

/// What a step of cleaning came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// There is nothing to do.
    Clean,
    /// Nothing is to be done before that.
    Wait(Duration),
    /// A slice was done.
    Done(Work),
}

/// What a slice did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Work {
    /// Rows of the index that it wrote or deleted.
    merged: u64,
    /// Pages that it looked at.
    looked_at: u32,
    /// Pages that it overwrote.
    overwritten: usize,
}

/// How hard it is worked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pace {
    /// When it is due.
    Due,
    /// At once: somebody waits for it.
    AtOnce,
}

impl Upkeep for Sqlite {
    fn keep_up(&mut self) -> Option<Duration> {
        let is_within = |since: Option<Instant>, rest| since.is_some_and(|since| since.elapsed() < rest);
        if is_within(self.cleaning_failed, FAILED_RESTS) || is_within(self.found_clean, LOOKED_EVERY) {
            return None;
        }
        match self.clean_some() {
            Ok(again) => {
                self.found_clean = again.is_none().then(Instant::now);
                again
            }
            Err(error) => {
                tracing::warn!("what was removed could not be cleaned out of the store's file yet: {error}");
                self.cleaning_failed = Some(Instant::now());
                None
            }
        }
    }
}

impl Sqlite {
    /// Does a little of what is to be done until nothing of what was removed is in the store's files any more; returns
    /// when to call again, if there is more to do. Other processes are not waited for.
    pub fn clean_some(&mut self) -> Result<Option<Duration>> {
        if self.place.is_none() {
            return Ok(None);
        }
        match self.clean(Pace::Due, milliseconds())? {
            Step::Clean => Ok(None),
            Step::Wait(wait) => Ok(Some(wait)),
            Step::Done(_) => Ok(Some(Duration::ZERO)),
        }
    }

    /// Does all of it, for what has been removed by now. Returns whether nothing of it is left: not where others keep
    /// reading or writing for so long that nothing could be done.
    pub fn clean_all(&mut self, patience: Duration) -> Result<bool> {
        if self.place.is_none() {
            return Ok(true);
        }
        let removed = State::read(&self.connection)?.removed;
        let mut moved = Instant::now();
        loop {
            let state = State::read(&self.connection)?;
            if state.is_clean_of(removed) {
                return Ok(true);
            }
            match self.clean(Pace::AtOnce, milliseconds())? {
                _ if moved.elapsed() > patience => return Ok(false),
                Step::Done(_) if !matches!(state.stage, Stage::Journal(_)) => moved = Instant::now(),
                Step::Wait(wait) => thread::sleep(wait.min(AGAIN)),
                Step::Clean | Step::Done(_) => {}
            }
        }
    }

    /// Does the next slice at once; returns whether there is anything left to do that needs nobody else to be waited for.
    pub fn clean_slice(&mut self) -> Result<bool> {
        if self.place.is_none() {
            return Ok(false);
        }
        let begun = Instant::now();
        let step = self.clean(Pace::AtOnce, milliseconds())?;
        match step {
            Step::Clean => Ok(false),
            Step::Wait(wait) => {
                thread::sleep(wait.min(AGAIN));
                Ok(!matches!(State::read(&self.connection)?.stage, Stage::Journal(_)))
            }
            Step::Done(_) => {
                self.give_way(begun);
                Ok(true)
            }
        }
    }

    /// Notes that there is something to be cleaned out of the file that was written over rather than removed.
    pub fn clean_from_now_on(&mut self) -> Result<()> {
        let transaction = Transaction::begin(&mut self.connection, Lock::Writing)?;
        note(&transaction, milliseconds())?;
        transaction.commit()?;
        self.found_clean = None;
        Ok(())
    }

    fn clean(&mut self, pace: Pace, now: i64) -> Result<Step> {
        let state = State::read(&self.connection)?;
        let Some(wait) = state.wait(now) else { return Ok(Step::Clean) };
        // Emptying the journal again and again would keep others from writing.
        if wait > 0 && (pace == Pace::Due || matches!(state.stage, Stage::Journal(_))) {
            return Ok(Step::Wait(Duration::from_millis(wait.unsigned_abs())));
        }
        self.set_durability(Durability::Relaxed)?;
        // Another process that is at work is not waited for.
        self.connection.busy_timeout(Duration::ZERO)?;
        let cleaned = self.slice(state, now);
        self.connection.busy_timeout(self.patience.most())?;
        match cleaned {
            Err(Error::Sqlite(error)) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                Ok(Step::Wait(AGAIN))
            }
            cleaned => cleaned,
        }
    }

    /// Does what is next, unless another process does it.
    fn slice(&mut self, state: State, now: i64) -> Result<Step> {
        let begun = Instant::now();
        // What keeps nobody from writing comes first.
        let is_empty = if let Stage::Journal(_) = state.stage { self.empty_journal()? } else { false };
        let looked = match state.stage {
            Stage::Pages(first) => look(&*Transaction::begin(&mut self.connection, Lock::Reading)?, first)?,
            _ => Looked::default(),
        };
        let transaction = Transaction::begin(&mut self.connection, Lock::Writing)?;
        let mut next = State::read(&transaction)?;
        if !next.is_where(&state) {
            return Ok(Step::Wait(AGAIN));
        }
        let mut work = Work::default();
        let mut rest = None;
        match state.stage {
            Stage::Rest => next.begin(),
            Stage::Index | Stage::Merging { .. } => {
                let before = transaction.total_changes();
                next.stage = merge(&transaction, state.stage)?;
                work.merged = transaction.total_changes() - before;
            }
            Stage::Pages(_) => {
                work.looked_at = looked.pages;
                work.overwritten = overwrite(&transaction, &looked.dirty)?;
                next.stage = looked.next.map_or(Stage::Journal(0), Stage::Pages);
            }
            Stage::Journal(_) if is_empty => next.stage = Stage::Rest,
            Stage::Journal(failed) => {
                next.stage = Stage::Journal(failed.saturating_add(1));
                rest = Some((JOURNAL_AGAIN.0 << failed.min(10)).min(JOURNAL_AGAIN.1));
            }
        }
        let took = (begun.elapsed() * REST).as_micros() / 1000 + 1;
        next.due = now.saturating_add(rest.unwrap_or_else(|| i64::try_from(took).unwrap_or(i64::MAX)));
        next.write(&transaction)?;
        transaction.commit()?;
        Ok(Step::Done(work))
    }

    /// Moves the journal into the file and empties it; not while others are reading what is in it.
    pub(super) fn empty_journal(&self) -> Result<bool> {
        self.checkpoint("PASSIVE")?;
        self.connection.busy_timeout(JOURNAL_WAITS)?;
        let is_done = self.checkpoint("TRUNCATE")?;
        self.connection.busy_timeout(Duration::ZERO)?;
        Ok(is_done)
    }

    /// Moves the journal into the file, in one of SQLite's ways: `PASSIVE` keeps nobody from writing, `TRUNCATE` empties it
    /// as well. Returns whether nobody stood in the way.
    fn checkpoint(&self, how: &str) -> Result<bool> {
        let is_busy = |row: &rusqlite::Row<'_>| row.get::<_, bool>(0);
        Ok(!self.connection.query_row(&format!("PRAGMA wal_checkpoint({how})"), [], is_busy)?)
    }
}

/// Milliseconds since 1970.
pub(super) fn milliseconds() -> i64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

/// Merges a little of the index; returns what comes next.
///
/// FTS5 merges all there is into one part, the oldest from then on, if it finds parts on more than one level. It is given
/// one that is nobody's, so that it does. Where all the others were on the lowest level, what it makes may not be the
/// oldest for it, and it keeps there that something was deleted: then all is merged once more.
fn merge(transaction: &Connection, stage: Stage) -> Result<Stage> {
    if let Stage::Merging { into, is_last } = stage {
        merge_pages(transaction, MERGED)?;
        let goes_on = segments::being_made(transaction)?.iter().any(|made| made.number == into);
        return Ok(match (goes_on, is_last) {
            (true, _) => stage,
            (false, true) => Stage::Pages(1),
            (false, false) => Stage::Index,
        });
    }
    // What is made at once is small enough to be made twice.
    for _ in 0..2 {
        let nobodys = "INSERT OR REPLACE INTO texts (rowid, tokens) VALUES (?1, ?2)";
        transaction.prepare_cached(nobodys)?.execute(params![NOBODYS.0, NOBODYS.1])?;
        merge_pages(transaction, -MERGED)?;
        if let Some(made) = segments::being_made(transaction)?.last() {
            return Ok(Stage::Merging { into: made.number, is_last: made.is_oldest });
        }
    }
    Ok(Stage::Pages(1))
}

/// Writes so many pages of the index; the number negated begins to merge all there is.
fn merge_pages(transaction: &Connection, pages: i64) -> Result<()> {
    transaction.prepare_cached("INSERT INTO texts (texts, rank) VALUES ('merge', ?1)")?.execute([pages])?;
    Ok(())
}

/// What was found among some pages.
#[derive(Debug, Default)]
struct Looked {
    pages: u32,
    /// Those that are to be overwritten in part.
    dirty: Vec<u32>,
    /// The next, if there are more.
    next: Option<u32>,
}

/// Looks at some pages, from this one on.
fn look(connection: &Connection, first: u32) -> Result<Looked> {
    let Some((header, free)) = layout(connection)? else {
        tracing::warn!("the store is too large, or of a kind that is not known, to clean its pages");
        return Ok(Looked::default());
    };
    let begun = Instant::now();
    let mut looked = Looked::default();
    for number in first..first.saturating_add(LOOKED_AT) {
        let Some(mut page) = read(connection, number)? else { return Ok(looked) };
        looked.pages += 1;
        looked.next = Some(number + 1);
        if header.clean(number, &mut page, &free) {
            looked.dirty.push(number);
        }
        let is_long = looked.pages.is_multiple_of(PAGES_BETWEEN) && begun.elapsed() >= LOOKING;
        if is_long || looked.dirty.len() == OVERWRITTEN {
            break;
        }
    }
    Ok(looked)
}

/// Overwrites what these pages do not store; returns how many of them had anything there.
fn overwrite(transaction: &Connection, pages: &[u32]) -> Result<usize> {
    if pages.is_empty() {
        return Ok(0);
    }
    // They may have changed since they were looked at.
    let Some((header, free)) = layout(transaction)? else { return Ok(0) };
    let mut overwritten = 0;
    for number in pages {
        let Some(mut page) = read(transaction, *number)? else { continue };
        if header.clean(*number, &mut page, &free) {
            let mut statement = transaction.prepare_cached("UPDATE sqlite_dbpage SET data = ?2 WHERE pgno = ?1")?;
            statement.execute(params![number, page])?;
            overwritten += 1;
        }
    }
    Ok(overwritten)
}

/// What the file is made of, and which of its pages are free.
fn layout(connection: &Connection) -> Result<Option<(Header, FreePages)>> {
    let pages = connection.pragma_query_value(None, "page_count", |row| row.get(0))?;
    let Some(header) = read(connection, 1)?.and_then(|first| Header::read(&first, pages)) else { return Ok(None) };
    let free = header.free(|number| Ok::<_, Error>(read(connection, number)?.unwrap_or_default()))?;
    Ok(Some((header, free)))
}

/// A page of the file as it is by now.
fn read(connection: &Connection, number: u32) -> Result<Option<Vec<u8>>> {
    let mut statement = connection.prepare_cached("SELECT data FROM sqlite_dbpage WHERE pgno = ?1")?;
    let page = statement.query_row([number], |row| match row.get_ref(0)? {
        ValueRef::Blob(page) => Ok(page.to_vec()),
        _ => Ok(Vec::new()),
    });
    Ok(page.optional()?)
}
