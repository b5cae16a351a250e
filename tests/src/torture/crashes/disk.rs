//! The files of a store as a crash leaves them.

use std::collections::BTreeMap;
use std::fmt;

use super::recording::Event;
use crate::torture::chance::Chance;

/// What a disk writes whole.
const SECTOR: usize = 512;

/// How it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Crash {
    /// The program is killed: what it wrote is there.
    Killed,
    /// It is killed within its last write.
    Torn,
    /// The power fails: of what was written since its file was last synced any sectors are there.
    PowerLost,
}

impl Crash {
    pub(super) const ALL: [Self; 3] = [Self::Killed, Self::Torn, Self::PowerLost];

    /// Whether all is there that was written.
    pub(super) fn leaves_what_was_written(self) -> bool {
        self != Self::PowerLost
    }
}

impl fmt::Display for Crash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Killed => "killed",
            Self::Torn => "killed within a write",
            Self::PowerLost => "without power",
        })
    }
}

/// The files by their names.
#[derive(Debug, Clone, Default)]
pub(super) struct Disk {
    files: BTreeMap<String, File>,
}

/// A file, of which everything up to its last sync is on disk.
#[derive(Debug, Clone, Default)]
struct File {
    synced: Vec<u8>,
    now: Vec<u8>,
    /// What was done since it was synced.
    since: Vec<Done>,
}

#[derive(Debug, Clone)]
enum Done {
    Written { at: usize, bytes: Vec<u8> },
    Cut(usize),
}

impl Done {
    fn to(&self, file: &mut Vec<u8>) {
        match self {
            Self::Written { at, bytes } => write(file, *at, bytes),
            Self::Cut(length) => file.resize(*length, 0),
        }
    }
}

fn write(file: &mut Vec<u8>, at: usize, bytes: &[u8]) {
    let end = at + bytes.len();
    if file.len() < end {
        file.resize(end, 0);
    }
    file[at..end].copy_from_slice(bytes);
}

impl Disk {
    /// These events happen.
    pub(super) fn play(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Written { file, at, bytes } => {
                    self.done(file, Done::Written { at: *at, bytes: bytes.clone() });
                }
                Event::Cut { file, length } => self.done(file, Done::Cut(*length)),
                Event::Synced { file } => {
                    if let Some(file) = self.files.get_mut(file) {
                        file.sync();
                    }
                }
                Event::Removed { file } => drop(self.files.remove(file)),
                Event::Told(_) => {}
            }
        }
    }

    /// What is there when it crashes with this as the last event.
    pub(super) fn crashed(&self, last: Option<&Event>, crash: Crash, chance: &mut Chance) -> Self {
        let mut disk = self.clone();
        match last {
            Some(Event::Written { file, at, bytes }) if crash == Crash::Torn => {
                let length = chance.below(bytes.len() + 1);
                disk.done(file, Done::Written { at: *at, bytes: bytes[..length].to_vec() });
            }
            last => disk.play(last.map_or(&[], std::slice::from_ref)),
        }
        if !crash.leaves_what_was_written() {
            disk.files.values_mut().for_each(|file| file.lose_some(chance));
        }
        disk
    }

    fn done(&mut self, file: &str, done: Done) {
        let file = self.files.entry(file.to_owned()).or_default();
        done.to(&mut file.now);
        file.since.push(done);
    }

    /// The files and what is in them.
    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files.iter().map(|(name, file)| (name.as_str(), file.now.as_slice()))
    }
}

impl File {
    fn sync(&mut self) {
        for done in self.since.drain(..) {
            done.to(&mut self.synced);
        }
    }

    /// Goes back to what was synced, and does some of what was done since: all, nothing, up to somewhere, or any of it.
    fn lose_some(&mut self, chance: &mut Chance) {
        let since = std::mem::take(&mut self.since);
        let mut file = std::mem::take(&mut self.synced);
        match chance.below(4) {
            0 => since.iter().for_each(|done| done.to(&mut file)),
            1 => {}
            2 => since[..chance.below(since.len() + 1)].iter().for_each(|done| done.to(&mut file)),
            _ => {
                for done in &since {
                    match done {
                        Done::Cut(_) if chance.one_in(2) => done.to(&mut file),
                        Done::Cut(_) => {}
                        Done::Written { at, bytes } => sectors(*at, bytes)
                            .filter(|_| chance.one_in(2))
                            .for_each(|(at, sector)| write(&mut file, at, sector)),
                    }
                }
            }
        }
        self.now = file;
    }
}

/// The parts of a write that lie in one sector each.
fn sectors(at: usize, bytes: &[u8]) -> impl Iterator<Item = (usize, &[u8])> {
    let (mut at, mut rest) = (at, bytes);
    std::iter::from_fn(move || {
        let length = (SECTOR - at % SECTOR).min(rest.len());
        let (sector, behind) = rest.split_at_checked(length).filter(|(sector, _)| !sector.is_empty())?;
        let place = at;
        (at, rest) = (at + length, behind);
        Some((place, sector))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(at: usize, bytes: &[u8]) -> Event {
        Event::Written { file: "f".to_owned(), at, bytes: bytes.to_vec() }
    }

    fn content(events: &[Event], crash: Crash, seed: u64) -> Vec<u8> {
        let (last, before) = events.split_last().expect("an event");
        let mut disk = Disk::default();
        disk.play(before);
        let disk = disk.crashed(Some(last), crash, &mut Chance::new(seed));
        disk.files().next().map(|(_, bytes)| bytes.to_vec()).unwrap_or_default()
    }

    #[test]
    fn what_was_written_is_there_after_a_kill_and_the_last_of_it_perhaps_in_part() {
        let events = [written(0, b"abc"), Event::Cut { file: "f".to_owned(), length: 2 }, written(3, b"de")];
        assert_eq!(content(&events, Crash::Killed, 1), b"ab\0de");
        let torn: Vec<Vec<u8>> = (0..50).map(|seed| content(&events, Crash::Torn, seed)).collect();
        assert!(
            [&b"ab\0de"[..], b"ab\0d", b"ab\0"].iter().all(|state| torn.iter().any(|torn| torn == state)),
            "{torn:?}"
        );
    }

    #[test]
    fn without_power_what_was_synced_is_there_and_of_the_rest_any_sector() {
        let events = [written(0, &[1; 1024]), Event::Synced { file: "f".to_owned() }, written(256, &[2; 768])];
        let states: Vec<Vec<u8>> = (0..200).map(|seed| content(&events, Crash::PowerLost, seed)).collect();
        assert!(states.iter().all(|state| state.len() == 1024 && state[..256] == [1; 256]));
        for (first, second) in [(1, 1), (1, 2), (2, 1), (2, 2)] {
            assert!(states.iter().any(|state| (state[300], state[600]) == (first, second)), "{first} {second}");
        }
    }

    #[test]
    fn a_file_that_was_removed_is_gone() {
        let events = [written(0, b"a"), Event::Removed { file: "f".to_owned() }];
        assert_eq!(content(&events, Crash::Killed, 1), b"");
    }
}
