//! Walking the list's index: the rows of one or several ranges in the one order, the last prompted first.

use std::collections::VecDeque;

use super::filter::{self, Agents, Filter};
use super::upgrade;
use crate::storage::{Bounds, Entry, Result, Storage};
use crate::store::{DATELESS_END, Layout, Roster, Row, RowHead, Shelf, Span, Store, keys};
use crate::time;

/// How many bytes of rows are read at a time over all ranges, and from each at least; so with rows.
const BATCH_BYTES: u32 = 1024 * 1024;
const LEAST_BYTES: u32 = 64 * 1024;
const LEAST_ROWS: u32 = 16;

/// Reads rows, newest first.
#[derive(Debug)]
pub struct Walk {
    ranges: Vec<Range>,
    agents: Agents,
    directories: Vec<String>,
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
    kind: Kind,
    prefix: String,
    start: String,
    /// Where the rest of it ends.
    end: String,
    read: VecDeque<Entry>,
    batches: Batches,
    exhausted: bool,
}

/// What stands in a range.
#[derive(Debug)]
enum Kind {
    /// Rows.
    Rows,
    /// Rows of this shelf as an earlier version wrote them, of whichever agents.
    Older(Shelf),
    /// The beginnings of rows; the rows themselves are in the range of this prefix.
    Heads(String),
}

impl Range {
    /// A range that begins with the prefix, of what stands from `earliest` on and, where there is such a bound, before
    /// `until`.
    fn new(
        prefix: String,
        kind: Kind,
        (earliest, until): (i64, Option<i64>),
        behind: Option<(i64, &str)>,
        batches: Batches,
    ) -> Self {
        let start = format!("{prefix}{earliest:015}");
        let end = match behind {
            Some((recency, id)) => prefix.clone() + &keys::row_place(recency, id),
            None => keys::range_end(&prefix),
        };
        let end = until.map_or(end.clone(), |until| end.min(format!("{prefix}{until:015}")));
        Self { kind, prefix, start, end, read: VecDeque::new(), batches, exhausted: false }
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
            self.read = match self.kind {
                Kind::Rows | Kind::Heads(_) => page.entries.into(),
                Kind::Older(of) => {
                    upgrade::as_they_are(store, of, page.entries, |session| agents.admit(session))?.into()
                }
            };
        }
        Ok(())
    }
}

/// A row, or what it begins with, and where it stands.
#[derive(Debug)]
pub struct Found {
    entry: Entry,
    place: usize,
    /// The row's key, where only its beginning was read.
    row: Option<String>,
}

impl Found {
    /// What the row begins with; `None` where the index is damaged.
    pub fn head(&self) -> Option<RowHead> {
        RowHead::parse(&self.entry.value)
    }

    /// The row; `None` where the index is damaged, and where only the row's beginning was read before
    /// [`read_rows`].
    pub fn row(&self) -> Option<Row<'_>> {
        Row::parse(&self.entry.value)
    }

    /// Recency and id of its session.
    pub fn place(&self) -> Option<(i64, String)> {
        let (recency, id) = self.entry.key[self.place..].split_once('/')?;
        Some((recency.parse().ok()?, keys::decode(id)?))
    }
}

/// Reads the rows of which only the beginning was read. What has changed meanwhile has no row there any more, or a
/// newer one.
pub fn read_rows<'f, S: Storage>(store: &Store<S>, found: impl IntoIterator<Item = &'f mut Found>) -> Result<()> {
    let (keys, found): (Vec<String>, Vec<&mut Found>) =
        found.into_iter().filter_map(|found| Some((found.row.take()?, found))).unzip();
    if keys.is_empty() {
        return Ok(());
    }
    for (found, row) in found.into_iter().zip(store.storage().get(&keys)?) {
        found.entry.value = row.unwrap_or_default();
    }
    Ok(())
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
        let directories = filter.directories();
        let places: Vec<Option<&str>> = match &directories[..] {
            [] => vec![None],
            directories => directories.iter().copied().map(Some).collect(),
        };
        let is_older = store.layout()? != Layout::Present;
        let created_before = filter.created_before.filter(|_| directories.is_empty() && !is_older);
        let spans = created_before.map_or(0, |_| Span::all().count());
        // What was active after a time may have been prompted long before it.
        let has_tails = filter.updated_after.is_some();
        // What has no date was created long after where it stands, and active after no time.
        let has_dateless = filter.created_after.is_some() && !has_tails;
        let ranges_of_set = spans.max(1) + usize::from(has_tails) + usize::from(has_dateless);
        let in_each = sets.len() * ranges_of_set + usize::from(is_older);
        let batches = Batches::of(shelves.len() * places.len() * in_each, batch);
        let from = |earliest| move |prefix, kind, until| Range::new(prefix, kind, (earliest, until), behind, batches);
        let range = from(filter.earliest_without_tail());
        let mut ranges = Vec::new();
        let of_tails = shelves.iter().filter(|_| has_tails).flat_map(|shelf| sets.iter().map(|agent| (*shelf, *agent)));
        for (shelf, agent) in of_tails {
            let tails = keys::rows_with_long_tails(shelf.letter(), agent);
            ranges.push(from(filter.earliest())(tails, Kind::Rows, None));
        }
        for (shelf, cwd) in shelves.iter().flat_map(|shelf| places.iter().map(move |cwd| (*shelf, *cwd))) {
            let letter = shelf.letter();
            for agent in &sets {
                let rows = keys::rows(letter, *agent, cwd);
                if has_dateless {
                    let until = Some(DATELESS_END);
                    ranges.push(Range::new(rows.clone(), Kind::Rows, (0, until), behind, batches));
                }
                let Some(before) = created_before else {
                    ranges.push(range(rows, Kind::Rows, None));
                    continue;
                };
                // What was created before a time stands less than its span behind that: it is prompted while it is active.
                ranges.extend(Span::all().map(|span| {
                    let until = before.saturating_add(span.end()).min(time::LAST + 1);
                    range(keys::rows_by_span(letter, *agent, span.number()), Kind::Heads(rows.clone()), Some(until))
                }));
            }
            if is_older {
                ranges.push(range(keys::older_rows(letter, cwd), Kind::Older(shelf), None));
            }
        }
        let directories = directories.into_iter().map(str::to_owned).collect();
        Ok(Self { ranges, agents: filter.agents.clone(), directories })
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
            let row = match &newest.kind {
                Kind::Heads(rows) => Some(format!("{rows}{}", &entry.key[place..])),
                Kind::Rows | Kind::Older(_) => None,
            };
            let found = Found { entry, place, row };
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
        if self.directories.is_empty() {
            return true;
        }
        let info = found.row().and_then(|row| serde_json::from_str::<Info>(row.json).ok());
        info.is_some_and(|info| filter::holds(&self.directories, &info.cwd))
    }
}
