//! Entries that are missing from a log: a mark takes the place of each. Where far more would be missing than can be, it is the
//! number of what stands behind that is wrong, and that moves up.

use super::fault::Fault;
use super::pass::{Pass, Wrong};
use crate::index;
use crate::storage::{LogEntry, LogPage, Result, Storage, Write};
use crate::transcript::lost_entry;

/// How many entries that are missing are marked in one commit.
pub(super) const MARKED: u32 = 128;
/// How many entries may be missing before the last ones of a log, and before others that many stand behind. One bit of a
/// number can make it two billion.
const BEFORE_THE_LAST: u32 = 1 << 16;
const BEFORE_MANY: u32 = 1 << 20;

/// Whether so many entries may be missing at a log's end.
pub(super) fn may_be_missing(count: u32) -> bool {
    count <= BEFORE_THE_LAST
}

/// Numbers of a log under which nothing stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Gap {
    /// The first of them.
    start: u32,
    /// The number of the entry behind them.
    end: u32,
    /// Whether entries are missing, or what stands behind has a wrong number.
    is_lost: bool,
}

impl Gap {
    /// What is missing from this number on to the first entry of a page that was read from there.
    pub(super) fn before(page: &LogPage, start: u32) -> Option<Self> {
        let end = page.entries.first().map(|entry| entry.seq).filter(|first| *first > start)?;
        let most = if page.more { BEFORE_MANY } else { BEFORE_THE_LAST };
        Some(Self { start, end, is_lost: end - start <= most })
    }
}

impl<S: Storage> Pass<'_, S> {
    /// Notes a gap before these entries and closes it, or begins to, where that is wanted; returns where to go on.
    pub(super) fn gap(&mut self, log: &str, gap: &Gap, entries: &[LogEntry], mut wrong: Wrong) -> Result<u32> {
        let fault = if gap.is_lost { Fault::EntryMissing } else { Fault::EntryAstray };
        let (writes, last) = if !self.mends(fault) {
            (Vec::new(), gap.end - 1)
        } else if gap.is_lost {
            self.marks(log, gap)
        } else {
            (self.moved_up(log, gap.start, entries), gap.end)
        };
        let subject = if gap.is_lost {
            format!("{log}, entries {} to {last}", gap.start)
        } else {
            format!("{log}, entry {last}")
        };
        wrong.add(fault, &subject, writes);
        let is_mended = self.is_put_right(wrong)?;
        // What was put in is compared like the rest, or what stands behind the gap.
        Ok(if is_mended { gap.start } else { gap.end })
    }

    /// Marks for the first that are missing, and the last number that has one.
    fn marks(&self, log: &str, gap: &Gap) -> (Vec<Write>, u32) {
        let end = gap.end.min(gap.start.saturating_add(MARKED));
        let value = lost_entry(self.now);
        let mark = |seq| Write::Restore { log: log.to_owned(), seq, value: value.clone() };
        ((gap.start..end).map(mark).collect(), end - 1)
    }

    /// A mark, and these entries behind it. Nothing stays of what has numbers behind theirs.
    fn moved_up(&self, log: &str, start: u32, entries: &[LogEntry]) -> Vec<Write> {
        let values = std::iter::once(lost_entry(self.now)).chain(entries.iter().map(|entry| entry.value.clone()));
        let restored = (start..).zip(values).map(|(seq, value)| Write::Restore { log: log.to_owned(), seq, value });
        let mut writes: Vec<Write> = restored.collect();
        let end = start.saturating_add(u32::try_from(writes.len()).unwrap_or(u32::MAX));
        writes.push(Write::CutLog { log: log.to_owned(), start: end });
        writes.push(Write::DropText { owner: index::Owner::Log(log).name(), start: end });
        writes
    }
}
