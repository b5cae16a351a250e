//! Listing sessions (protocol v1, `session/list`): last activity first, a page at a time.
//!
//! A page costs the page: rows come ready from the index, filters act before paging, and no transcript is opened.
//!
//! What changes while a client pages is taken care of by the revision at which it began. Sessions that have changed
//! since are passed over in the index, where they may have moved past the reader, and given at the end instead, in
//! the order of their changes. So a session that stays as it is comes exactly once, and one that changes at least
//! once.

use serde_json::json;

use super::cursor::{Cursor, Place};
use super::filter::{Filter, Request};
use super::walk::Walk;
use crate::search::find::{self, Hit, Match, Plan};
use crate::search::query::Query;
use crate::storage::{Bounds, Result as StorageResult, Storage, StorageError};
use crate::store::{Row, Session, Store, keys};

/// How many sessions a search tries at a time.
const TRIED_AT_ONCE: usize = 200;

/// What a list goes by besides the request.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The rows in a page of a plain request.
    pub page_size: u32,
}

/// Why there is no list.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ListError {
    /// A field of the request is wrong.
    #[error("`{field}` {message}")]
    Invalid {
        /// Which.
        field: String,
        /// In what way.
        message: String,
    },
    /// The store failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl ListError {
    pub(super) fn invalid(field: &str, message: impl Into<String>) -> Self {
        Self::Invalid { field: field.to_owned(), message: message.into() }
    }
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Each a `SessionInfo` as JSON.
    pub rows: Vec<String>,
    /// Where to go on, if there is more.
    pub next_cursor: Option<String>,
}

/// Answers the params of a `session/list` with the JSON of its result.
pub fn list<S: Storage>(store: &Store<S>, options: &Options, params: Option<&str>) -> Result<String, ListError> {
    let request = Request::read(params, options.page_size)?;
    let page = page(store, &request)?;
    let size = page.rows.iter().map(|row| row.len() + 1).sum::<usize>();
    let mut result = String::with_capacity(size + 128);
    result.push_str("{\"sessions\":[");
    for (at, row) in page.rows.iter().enumerate() {
        if at > 0 {
            result.push(',');
        }
        result.push_str(row);
    }
    result.push(']');
    if let Some(cursor) = page.next_cursor {
        result.push_str(",\"nextCursor\":\"");
        result.push_str(&cursor);
        result.push('"');
    }
    result.push('}');
    Ok(result)
}

/// One page.
pub fn page<S: Storage>(store: &Store<S>, request: &Request) -> Result<Page, ListError> {
    let fingerprint = request.filter.fingerprint();
    let cursor = match &request.cursor {
        None => None,
        Some(text) => Some(Cursor::decode(text).filter(|cursor| cursor.filter == fingerprint).ok_or_else(|| {
            ListError::invalid(
                "cursor",
                "is damaged, of another version, or was made with other filters: start over without a cursor",
            )
        })?),
    };
    let started = match &cursor {
        Some(cursor) => cursor.started,
        None => store.revision()?,
    };
    let mut lister = Lister {
        store,
        filter: &request.filter,
        started,
        draft: request.draft_rows,
        // One more than is given tells whether there are more.
        wanted: request.limit as usize + 1,
        rows: Vec::new(),
    };
    let place = cursor.map(|cursor| cursor.place);
    lister.fill(place.as_ref())?;
    let mut rows = lister.rows;
    let more = rows.len() > request.limit as usize;
    rows.truncate(request.limit as usize);
    let next_cursor = rows
        .last()
        .filter(|_| more)
        .map(|(place, _)| Cursor { filter: fingerprint, started, place: place.clone() }.encode());
    Ok(Page { rows: rows.into_iter().map(|(_, json)| json).collect(), next_cursor })
}

/// A page in the making.
struct Lister<'a, S> {
    store: &'a Store<S>,
    filter: &'a Filter,
    started: u64,
    draft: bool,
    wanted: usize,
    rows: Vec<(Place, String)>,
}

