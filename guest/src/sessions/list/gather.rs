//! Gathering the rows of a page.

mod searched;

use serde_json::json;

use crate::search::find::{self, Hit, Match, Tried};
use crate::search::lookup::Lookup;
use crate::search::query::Query;
use crate::sessions::cursor::Place;
use crate::sessions::filter::{Filter, Request, View};
use crate::sessions::list::Effort;
use crate::sessions::states::{AgentsWords, SaidStates, StatesSince};
use crate::sessions::walk::{self, Found, Walk};
use crate::storage::{Bounds, Result, Storage, StorageError};
use crate::store::{ActivityState, Row, RowHead, Session, Store, keys};

/// How many records are read at a time: they may be large, and few are shown.
const READ_AT_ONCE: u32 = 32;
/// The most bytes of rows in a page of more than one row: what else there is on its line has room in a mebibyte.
const MOST_BYTES: usize = (1024 - 16) * 1024;

/// A page that is made.
pub(super) struct Gathered {
    /// As many rows as it takes.
    pub(super) rows: Vec<String>,
    /// Where there are more.
    pub(super) next: Option<Place>,
    /// What the rows say is being done in their sessions, by id, if they say such things.
    pub(super) states: SaidStates,
}

/// A page in the making.
pub(super) struct Gather<'a, S> {
    store: &'a Store<S>,
    filter: &'a Filter,
    started: u64,
    effort: Effort,
    view: View,
    wanted: usize,
    rows: Vec<(Place, String)>,
    /// What they say is being done in their sessions, if rows show it.
    said: SaidStates,
    /// Of the rows, each with its comma.
    bytes: usize,
    /// Where the page ends although it has room: what is behind that is not looked at for now.
    cut: Option<Place>,
    /// Whether nothing is left but to try all sessions.
    is_walked: bool,
    /// Whether only titles and metadata can be searched.
    headings_only: bool,
    /// What is being done in sessions, where rows show it; read before the first of them.
    states: Option<StatesSince<'a>>,
    agents_words: &'a AgentsWords,
}

impl<'a, S: Storage> Gather<'a, S> {
    pub(super) fn new(store: &'a Store<S>, request: &'a Request, effort: Effort, started: u64) -> Self {
        Self {
            store,
            filter: &request.filter,
            started,
            effort,
            view: request.view,
            // One more than is given tells whether there are more.
            wanted: request.limit as usize + 1,
            rows: Vec::new(),
            said: Vec::new(),
            bytes: 0,
            cut: None,
            is_walked: false,
            headings_only: false,
            states: None,
            agents_words: &request.agents_words,
        }
    }

    /// The rows behind a place, as many as the page takes, and where there are more.
    pub(super) fn page(mut self, behind: Option<&Place>) -> Result<Gathered> {
        if self.view.extended {
            let states =
                StatesSince::read_since(self.store, self.started, self.view.now, self.agents_words, self.wanted)?;
            self.states = Some(states);
        }
        self.fill(behind)?;
        let next = if self.is_full() {
            self.rows.pop();
            let last = self.rows.last().map(|(place, _)| place.clone());
            last.map(|place| match place {
                Place::Row { recency, id } if self.is_walked => Place::Tried { recency, id },
                place => place,
            })
        } else {
            self.cut
        };
        self.said.truncate(self.rows.len());
        let rows = self.rows.into_iter().map(|(_, json)| json).collect();
        Ok(Gathered { rows, next, states: self.said })
    }

    fn fill(&mut self, place: Option<&Place>) -> Result<()> {
        let query = self.filter.search.as_ref();
        let behind = match place {
            None => None,
            Some(Place::Row { recency, id } | Place::Tried { recency, id }) => Some((*recency, id.as_str())),
            Some(Place::Changed { revision }) => return self.changed(*revision),
        };
        self.is_walked = matches!(place, Some(Place::Tried { .. }));
        match query {
            None => self.unsearched(behind)?,
            Some(query) => self.searched(query, behind)?,
        }
        if self.cut.is_some() { Ok(()) } else { self.changed(self.started) }
    }

    /// Whether there is a row more than the page takes. It always takes one, however large.
    fn is_full(&self) -> bool {
        self.rows.len() >= self.wanted || (self.rows.len() > 1 && self.bytes > MOST_BYTES)
    }

    /// Adds a row, with where it matched.
    fn push(&mut self, place: Place, row: Row<'_>, id: &str, found: Option<&Match>) -> Result<()> {
        let state = self.state(id, row.head.revision)?;
        let json = shown(row, state, found, self.view);
        self.bytes += json.len() + 1;
        self.rows.push((place, json));
        if self.states.is_some() {
            self.said.push((id.to_owned(), state));
        }
        Ok(())
    }

    /// What was being done in a session when its record was the one of this revision, if rows show it and anybody knows.
    fn state(&self, id: &str, revision: u64) -> Result<Option<ActivityState>> {
        self.states.as_ref().map_or(Ok(None), |states| states.at(self.store, id, revision))
    }

