//! The write-ahead log: pages as commits have written them that are not in the file yet.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use crate::store::format::number32;

const HEADER: usize = 32;
const FRAME: usize = 24;
/// What it begins with; the last bit says in which order checksums take bytes.
const MAGIC: u32 = 0x377f_0682;

/// What of a write-ahead log can be used.
#[derive(Debug, Default)]
pub(in super::super) struct Journal {
    file: Option<File>,
    /// Where each page stands.
    places: BTreeMap<u32, u64>,
    /// How many frames behind the last commit that can be used belong to this journal as well.
    behind: usize,
    is_unreadable: bool,
}

impl Journal {
    pub(super) fn read(path: &Path, size: usize) -> io::Result<Self> {
        let file = match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Self::default()),
            // A pipe would wait for somebody who writes.
            Ok(found) if !found.is_file() => return Ok(Self { is_unreadable: true, ..Self::default() }),
            _ => File::open(path)?,
        };
        if file.metadata()?.len() == 0 {
            return Ok(Self::default());
        }
        let mut header = [0; HEADER];
        let is_whole = file.read_exact_at(&mut header, 0).is_ok();
        let word = |at| number32(&header, at).unwrap_or_default();
        let mut sum = Checksum::new(word(0) & 1 == 1);
        sum.add(&header[..24]);
        let is_header = is_whole
            && word(0) & !1 == MAGIC
            && word(8) as usize == size
            && (word(24), word(28)) == (sum.first, sum.second);
        if !is_header {
            return Ok(Self { is_unreadable: true, ..Self::default() });
        }
        Self::read_frames(file, &header[16..24], sum, size)
    }

    fn read_frames(file: File, salt: &[u8], mut sum: Checksum, size: usize) -> io::Result<Self> {
        let mut journal = Self::default();
        let mut pending: BTreeMap<u32, u64> = BTreeMap::new();
        let (mut place, mut is_valid) = (HEADER as u64, true);
        let mut frame = vec![0; FRAME + size];
        let length = file.metadata()?.len();
        while place + frame.len() as u64 <= length {
            file.read_exact_at(&mut frame, place)?;
            let word = |at| number32(&frame, at).unwrap_or_default();
            let is_of_it = frame[8..16] == *salt;
            if is_valid && is_of_it {
                sum.add(&frame[..8]);
                sum.add(&frame[FRAME..]);
            }
            is_valid &= is_of_it && (word(16), word(20)) == (sum.first, sum.second) && word(0) > 0;
            if is_valid {
                pending.insert(word(0), place + FRAME as u64);
                if word(4) != 0 {
                    journal.places.append(&mut pending);
                }
            } else if is_of_it && word(4) != 0 {
                // The last page of a commit, behind something that is damaged.
                journal.behind += 1;
            }
            place += frame.len() as u64;
        }
        journal.file = Some(file);
        Ok(journal)
    }

    /// What is wrong with it.
    pub(in super::super) fn fault(&self) -> Option<String> {
        if self.is_unreadable {
            return Some("the journal beside the file cannot be read: what was written last is lost".to_owned());
        }
        let behind = self.behind;
        (behind > 0)
            .then(|| format!("the journal beside the file is damaged: the last {behind} commits or so are lost"))
    }

    /// The highest page that it has.
    pub(super) fn last_page(&self) -> u32 {
        self.places.last_key_value().map_or(0, |(page, _)| *page)
    }

    /// Where a page stands in it.
    pub(super) fn place(&self, page: u32) -> Option<(&File, u64)> {
        self.file.as_ref().zip(self.places.get(&page).copied())
    }
}

/// The checksum of a write-ahead log, of all that stands before.
#[derive(Debug, Clone, Copy)]
struct Checksum {
    is_big: bool,
    first: u32,
    second: u32,
}

impl Checksum {
    fn new(is_big: bool) -> Self {
        Self { is_big, first: 0, second: 0 }
    }

    fn add(&mut self, bytes: &[u8]) {
        let word = |bytes: &[u8]| {
            let bytes: [u8; 4] = bytes.try_into().unwrap_or_default();
            if self.is_big { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
        };
        let (mut first, mut second) = (self.first, self.second);
        for pair in bytes.chunks_exact(8) {
            first = first.wrapping_add(word(&pair[..4])).wrapping_add(second);
            second = second.wrapping_add(word(&pair[4..])).wrapping_add(first);
        }
        (self.first, self.second) = (first, second);
    }
}
