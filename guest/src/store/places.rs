//! Where sessions stand in the list, kept from one search to the next: whoever types a query searches once for each letter
//! of it, and mostly finds the same sessions. Whatever is not there, or has changed since, is read.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::unreadable::unreadable;
use super::{Layout, Store, keys};
use crate::storage::{Bounds, Result, Storage};

/// How many sessions are kept: about half a mebibyte of them.
const MOST: usize = 4096;
/// How many records are read at a time: they may be large.
const READ_AT_ONCE: usize = 32;
/// How many changes are looked through to know what has not changed. With more, all is read anew.
const LOOKED_THROUGH: Bounds = Bounds { limit: 512, max_bytes: 64 * 1024 };

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Placed {
    /// Its last activity; milliseconds since 1970.
    pub updated: i64,
    /// The revision that last changed it.
    #[serde(default)]
    pub revision: u64,
}

/// Where sessions stood when the store was at a revision.
#[derive(Debug, Default)]
pub(super) struct Places {
    as_of: u64,
    known: BTreeMap<String, Placed>,
}

impl<S: Storage> Store<S> {
    /// Where those of these sessions stand that are there. Of a session that changes meanwhile this may be where it stood
    /// or where it stands.
    pub fn places(&self, ids: Vec<String>) -> Result<Vec<(String, Placed)>> {
        let mut kept = self.places.take();
        // The changes of an earlier layout stand nowhere.
        if self.layout()? != Layout::Present || !self.forget_changed(&mut kept)? {
            kept = Places { as_of: self.revision()?, known: BTreeMap::new() };
        }
        let unread: Vec<&String> = ids.iter().filter(|id| !kept.known.contains_key(*id)).collect();
        let mut read = BTreeMap::new();
        for ids in unread.chunks(READ_AT_ONCE) {
            let keys: Vec<String> = ids.iter().map(|id| keys::session(id)).collect();
            for (id, text) in ids.iter().zip(self.storage.get(&keys)?) {
                if let Some(text) = text {
                    let placed = serde_json::from_str(&text).map_err(|error| unreadable("a session's record", &error))?;
                    read.insert((*id).clone(), placed);
                }
            }
        }
        if kept.known.len() + read.len() > MOST {
            // These are wanted now, the others may never be again.
            kept.known.retain(|id, _| ids.binary_search(id).is_ok());
        }
        kept.known.append(&mut read);
        let found = |id: String| kept.known.get(&id).copied().map(|placed| (id, placed));
        let places = ids.into_iter().filter_map(found).collect();
        if kept.known.len() <= MOST {
            self.places.replace(kept);
        }
        Ok(places)
    }

    /// Forgets what has changed since; says whether that could be told.
    fn forget_changed(&self, kept: &mut Places) -> Result<bool> {
        let revision = self.revision()?;
        // Nothing is known yet, or the store was put back to an earlier state of it.
        if kept.known.is_empty() || revision < kept.as_of {
            return Ok(false);
        }
        if revision > kept.as_of {
            let start = keys::changed(kept.as_of + 1, "");
            let page = self.storage.scan(&start, &keys::range_end(keys::CHANGES), false, LOOKED_THROUGH)?;
            if page.more {
                return Ok(false);
            }
            for (_, id) in page.entries.iter().filter_map(|entry| keys::changed_place(&entry.key)) {
                kept.known.remove(&id);
            }
            kept.as_of = revision;
        }
        Ok(true)
    }
}
