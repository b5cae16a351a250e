//! Walking the list's index: the rows of one or several ranges in the one order, last activity first.

use std::collections::VecDeque;

use super::filter::{Agents, Filter};
use super::upgrade;
use crate::storage::{Bounds, Entry, Result, Storage};
use crate::store::{Layout, Roster, Row, Shelf, Store, directory, keys};

/// How many bytes of rows are read at a time over all ranges, and from each at least; so with rows.
const BATCH_BYTES: u32 = 1024 * 1024;
const LEAST_BYTES: u32 = 64 * 1024;
const LEAST_ROWS: u32 = 16;

/// Reads rows, newest first.
#[derive(Debug)]
pub struct Walk {
    ranges: Vec<Range>,
    agents: Agents,
    cwd: Option<String>,
}

/// How much is read of a range at a time: of one, all that is wanted; of each of several at first its share, then more
/// of those that have more to say.
#[derive(Debug, Clone, Copy)]
struct Batches {
    next: Bounds,
    most: u32,
}

impl Batches {
    fn of(ranges: usize, wanted: u32) -> Self {
        let ranges = u32::try_from(ranges.max(1)).unwrap_or(u32::MAX);
        let limit = (wanted / ranges).max(LEAST_ROWS).min(wanted);
        Self { next: Bounds { limit, max_bytes: (BATCH_BYTES / ranges).max(LEAST_BYTES) }, most: wanted }
    }

    fn next(&mut self) -> Bounds {
        let bounds = self.next;
        self.next.limit = bounds.limit.saturating_mul(2).min(self.most);
        bounds
    }
}

/// The rows of one shelf that one agent knows, or none does.
#[derive(Debug)]
struct Range {
    /// The shelf, where the rows are as an earlier version wrote them, of whichever agents.
    older: Option<Shelf>,
    prefix: String,
    start: String,
    /// Where the rest of it ends.
    end: String,
    read: VecDeque<Entry>,
    batches: Batches,
    exhausted: bool,
}

impl Range {
    fn new(prefix: String, older: Option<Shelf>, earliest: i64, behind: Option<(i64, &str)>, batches: Batches) -> Self {
        let start = format!("{prefix}{earliest:015}");
        let end = match behind {
            Some((updated, id)) => prefix.clone() + &keys::row_place(updated, id),
            None => keys::range_end(&prefix),
        };
        Self { older, prefix, start, end, read: VecDeque::new(), batches, exhausted: false }
    }

    fn place(&self) -> Option<&str> {
        self.read.front().map(|entry| &entry.key[self.prefix.len()..])
    }

    fn fill<S: Storage>(&mut self, store: &Store<S>, agents: &Agents) -> Result<()> {
        while self.read.is_empty() && !self.exhausted {
            let page = store.storage().scan(&self.start, &self.end, true, self.batches.next())?;
            self.exhausted = !page.more;
            if let Some(last) = page.entries.last() {
                self.end.clone_from(&last.key);
            }
            self.read = match self.older {
                None => page.entries.into(),
                Some(older) => {
                    upgrade::as_they_are(store, older, page.entries, |session| agents.admit(session))?.into()
                }
            };
        }
        Ok(())
    }
}

/// A row and where it stands.
#[derive(Debug)]
pub struct Found {
    entry: Entry,
    place: usize,
}

impl Found {
    /// The row; `None` where the index is damaged.
    pub fn row(&self) -> Option<Row<'_>> {
        Row::parse(&self.entry.value)
    }

    /// Last activity and id of its session.
    pub fn place(&self) -> Option<(i64, String)> {
        let (updated, id) = self.entry.key[self.place..].split_once('/')?;
        Some((updated.parse().ok()?, keys::decode(id)?))
    }
}

impl Walk {
    /// A walk over what the filter's shelves, agents, directory and bounds leave, behind a row; about `batch` rows will
    /// be wanted.
    pub fn new<S: Storage>(store: &Store<S>, filter: &Filter, behind: Option<(i64, &str)>, batch: u32) -> Result<Self> {
        let roster = match filter.agents {
            Agents::Own(_) => Roster::default(),
            Agents::All => store.roster()?,
        };
        let sets: Vec<Option<&str>> = match &filter.agents {
            Agents::Own(agent) => vec![Some(agent)],
            Agents::All => roster.row_sets().collect(),
        };
        let shelves: Vec<Shelf> = filter.shelves().collect();
        let cwd = filter.cwd.as_deref();
        let is_older = store.layout()? != Layout::Present;
        let batches = Batches::of(shelves.len() * (sets.len() + usize::from(is_older)), batch);
        let range = |prefix, older| Range::new(prefix, older, filter.earliest(), behind, batches);
        let mut ranges = Vec::new();
        for shelf in shelves {
            let letter = shelf.letter();
            ranges.extend(sets.iter().map(|agent| range(keys::rows(letter, *agent, cwd), None)));
            if is_older {
                ranges.push(range(keys::older_rows(letter, cwd), Some(shelf)));
            }
        }
        Ok(Self { ranges, agents: filter.agents.clone(), cwd: filter.cwd.clone() })
    }

    /// The next row.
    pub fn next<S: Storage>(&mut self, store: &Store<S>) -> Result<Option<Found>> {
        loop {
            for range in &mut self.ranges {
                range.fill(store, &self.agents)?;
            }
            let unread = self.ranges.iter_mut().filter(|range| !range.read.is_empty());
            let Some(newest) = unread.max_by(|a, b| a.place().cmp(&b.place())) else { return Ok(None) };
            let place = newest.prefix.len();
            let Some(entry) = newest.read.pop_front() else { return Ok(None) };
            let found = Found { entry, place };
            // Where several agents know a session, it stands at the same place in each one's range.
            for range in &mut self.ranges {
                if range.place() == Some(&found.entry.key[place..]) {
                    range.read.pop_front();
                }
            }
            if self.is_in_directory(&found) {
                return Ok(Some(found));
            }
        }
    }

    /// The index goes by a hash of the directory; the row knows better.
    fn is_in_directory(&self, found: &Found) -> bool {
        #[derive(serde::Deserialize)]
        struct Info {
            cwd: String,
        }
        let Some(cwd) = &self.cwd else { return true };
        let info = found.row().and_then(|row| serde_json::from_str::<Info>(row.json).ok());
        info.is_some_and(|info| directory::normalise(&info.cwd).as_ref() == Some(cwd))
    }
}
