//! The rows of a search: where few sessions can match these are brought into order, and where many can, the sessions on the
//! list are tried one after another.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{Gather, READ_AT_ONCE};
use crate::search::find::{self, Hit, Tried};
use crate::search::lookup::{self, Few, Lookup};
use crate::search::query::Query;
use crate::sessions::cursor::Place;
use crate::sessions::list::Effort;
use crate::sessions::list::places::places;
use crate::sessions::walk::{self, Found, Walk};
use crate::storage::{Result, Storage, StorageError};
use crate::store::{Ids, Listed, Placed, Remembered, Session, is_behind};

/// How many are tried at a time, at first and at most.
const BATCHES: (usize, usize) = (64, 512);
/// How many are read at a time at least, of those that mostly match: however few rows the page still takes, some may not.
const LEAST_READ: usize = 8;
/// How many rows are read at a time.
const ROWS: usize = 128;

impl<S: Storage> Gather<'_, S> {
    /// The rows that a query finds behind a place, which is where the page before this one has ended.
    pub(super) fn searched(&mut self, query: &Query, behind: Option<(i64, &str)>) -> Result<()> {
        if self.is_walked {
            return self.walked(query, behind);
        }
        let Effort { rare, glanced, tried_first, near, few, sampled, .. } = self.effort;
        let list = (self.filter.fingerprint(), self.started);
        let known = behind.and_then(|behind| self.store.remembered(list, behind));
        if let Some((places, until)) = known {
            return self.matching_of(query, &places, until..places.len(), None);
        }
        // A word that hardly anybody holds is found at once, and one that most hold among the first that are tried. Only
        // between the two does it pay to look who holds it.
        let mut lookup = Lookup::new(self.store, &query.terms);
        match lookup.few_by_whole_words(rare)? {
            Few::Sessions(ids) => {
                let places = self.places(ids, behind)?;
                return self.matching_of(query, &places, 0..places.len(), Some(&lookup));
            }
            Few::Unsupported => return self.walked(query, behind),
            Few::Many => {}
        }
        let Some(mut reached) = self.tried(query, behind, tried_first, Some(glanced))? else { return Ok(()) };
        if self.rows.len().saturating_mul(near) >= self.wanted.saturating_mul(tried_first) {
            let Some(behind_those) = self.tried(query, Some(reached.behind()), near, None)? else { return Ok(()) };
            reached = behind_those;
        }
        let (Few::Sessions(ids), others) = lookup.few_of_one(few)? else {
            return self.walked(query, Some(reached.behind()));
        };
        let mut places = self.places(ids, Some(reached.behind()))?;
        let (first, found_before) = (sampled.min(places.len()), self.rows.len());
        self.matching_of(query, &places, 0..first, Some(&lookup))?;
        // Where most of them hold the other words too, to know who else does is worth less than to try those that are left.
        let are_mostly_found = 2 * (self.rows.len() - found_before) >= first;
        if !self.is_full() && !others.is_empty() && !are_mostly_found {
            self.narrow(&mut places, first, &mut lookup, others)?;
        }
        self.matching_of(query, &places, first..places.len(), Some(&lookup))?;
        let behind = Some((reached.recency, reached.id));
        self.store.remember(Remembered { list, behind, places });
        Ok(())
    }

    /// Tries one session after another, since nothing else is left.
    fn walked(&mut self, query: &Query, behind: Option<(i64, &str)>) -> Result<()> {
        self.is_walked = true;
        let Effort { most_tried, most_in_vain, .. } = self.effort;
        let mut tried = most_tried;
        let mut reached = self.tried(query, behind, most_tried, None)?;
        while self.rows.is_empty()
            && tried < most_in_vain
            && let Some(last) = &reached
        {
            tried += most_tried;
            reached = self.tried(query, Some(last.behind()), most_tried, None)?;
        }
        self.cut = reached.map(|last| Place::Tried { recency: last.recency, id: last.id });
        Ok(())
    }

    /// Those of the sessions that stand behind a row. The list may not show them all.
    fn places(&self, ids: Ids, behind: Option<(i64, &str)>) -> Result<Listed> {
        let places = places(self.store, &ids)?;
        let can_stand = |(id, placed): (&str, &Placed)| {
            placed.revision <= self.started
                && self.filter.can_stand_at(placed.recency)
                && behind.is_none_or(|behind| is_behind((placed.recency, id), behind))
        };
        let those = ids.iter().zip(places).enumerate().filter_map(|(at, (id, placed))| {
            placed.filter(|placed| can_stand((id, placed))).map(|placed| (placed.recency, at))
        });
        let those: Vec<(i64, usize)> = those.collect();
        Ok(Listed::new(ids, those))
    }

    /// Leaves of these, from one of them on, only those that may hold these terms too, where few do.
    fn narrow(&self, places: &mut Listed, from: usize, lookup: &mut Lookup<'_, S>, terms: Range<usize>) -> Result<()> {
        let most = self.effort.few.min(lookup::names_worth(places.len() - from));
        if let Few::Sessions(ids) = lookup.few(terms, most)? {
            places.retain_common(from, &ids);
        }
        Ok(())
    }

    /// Those of some of these that match, as many as the page takes.
    fn matching_of(
        &mut self,
        query: &Query,
        places: &Listed,
        mut some: Range<usize>,
        known: Option<&Lookup<'_, S>>,
    ) -> Result<()> {
        while !some.is_empty() && !self.is_full() {
            let most = (self.wanted - self.rows.len()).clamp(LEAST_READ, READ_AT_ONCE as usize);
            let batch = some.start..some.end.min(some.start + most);
            some.start = batch.end;
            let ids: Vec<String> = places.ids(batch).map(str::to_owned).collect();
            // What changed between the two reads is given at the end.
            let mut sessions = self.sessions(&ids)?;
            sessions.retain(|session| session.revision <= self.started && self.filter.admits(session));
            let hits = self.hits(query, &sessions, known)?;
            for (session, hit) in sessions.iter().zip(hits) {
                if let Some(hit) = hit.filter(|_| !self.is_full()) {
                    let place = Place::Row { recency: session.recency(), id: session.id.clone() };
                    self.push_session(session, place, Some((query, &hit)))?;
                }
            }
        }
        Ok(())
    }

    /// Tries the sessions on the list behind a row, no more than `most`, and no more than the first `glanced` where none of
    /// these matches. Returns the last that was tried, unless the page is full or the list at its end.
    fn tried(
        &mut self,
        query: &Query,
        behind: Option<(i64, &str)>,
        most: usize,
        mut glanced: Option<usize>,
    ) -> Result<Option<Last>> {
        let (first, largest) = BATCHES;
        let mut batch = glanced.unwrap_or(first);
        let found_before = self.rows.len();
        let mut walk = Walk::new(self.store, self.filter, behind, u32::try_from(most.min(ROWS)).unwrap_or(u32::MAX))?;
        let mut left = most;
        let mut last = None;
        while !self.is_full() {
            let mut candidates = Vec::new();
            while candidates.len() < batch.min(left) {
                let Some(found) = walk.next(self.store)? else { break };
                if let Some((recency, id)) = found.place().filter(|_| self.admits_found(&found)) {
                    candidates.push(Candidate { found, recency, id });
                }
            }
            let is_end = candidates.len() < batch.min(left);
            left -= candidates.len();
            if let Some(candidate) = candidates.last() {
                last = Some(Last { recency: candidate.recency, id: candidate.id.clone() });
            }
            self.push_matching(query, candidates)?;
            if is_end {
                return Ok(None);
            }
            let is_vain = glanced.take().is_some() && self.rows.len() == found_before;
            if left == 0 || is_vain {
                break;
            }
            batch = (batch * 2).clamp(first, largest);
        }
        Ok(last.filter(|_| !self.is_full()))
    }

    /// Adds those that match.
    fn push_matching(&mut self, query: &Query, mut candidates: Vec<Candidate>) -> Result<()> {
        let has_texts = !self.headings_only;
        let is_plain = |found: &Found| has_texts && found.head().is_some_and(|head| head.plain);
        let others: Vec<String> = candidates.iter().filter(|of| !is_plain(&of.found)).map(|of| of.id.clone()).collect();
        // What changed between the two reads is given at the end.
        let mut records = self.unchanged(&others)?;
        candidates.retain(|of| is_plain(&of.found) || records.contains_key(&of.id));
        let hits = if has_texts {
            let tried = candidates.iter().map(|of| records.get(&of.id).map_or(Tried::Plain(&of.id), Tried::Session));
            match find::hits(self.store, query, &tried.collect::<Vec<_>>(), None) {
                Err(StorageError::Unsupported) => {
                    self.headings_only = true;
                    return self.push_matching(query, candidates);
                }
                hits => hits?,
            }
        } else {
            find::heading_hits(query, candidates.iter().filter_map(|of| records.get(&of.id)))
        };
        let mut matching: Vec<(Candidate, Hit)> =
            candidates.into_iter().zip(hits).filter_map(|(of, hit)| Some((of, hit?))).collect();
        matching.truncate(self.wanted.saturating_sub(self.rows.len()));
        // A title is shown as the record has it, and what is in a log as the row that was read.
        let titled = matching.iter().filter(|(_, hit)| *hit == Hit::Heading).map(|(of, _)| of.id.clone());
        let titled: Vec<String> = titled.filter(|id| !records.contains_key(id)).collect();
        records.extend(self.unchanged(&titled)?);
        walk::read_rows(self.store, matching.iter_mut().map(|(of, _)| &mut of.found))?;
        for (of, hit) in matching {
            if self.is_full() {
                break;
            }
            let place = Place::Row { recency: of.recency, id: of.id.clone() };
            match (records.get(&of.id), &hit) {
                (Some(session), _) => self.push_session(session, place, Some((query, &hit)))?,
                (None, Hit::Entry { log, seq }) => {
                    let Some(row) = of.found.row().filter(|row| self.admits(&row.head, of.recency)) else { continue };
                    let found = find::describe_entry(self.store, query, log, *seq)?;
                    self.push(place, row, &of.id, Some(&found))?;
                }
                (None, Hit::Heading) => {}
            }
        }
        Ok(())
    }

    /// The records of these sessions that have not changed since the first page, by id.
    fn unchanged(&self, ids: &[String]) -> Result<BTreeMap<String, Session>> {
        let mut sessions = self.sessions(ids)?;
        sessions.retain(|session| session.revision <= self.started);
        Ok(sessions.into_iter().map(|session| (session.id.clone(), session)).collect())
    }
}

/// A session on the list.
struct Candidate {
    found: Found,
    recency: i64,
    id: String,
}

/// The last session that was tried.
struct Last {
    recency: i64,
    id: String,
}

impl Last {
    fn behind(&self) -> (i64, &str) {
        (self.recency, &self.id)
    }
}
