//! Where sessions stand in the list, kept from one search to the next: whoever types a query searches once for each letter
//! of it, and mostly finds the same sessions. Whatever is not there, or has changed since, is read.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::ids::Ids;
use super::session::recency;
use super::unreadable::unreadable;
use crate::storage::Result;

/// How many sessions are kept: about half a mebibyte of them.
const MOST: usize = 4096;

/// Where a session stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placed {
    /// Its [recency](super::Session::recency); milliseconds since 1970.
    pub recency: i64,
    /// The revision that last changed it.
    pub revision: u64,
}

impl Placed {
    /// Reads as much of a session's record as says so.
    pub fn parse(record: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct Dates {
            created: i64,
            updated: i64,
            prompted: Option<i64>,
            #[serde(default)]
            dateless: bool,
            #[serde(default)]
            revision: u64,
        }
        let dates: Dates = serde_json::from_str(record).map_err(|error| unreadable("a session's record", &error))?;
        let recency = recency((dates.created, dates.updated), dates.prompted, dates.dateless);
        Ok(Self { recency, revision: dates.revision })
    }
}

/// Where sessions stood when the store was at a revision.
#[derive(Debug, Default)]
pub struct Places {
    /// The revision: what has changed since stands elsewhere.
    pub as_of: u64,
    ids: Ids,
    /// Where each of these stood; none where it has changed since.
    placed: Vec<Option<Placed>>,
}

impl Places {
    /// Nothing is known yet.
    pub fn new(as_of: u64) -> Self {
        Self { as_of, ..Self::default() }
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Where each of these stood, as far as it is known.
    pub fn of(&self, ids: &Ids) -> Vec<Option<Placed>> {
        let mut places = vec![None; ids.len()];
        for (at, known) in ids.common(&self.ids) {
            places[at] = self.placed[known];
        }
        places
    }

    /// Forgets where a session stood.
    pub fn forget(&mut self, id: &str) {
        if let Some(at) = self.ids.position(id) {
            self.placed[at] = None;
        }
    }

    /// Takes these in, each with where it stands if it is there, and keeps no more of the others than there is room for: these
    /// are wanted now, the others may never be again.
    pub fn learn(&mut self, ids: &Ids, placed: &[Option<Placed>]) {
        let wanted = ids.iter().zip(placed).filter_map(|(id, placed)| Some((id, (*placed)?)));
        let others = self.ids.iter().zip(&self.placed).filter_map(|(id, placed)| Some((id, (*placed)?)));
        let mut all: BTreeMap<&str, Placed> = others.chain(wanted.clone()).collect();
        if all.len() > MOST {
            all = wanted.collect();
        }
        if all.len() > MOST {
            all.clear();
        }
        let (ids, placed) = (all.keys().copied().collect(), all.into_values().map(Some).collect());
        (self.ids, self.placed) = (ids, placed);
    }
}
