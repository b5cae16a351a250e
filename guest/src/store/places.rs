//! Where sessions stand in the list, kept from one search to the next: whoever types a query searches once for each letter
//! of it, and mostly finds the same sessions. Whatever is not there, or has changed since, is read.

use std::collections::{BTreeMap, HashMap};

use serde::Deserialize;

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
    /// By the sessions' ids.
    pub known: HashMap<String, Placed>,
}

impl Places {
    /// Nothing is known yet.
    pub fn new(as_of: u64) -> Self {
        Self { as_of, known: HashMap::new() }
    }

    /// Takes these in, and keeps no more of the others than there is room for: these are wanted now, the others may never be
    /// again.
    pub fn learn(&mut self, read: BTreeMap<String, Placed>, is_wanted: impl Fn(&str) -> bool) {
        if self.known.len() + read.len() > MOST {
            self.known.retain(|id, _| is_wanted(id));
        }
        self.known.extend(read);
    }

    /// Whether there are more than are kept.
    pub fn is_too_large(&self) -> bool {
        self.known.len() > MOST
    }
}