    /// Rows straight from the index.
    fn unsearched(&mut self, behind: Option<(i64, &str)>) -> Result<()> {
        let batch = u32::try_from(self.wanted).unwrap_or(u32::MAX);
        let mut walk = Walk::new(self.store, self.filter, behind, batch)?;
        let mut exhausted = false;
        while !self.is_full() && !exhausted {
            let mut batch = Vec::new();
            while batch.len() < self.wanted - self.rows.len() {
                let Some(found) = walk.next(self.store)? else {
                    exhausted = true;
                    break;
                };
                if self.admits_found(&found) {
                    batch.push(found);
                }
            }
            walk::read_rows(self.store, &mut batch)?;
            for found in &batch {
                let Some((recency, id)) = found.place().filter(|_| !self.is_full()) else { continue };
                let Some(row) = found.row().filter(|row| self.admits(&row.head, recency)) else { continue };
                self.push(Place::Row { recency, id: id.clone() }, row, &id, None)?;
            }
        }
        Ok(())
    }

    /// Whether a row is to be shown where it stands. What has changed since the first page is given at the end.
    fn admits(&self, head: &RowHead, recency: i64) -> bool {
        head.revision <= self.started && self.filter.admits_row(head, recency)
    }

    /// Whether a row is to be shown of which perhaps only the beginning was read.
    fn admits_found(&self, found: &Found) -> bool {
        let stands = found.place().map(|(recency, _)| recency);
        found.head().zip(stands).is_some_and(|(head, recency)| self.admits(&head, recency))
    }

    fn push_session(&mut self, session: &Session, place: Place, hit: Option<(&Query, &Hit)>) -> Result<()> {
        let found = hit.map(|(query, hit)| find::describe(self.store, query, session, hit)).transpose()?;
        let text = Row::text(session);
        match Row::parse(&text) {
            Some(row) => self.push(place, row, &session.id, found.as_ref()),
            None => Ok(()),
        }
    }

    /// The sessions that were there when the first page was read and have changed since.
    fn changed(&mut self, behind: u64) -> Result<()> {
        let search = self.filter.search.as_ref();
        let mut start = keys::changed(behind.saturating_add(1), "");
        let bounds = Bounds { limit: READ_AT_ONCE, max_bytes: 64 * 1024 };
        let mut more = true;
        while more && !self.is_full() {
            let page = self.store.storage().scan(&start, &keys::range_end(keys::CHANGES), false, bounds)?;
            more = page.more;
            let Some(last) = page.entries.last() else { break };
            // The least key after it.
            start = format!("{}\u{0}", last.key);
            let changed: Vec<(u64, String)> =
                page.entries.iter().filter_map(|entry| keys::changed_place(&entry.key)).collect();
            let ids: Vec<String> = changed.iter().map(|(_, id)| id.clone()).collect();
            if let Some(states) = &self.states {
                self.states = Some(states.read_again(self.store, self.wanted)?);
            }
            let mut sessions = self.sessions(&ids)?;
            sessions.retain(|session| session.born <= self.started && self.filter.admits(session));
            let hits = match search {
                Some(query) => self.hits(query, &sessions, None)?,
                None => Vec::new(),
            };
            for (at, session) in sessions.iter().enumerate() {
                let hit = search.zip(hits.get(at).and_then(Option::as_ref));
                if (search.is_none() || hit.is_some()) && !self.is_full() {
                    // Not the session's own revision: one that changed again between the two reads must not hide
                    // those that it overtook.
                    let revision =
                        changed.iter().find(|(_, id)| *id == session.id).map_or(0, |(revision, _)| *revision);
                    self.push_session(session, Place::Changed { revision }, hit)?;
                }
            }
        }
        Ok(())
    }

    /// For each session whether it matches, and where. Who holds a term may be known of sessions that have not changed since.
    fn hits(&mut self, query: &Query, sessions: &[Session], known: Option<&Lookup<'_, S>>) -> Result<Vec<Option<Hit>>> {
        if !self.headings_only {
            let tried: Vec<Tried<'_>> = sessions.iter().map(Tried::Session).collect();
            match find::hits(self.store, query, &tried, known) {
                Err(StorageError::Unsupported) => self.headings_only = true,
                hits => return hits,
            }
        }
        Ok(find::heading_hits(query, sessions))
    }

    fn sessions(&self, ids: &[String]) -> Result<Vec<Session>> {
        let mut sessions = Vec::with_capacity(ids.len());
        for ids in ids.chunks(READ_AT_ONCE as usize) {
            let keys: Vec<String> = ids.iter().map(|id| keys::session(id)).collect();
            for text in self.store.storage().get(&keys)?.iter().flatten() {
                sessions.push(Session::parse(text)?);
            }
        }
        Ok(sessions)
    }
}

/// The row of a session that is as this record has it; none where that cannot be.
pub(super) fn row_of(session: &Session, state: Option<ActivityState>, view: View) -> Option<String> {
    Some(shown(Row::parse(&Row::text(session))?, state, None, view))
}

/// A row as sent: with where it matched, and with what the client asked for.
fn shown(row: Row<'_>, state: Option<ActivityState>, found: Option<&Match>, view: View) -> String {
    let mut json = if view.extended { row.extended(state) } else { row.json.to_owned() };
    if let Some(found) = found {
        let found = json!({ "in": found.place, "snippet": found.snippet });
        json.truncate(json.len() - 3);
        json.push_str(",\"match\":");
        json.push_str(&found.to_string());
        json.push_str("}}}");
    }
    if view.created_at {
        let created = crate::time::format(row.head.created);
        json.insert_str(1, &format!("\"createdAt\":\"{created}\","));
    }
    json
}
