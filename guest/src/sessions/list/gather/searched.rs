//! The rows of a search: where few sessions can match these are brought into order, and where many can, the sessions on the
//! list are tried one after another.

use std::collections::BTreeMap;

use super::{Gather, READ_AT_ONCE};
use crate::search::find::{self, Few, Hit, Tried};
use crate::search::ids::Ids;
use crate::search::query::Query;
use crate::sessions::cursor::Place;
use crate::sessions::list::Effort;
use crate::sessions::list::places::places;
use crate::sessions::walk::{self, Found, Walk};
use crate::storage::{Result, Storage, StorageError, TextTerm};
use crate::store::{Remembered, Session, keys};

/// How many are tried at a time, at first and at most.
const BATCHES: (usize, usize) = (64, 512);
/// How many rows are read at a time.
const ROWS: usize = 128;

impl<S: Storage> Gather<'_, S> {
    /// The rows that a query finds behind a place, which is where the page before this one has ended.
    pub(super) fn searched(&mut self, query: &Query, behind: Option<(i64, &str)>) -> Result<()> {
        if self.is_walked {
            return self.walked(query, behind);
        }
        let Effort { rare, tried_first, near, few, sampled, .. } = self.effort;
        let list = (self.filter.fingerprint(), self.started);
        let known = behind.and_then(|behind| self.store.remembered(list, behind));
        if let Some(places) = known {
            return self.matching_of(query, &places);
        }
        // A word that hardly anybody holds is found at once, and one that most hold among the first that are tried. Only
        // between the two does it pay to look who holds it.
        match find::few_by_whole_words(self.store, &query.terms, rare)? {
            Few::Sessions(ids) => {
                let places = self.places(ids, behind)?;
                return self.matching_of(query, &places);
            }
            Few::Unsupported => return self.walked(query, behind),
            Few::Many => {}
        }
        let Some(mut reached) = self.tried(query, behind, tried_first)? else { return Ok(()) };
        if self.rows.len().saturating_mul(near) >= self.wanted.saturating_mul(tried_first) {
            let Some(behind_those) = self.tried(query, Some(reached.behind()), near)? else { return Ok(()) };
            reached = behind_those;
        }
        let (Few::Sessions(ids), others) = find::few_of_one(self.store, &query.terms, few)? else {
            return self.walked(query, Some(reached.behind()));
        };
        let mut places = self.places(ids, Some(reached.behind()))?;
        let (first, found_before) = (sampled.min(places.len()), self.rows.len());
        self.matching_of(query, &places[..first])?;
        // Where most of them hold the other words too, to know who else does is worth less than to try those that are left.
        let are_mostly_found = 2 * (self.rows.len() - found_before) >= first;
        if !self.is_full() && !others.is_empty() && !are_mostly_found {
            self.narrow(&mut places, first, others)?;
        }
        self.matching_of(query, &places[first..])?;
        let behind = Some((reached.recency, reached.id));
        self.store.remember(Remembered { list, behind, places });
        Ok(())
    }

    /// Tries one session after another, since nothing else is left.
    fn walked(&mut self, query: &Query, behind: Option<(i64, &str)>) -> Result<()> {
        self.is_walked = true;
        let Effort { most_tried, most_in_vain, .. } = self.effort;
        let mut tried = most_tried;
        let mut reached = self.tried(query, behind, most_tried)?;
        while self.rows.is_empty()
            && tried < most_in_vain
            && let Some(last) = &reached
        {
            tried += most_tried;
            reached = self.tried(query, Some(last.behind()), most_tried)?;
        }
        self.cut = reached.map(|last| Place::Tried { recency: last.recency, id: last.id });
        Ok(())
    }

    /// Recency and ids of those of the sessions that stand behind a row, in the list's order. The list may not show them all.
    fn places(&self, ids: Ids, behind: Option<(i64, &str)>) -> Result<Vec<(i64, String)>> {
        let compare = |a: (i64, &str), b: (i64, &str)| keys::compare_places(a, b);
        let mut places = places(self.store, ids)?;
        places.retain(|(id, placed)| {
            let stands_behind = |from| compare((placed.recency, id), from).is_lt();
            placed.revision <= self.started
                && self.filter.can_stand_at(placed.recency)
                && behind.is_none_or(stands_behind)
        });
        let mut places: Vec<_> = places.into_iter().map(|(id, placed)| (placed.recency, id)).collect();
        places.sort_unstable_by(|a, b| compare((b.0, &b.1), (a.0, &a.1)));
        Ok(places)
    }

    /// Leaves of these, from one of them on, only those that may hold these terms too, where few do.
    fn narrow(&self, places: &mut Vec<(i64, String)>, from: usize, terms: &[TextTerm]) -> Result<()> {
        let left = places.split_off(from);
        let most = self.effort.few.min(find::names_worth(left.len()));
        match find::few(self.store, terms, most)? {
            Few::Sessions(ids) => places.extend(left.into_iter().filter(|(_, id)| ids.contains(id))),
            Few::Many | Few::Unsupported => places.extend(left),
        }
        Ok(())
    }

    /// Those of these that match, as many as the page takes.
    fn matching_of(&mut self, query: &Query, places: &[(i64, String)]) -> Result<()> {
        for batch in places.chunks(READ_AT_ONCE as usize) {
            if self.is_full() {
                break;
            }
            let ids: Vec<String> = batch.iter().map(|(_, id)| id.clone()).collect();
            // What changed between the two reads is given at the end.
            let mut sessions = self.sessions(&ids)?;
            sessions.retain(|session| session.revision <= self.started && self.filter.admits(session));
            let hits = self.hits(query, &sessions)?;
            for (session, hit) in sessions.iter().zip(hits) {
                if let Some(hit) = hit.filter(|_| !self.is_full()) {
                    let place = Place::Row { recency: session.recency(), id: session.id.clone() };
                    self.push_session(session, place, Some((query, &hit)))?;
                }
            }
        }
        Ok(())
    }

    /// Tries the sessions on the list behind a row, no more than `most`. Returns the last that was tried, unless the page
    /// is full or the list at its end.
    fn tried(&mut self, query: &Query, behind: Option<(i64, &str)>, most: usize) -> Result<Option<Last>> {
        let (mut batch, largest) = BATCHES;
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
            if left == 0 {
                break;
            }
            batch = (batch * 2).min(largest);
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
            match find::hits(self.store, query, &tried.collect::<Vec<_>>()) {
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
