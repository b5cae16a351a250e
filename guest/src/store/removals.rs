//! What is being removed, for those who come upon it.

use std::collections::BTreeMap;

use super::{Store, keys};
use crate::index::Owner;
use crate::storage::{Bounds, Result, Storage};

/// Of which logs what is still there is nobody's any more.
#[derive(Debug)]
pub struct Removals {
    /// Those that are known, and from which entry on.
    known: BTreeMap<String, u32>,
    is_all: bool,
}

impl Removals {
    /// How many are read at once.
    const BATCH: Bounds = Bounds { limit: 512, max_bytes: 64 * 1024 };

    /// From which entry on a note says that its log is removed. How far that is may follow.
    pub fn read_start(note: &str) -> Option<u32> {
        note.split(' ').next()?.parse().ok()
    }

    /// Those there are; where there are very many, each has to be asked for.
    pub fn read<S: Storage>(store: &Store<S>) -> Result<Self> {
        let page = store.storage().scan(keys::REMOVALS, &keys::range_end(keys::REMOVALS), false, Self::BATCH)?;
        let known = page.entries.iter().filter_map(|note| Some((note.key.clone(), Self::read_start(&note.value)?)));
        Ok(Self { known: known.collect(), is_all: !page.more })
    }

    /// Learns what is to be known of these texts' owners.
    pub fn learn<'a, S: Storage>(&mut self, store: &Store<S>, owners: impl Iterator<Item = &'a str>) -> Result<()> {
        if self.is_all {
            return Ok(());
        }
        let mut keys: Vec<String> = owners.filter_map(key_of).filter(|key| !self.known.contains_key(key)).collect();
        keys.sort_unstable();
        keys.dedup();
        let values = store.storage().get(&keys)?;
        let notes = keys.into_iter().zip(values);
        self.known.extend(notes.filter_map(|(key, value)| Some((key, Self::read_start(&value?)?))));
        Ok(())
    }

    /// From which part on these texts are nobody's, if any are.
    pub fn start(&self, owner: &str) -> Option<u32> {
        if self.known.is_empty() {
            return None;
        }
        key_of(owner).and_then(|key| self.known.get(&key).copied())
    }
}

fn key_of(owner: &str) -> Option<String> {
    match Owner::of_name(owner)? {
        Owner::Log(log) => Some(keys::removal(log)),
        Owner::Heading(_) => None,
    }
}
