//! Which texts are a session's: its heading, those entries of logs that its transcript shows, and those that were taken
//! out of it. Who looks for words that were said remembers them whatever became of the conversation; the row says where
//! they are.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use super::snippet;
use crate::index::Owner;
use crate::storage::{Bounds, LAST_PART, Result, Storage, TextScope, TextTerm};
use crate::store::Session;
use crate::transcript::text;

const BATCH: Bounds = Bounds { limit: 512, max_bytes: 256 * 1024 };

/// Some texts of one owner.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct OwnersTexts<'a> {
    pub(super) owner: Owner<'a>,
    /// Their numbers, in order.
    ranges: Vec<RangeInclusive<u32>>,
}

impl<'a> OwnersTexts<'a> {
    /// Those of a session whose transcript is all of its own log and nothing else.
    pub(super) fn of_plain(id: &'a str) -> Vec<Self> {
        vec![Self { owner: Owner::Heading(id), ranges: vec![0..=0] }, Self::new(id, vec![1..=LAST_PART])]
    }

    /// The texts that are a session's, its own log before others, and what was set aside last.
    pub(super) fn of(session: &'a Session) -> Vec<Self> {
        let mut all =
            vec![Self { owner: Owner::Heading(&session.id), ranges: vec![0..=0] }, Self::new(&session.id, vec![])];
        let mut places = BTreeMap::from([(session.id.as_str(), 1)]);
        for segment in session.segments.iter().filter(|segment| segment.length() > 0) {
            let at = *places.entry(&segment.log).or_insert_with(|| {
                all.push(Self::new(&segment.log, vec![]));
                all.len() - 1
            });
            all[at].ranges.push(segment.from..=segment.until);
        }
        all[1].ranges.push(session.tail..=LAST_PART);
        let conversation = all.len();
        for segment in session.aside.iter().filter(|segment| segment.length() > 0) {
            let range = segment.from..=segment.until;
            match all[conversation..].iter_mut().find(|parts| parts.owner == Owner::Log(&segment.log)) {
                Some(parts) => parts.ranges.push(range),
                None => all.push(Self::new(&segment.log, vec![range])),
            }
        }
        for parts in &mut all {
            parts.ranges.sort_unstable_by_key(|range| *range.start());
        }
        all
    }

    fn new(log: &'a str, ranges: Vec<RangeInclusive<u32>>) -> Self {
        Self { owner: Owner::Log(log), ranges }
    }

    /// The scope in which the storage is to look for the first of them.
    pub(super) fn scope(&self) -> TextScope {
        let until = self.ranges.iter().map(|range| *range.end()).max().unwrap_or_default();
        TextScope { owner: self.owner.name(), until }
    }

    /// The first of them that holds the term, where this is the first of the owner's texts that does. Mostly it is the
    /// same; but where the beginning of a log was set aside, what comes behind it has to be read.
    pub(super) fn first<S: Storage>(&self, storage: &S, term: &TextTerm, part: u32) -> Result<Option<u32>> {
        if self.ranges.iter().any(|range| range.contains(&part)) {
            return Ok(Some(part));
        }
        let Owner::Log(log) = self.owner else { return Ok(None) };
        for range in self.ranges.iter().filter(|range| *range.start() > part) {
            if let Some(found) = read(storage, term, log, range)? {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }
}

/// The first of these entries that holds the term.
fn read<S: Storage>(storage: &S, term: &TextTerm, log: &str, range: &RangeInclusive<u32>) -> Result<Option<u32>> {
    let mut next = *range.start();
    while next <= *range.end() {
        let page = storage.read_log(log, next, BATCH)?;
        let mut entries = page.entries.iter().take_while(|entry| entry.seq <= *range.end());
        let found = entries.find(|entry| snippet::snippet(&text::of_entry(&entry.value), term).is_some());
        if let Some(entry) = found {
            return Ok(Some(entry.seq));
        }
        let Some(last) = page.entries.last().filter(|_| page.more) else { break };
        next = last.seq + 1;
    }
    Ok(None)
}
