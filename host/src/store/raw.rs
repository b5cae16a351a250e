//! Reading a database's file without SQLite, as damaged as it may be, by SQLite's file format: whatever page can be read is
//! read, whatever row on it can be is given. Nothing is ever written.

mod journal;
mod row;
mod tree;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

pub(super) use self::journal::Journal;
pub(super) use self::row::{Row, Value};
pub(super) use self::tree::{Kind, Tree};

/// How long pages are where the file does not say: as long as SQLite makes them.
const USUAL: usize = 4096;

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
        let file = File::open(path)?;
        let mut first = [0; 100];
        let read = file.read_at(&mut first, 0)?;
        let is_header = read == first.len() && first.starts_with(b"SQLite format 3\0");
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

    /// The pages that are said to be free, as far as that can be read: nothing on them counts.
    pub(super) fn free(&self) -> Vec<bool> {
        let mut free = vec![false; self.count as usize + 1];
        let mut next = self.page(1).and_then(|first| number32(&first, 32)).unwrap_or_default();
        while let Some(place) = free.get_mut(next as usize).filter(|is_free| !**is_free && next > 1) {
            *place = true;
            let Some(trunk) = self.page(next) else { break };
            let listed = number32(&trunk, 4).unwrap_or_default() as usize;
            for at in 0..listed.min((self.usable - 8) / 4) {
                let leaf = number32(&trunk, 8 + 4 * at).unwrap_or_default();
                if let Some(place) = free.get_mut(leaf as usize) {
                    *place = true;
                }
            }
            next = number32(&trunk, 0).unwrap_or_default();
        }
        free
    }
}

fn number16(page: &[u8], at: usize) -> Option<usize> {
    let bytes: [u8; 2] = page.get(at..at + 2)?.try_into().ok()?;
    Some(usize::from(u16::from_be_bytes(bytes)))
}

fn number32(page: &[u8], at: usize) -> Option<u32> {
    let bytes: [u8; 4] = page.get(at..at + 4)?.try_into().ok()?;
    Some(u32::from_be_bytes(bytes))
}

/// A number as SQLite stores it, and how many bytes it takes: seven bits a byte, the highest first, and eight of the ninth.
fn varint(bytes: &[u8]) -> Option<(i64, usize)> {
    let mut value = 0_u64;
    for at in 0..9 {
        let byte = *bytes.get(at)?;
        if at == 8 {
            return Some(((value << 8 | u64::from(byte)).cast_signed(), 9));
        }
        value = value << 7 | u64::from(byte & 0x7f);
        if byte & 0x80 == 0 {
            return Some((value.cast_signed(), at + 1));
        }
    }
    None
}
