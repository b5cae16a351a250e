//! Reading a database's file without SQLite, as damaged as it may be, by SQLite's file format: whatever page can be read is
//! read, whatever row on it can be is given. Nothing is ever written.

mod journal;
mod row;
mod tree;

use std::convert::Infallible;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

pub(super) use self::journal::Journal;
pub(super) use self::row::{Row, Value};
pub(super) use self::tree::{Kind, Tree};
use super::format::{FreePages, MAGIC, number32};

/// How long pages are where the file does not say: as long as SQLite makes them.
const USUAL: usize = 4096;

/// What a database says that there is in it.
#[derive(Debug, Default)]
pub(super) struct Objects {
    /// What their names are, as far as these can be read.
    pub(super) listed: Vec<Object>,
    /// Whether all of the list can be read.
    pub(super) is_whole: bool,
}

/// A table, an index or the like.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Object {
    pub(super) name: String,
    /// Its first page; 0 if it has none, or none that can be. Nothing where that or its name is not whole.
    pub(super) root: Option<u32>,
}

/// The pages of a database.
#[derive(Debug)]
pub(super) struct Pages {
    file: File,
    journal: Journal,
    size: usize,
    usable: usize,
    count: u32,
}

impl Pages {
    pub(super) fn open(path: &Path, journal: &Path) -> io::Result<Self> {
        // A pipe would wait for somebody who writes.
        if !fs::metadata(path)?.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        let file = File::open(path)?;
        let mut first = [0; 100];
        let read = file.read_at(&mut first, 0)?;
        let is_header = read == first.len() && first.starts_with(MAGIC);
        let size = match u16::from_be_bytes([first[16], first[17]]) {
            1 => 65_536,
            size => usize::from(size),
        };
        let is_size = is_header && size.is_power_of_two() && size >= 512;
        let size = if is_size { size } else { USUAL };
        let reserved = if is_size { usize::from(first[20]) } else { 0 };
        let usable = size.saturating_sub(reserved).max(480);
        let journal = Journal::read(journal, size)?;
        let pages = file.metadata()?.len().div_ceil(size as u64);
        let count = u32::try_from(pages).unwrap_or(u32::MAX).max(journal.last_page());
        Ok(Self { file, journal, size, usable, count })
    }

    /// How many there are.
    pub(super) fn count(&self) -> u32 {
        self.count
    }

    /// What was written last and is not in the file yet.
    pub(super) fn journal(&self) -> &Journal {
        &self.journal
    }

    /// A page, as far as it is there: what is missing of it is zeros.
    pub(super) fn page(&self, number: u32) -> Option<Vec<u8>> {
        if number == 0 || number > self.count {
            return None;
        }
        let mut page = vec![0; self.size];
        let (file, place) =
            self.journal.place(number).unwrap_or((&self.file, u64::from(number - 1) * self.size as u64));
        let mut read = 0;
        while read < page.len() {
            match file.read_at(&mut page[read..], place + read as u64) {
                Ok(0) => break,
                Ok(more) => read += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(_) => return None,
            }
        }
        (read > 0).then_some(page)
    }

    /// What is in it, by the list on its first page.
    pub(super) fn objects(&self) -> Objects {
        let mut listed = Vec::new();
        let tree = Tree::walk(self, 1, Kind::Numbered, &mut self.unvisited(), &mut |row| {
            let Some((name, is_whole)) = row.text(1) else { return };
            let root = match row.values.get(3) {
                Some(Value::Number(root)) if is_whole => Some(u32::try_from(*root).unwrap_or_default()),
                _ => None,
            };
            listed.push(Object { name, root });
        });
        Objects { listed, is_whole: tree.bad_pages == 0 }
    }

    /// That no page has been at.
    pub(super) fn unvisited(&self) -> Vec<bool> {
        vec![false; self.count as usize + 1]
    }

    /// The pages that are said to be free, as far as that can be read: nothing on them counts.
    pub(super) fn free(&self) -> FreePages {
        let first_trunk = self.page(1).and_then(|first| number32(&first, 32)).unwrap_or_default();
        let read = |number| Ok::<_, Infallible>(self.page(number));
        let Ok(free) = FreePages::read(first_trunk, self.count, self.usable, read);
        free
    }
}
