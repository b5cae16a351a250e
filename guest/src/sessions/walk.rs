//! Walking the list's index: the rows of one or several shelves in the one order, last activity first.

use std::collections::VecDeque;

use super::filter::Filter;
use crate::storage::{Bounds, Entry, Result, Storage};
use crate::store::{Row, Store, directory, keys};

/// How many bytes of rows are read at a time.
const BATCH_BYTES: u32 = 1024 * 1024;

/// Reads rows, newest first.
#[derive(Debug)]
pub struct Walk {
    shelves: Vec<Shelf>,
    cwd: Option<String>,
    batch: u32,
}

#[derive(Debug)]
struct Shelf {
    prefix: String,
    start: String,
    /// Where the rest of it ends.
    end: String,
    read: VecDeque<Entry>,
    exhausted: bool,
}

impl Shelf {
    fn place(&self) -> Option<&str> {
        self.read.front().map(|entry| &entry.key[self.prefix.len()..])
    }

    fn fill<S: Storage>(&mut self, store: &Store<S>, batch: u32) -> Result<()> {
        if !self.read.is_empty() || self.exhausted {
            return Ok(());
        }
        let bounds = Bounds { limit: batch, max_bytes: BATCH_BYTES };
        let page = store.storage().scan(&self.start, &self.end, true, bounds)?;
        self.exhausted = !page.more;
        if let Some(last) = page.entries.last() {
            self.end.clone_from(&last.key);
        }
        self.read = page.entries.into();
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
    /// A walk over what the filter's shelves, directory and bounds leave, behind a row; `batch` rows are read at a
    /// time.
    pub fn new(filter: &Filter, behind: Option<(i64, &str)>, batch: u32) -> Self {
        let shelves = filter
            .shelves()
            .map(|shelf| {
                let prefix = keys::rows(shelf.letter(), filter.cwd.as_deref());
                let start = format!("{prefix}{:015}", filter.earliest());
                let end = match behind {
                    Some((updated, id)) => prefix.clone() + &keys::row_place(updated, id),
                    None => keys::range_end(&prefix),
                };
                Shelf { prefix, start, end, read: VecDeque::new(), exhausted: false }
            })
            .collect();
        Self { shelves, cwd: filter.cwd.clone(), batch }
    }

    /// The next row.
    pub fn next<S: Storage>(&mut self, store: &Store<S>) -> Result<Option<Found>> {
        loop {
            for shelf in &mut self.shelves {
                shelf.fill(store, self.batch)?;
            }
            let unread = self.shelves.iter_mut().filter(|shelf| !shelf.read.is_empty());
            let Some(newest) = unread.max_by(|a, b| a.place().cmp(&b.place())) else { return Ok(None) };
            let place = newest.prefix.len();
            let Some(entry) = newest.read.pop_front() else { return Ok(None) };
            let found = Found { entry, place };
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