impl<S: Storage> Lister<'_, S> {
    fn fill(&mut self, place: Option<&Place>) -> StorageResult<()> {
        let plan = self.filter.search.as_ref().map(|query| find::plan(self.store, query)).transpose()?;
        let search = self.filter.search.as_ref().zip(plan.as_ref());
        let behind = match place {
            None => None,
            Some(Place::Row { updated, id }) => Some((*updated, id.as_str())),
            Some(Place::Changed { revision }) => return self.changed(*revision, search),
        };
        match search {
            None => self.unsearched(behind)?,
            Some((query, Plan::Among(ids))) => self.among(ids, query, search, behind)?,
            Some((query, plan)) => self.tried_in_order(query, plan, behind)?,
        }
        self.changed(self.started, search)
    }

    fn is_full(&self) -> bool {
        self.rows.len() >= self.wanted
    }

    /// Rows straight from the index.
    fn unsearched(&mut self, behind: Option<(i64, &str)>) -> StorageResult<()> {
        let batch = u32::try_from(self.wanted).unwrap_or(u32::MAX);
        let mut walk = Walk::new(self.filter, behind, batch);
        while !self.is_full()
            && let Some(found) = walk.next(self.store)?
        {
            let Some(row) = found.row() else { continue };
            if row.revision > self.started || !self.filter.admits_row(&row) {
                continue;
            }
            let Some((updated, id)) = found.place() else { continue };
            let json = shown(row, None, self.draft);
            self.rows.push((Place::Row { updated, id }, json));
        }
        Ok(())
    }

    /// The few sessions that can match, brought into order.
    fn among(
        &mut self,
        ids: &[String],
        query: &Query,
        search: Option<(&Query, &Plan)>,
        behind: Option<(i64, &str)>,
    ) -> StorageResult<()> {
        let mut sessions = self.sessions(ids)?;
        sessions.retain(|session| session.revision <= self.started && self.filter.admits(session));
        sessions.sort_by_cached_key(|session| std::cmp::Reverse(keys::row_place(session.updated, &session.id)));
        if let Some((updated, id)) = behind {
            let place = keys::row_place(updated, id);
            sessions.retain(|session| keys::row_place(session.updated, &session.id) < place);
        }
        let Some((_, plan)) = search else { return Ok(()) };
        for batch in sessions.chunks(TRIED_AT_ONCE) {
            if self.is_full() {
                break;
            }
            self.push_matching(query, plan, batch)?;
        }
        Ok(())
    }

    /// So many can match that the list is walked and each session on it tried.
    fn tried_in_order(&mut self, query: &Query, plan: &Plan, behind: Option<(i64, &str)>) -> StorageResult<()> {
        let batch = u32::try_from(TRIED_AT_ONCE).unwrap_or(u32::MAX);
        let mut walk = Walk::new(self.filter, behind, batch);
        let mut exhausted = false;
        while !self.is_full() && !exhausted {
            let mut ids = Vec::new();
            while ids.len() < TRIED_AT_ONCE {
                let Some(found) = walk.next(self.store)? else {
                    exhausted = true;
                    break;
                };
                let Some(row) = found.row() else { continue };
                if row.revision <= self.started && self.filter.admits_row(&row) {
                    ids.extend(found.place().map(|(_, id)| id));
                }
            }
            // What changed between the two reads is given at the end.
            let mut sessions = self.sessions(&ids)?;
            sessions.retain(|session| session.revision <= self.started);
            self.push_matching(query, plan, &sessions)?;
        }
        Ok(())
    }

    fn push_matching(&mut self, query: &Query, plan: &Plan, sessions: &[Session]) -> StorageResult<()> {
        let hits = find::hits(self.store, query, plan, sessions)?;
        for (session, hit) in sessions.iter().zip(hits) {
            if let Some(hit) = hit.filter(|_| !self.is_full()) {
                let place = Place::Row { updated: session.updated, id: session.id.clone() };
                self.push_session(session, place, Some((query, &hit)))?;
            }
        }
        Ok(())
    }

    fn push_session(&mut self, session: &Session, place: Place, hit: Option<(&Query, &Hit)>) -> StorageResult<()> {
        let found = hit.map(|(query, hit)| find::describe(self.store, query, session, hit)).transpose()?;
        let text = Row::text(session);
        if let Some(row) = Row::parse(&text) {
            self.rows.push((place, shown(row, found.as_ref(), self.draft)));
        }
        Ok(())
    }

    /// The sessions that were there when the first page was read and have changed since.
    fn changed(&mut self, behind: u64, search: Option<(&Query, &Plan)>) -> StorageResult<()> {
        let mut start = format!("t/{:016}", behind.saturating_add(1));
        let bounds = Bounds { limit: 256, max_bytes: 64 * 1024 };
        let mut more = true;
        while more && !self.is_full() {
            let page = self.store.storage().scan(&start, &keys::range_end("t/"), false, bounds)?;
            more = page.more;
            let Some(last) = page.entries.last() else { break };
            // The least key after it.
            start = format!("{}\u{0}", last.key);
            let changed: Vec<(u64, String)> =
                page.entries.iter().filter_map(|entry| changed_place(&entry.key)).collect();
            let ids: Vec<String> = changed.iter().map(|(_, id)| id.clone()).collect();
            let mut sessions = self.sessions(&ids)?;
            sessions.retain(|session| session.born <= self.started && self.filter.admits(session));
            let hits = match search {
                Some((query, plan)) => find::hits(self.store, query, plan, &sessions)?,
                None => Vec::new(),
            };
            for (at, session) in sessions.iter().enumerate() {
                let hit = search.map(|(query, _)| query).zip(hits.get(at).and_then(Option::as_ref));
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

    fn sessions(&self, ids: &[String]) -> StorageResult<Vec<Session>> {
        let keys: Vec<String> = ids.iter().map(|id| keys::session(id)).collect();
        self.store.storage().get(&keys)?.iter().flatten().map(|text| Session::parse(text)).collect()
    }
}

/// Revision and session of an entry in the order of changes.
fn changed_place(key: &str) -> Option<(u64, String)> {
    let (revision, id) = key.strip_prefix("t/")?.split_once('/')?;
    Some((revision.parse().ok()?, keys::decode(id)?))
}

/// A row as sent: with where it matched, and in the draft's shape where that was asked for.
fn shown(row: Row<'_>, found: Option<&Match>, draft: bool) -> String {
    let mut json = row.json.to_owned();
    if let Some(found) = found {
        let found = json!({ "in": found.place, "snippet": found.snippet });
        json.truncate(json.len() - 3);
        json.push_str(",\"match\":");
        json.push_str(&found.to_string());
        json.push_str("}}}");
    }
    if draft {
        let created = crate::time::format(row.created);
        json.insert_str(1, &format!("\"createdAt\":\"{created}\","));
    }
    json
}
