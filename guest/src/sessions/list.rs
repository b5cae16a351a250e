//! Listing sessions (protocol v1, `session/list`): the last prompted first, a page at a time. Where it is not known when a
//! session was prompted it stands by its last activity (draft: session list extensions).
//!
//! A list is of the sessions of one agent or of all. A page costs the page: rows come ready from the index, filters act
//! before paging, and no transcript is opened. A page ends early where its rows would make its line too long, and in a
//! search where it would take too long.
//!
//! What changes while a client pages is taken care of by the revision at which it began. Sessions that have changed
//! since are passed over in the index, where they may have moved past the reader, and given at the end instead, in
//! the order of their changes. So a session that stays as it is comes exactly once, and one that changes at least
//! once.

mod effort;
mod error;
mod gather;
mod options;
mod places;

use super::changes::Changed;
use super::cursor::Cursor;
use super::filter::{Request, View, Worktrees};
use super::states::SaidStates;
use crate::storage::Storage;
use crate::store::Store;
use gather::{Gather, Gathered};

pub use super::filter::Agents;
pub use effort::Effort;
pub use error::ListError;
pub use options::Options;

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Each a `SessionInfo` as JSON.
    pub rows: Vec<String>,
    /// Where to go on, if there is more.
    pub next_cursor: Option<String>,
}

/// The answer to a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The result as JSON.
    pub result: String,
    /// What it says is being done in sessions.
    pub states: SaidStates,
}

/// Answers the params of a `session/list` with the JSON of its result, where no folder has worktrees.
pub fn list<S: Storage>(store: &Store<S>, options: &Options, params: Option<&str>) -> Result<String, ListError> {
    list_with(store, options, Effort::default(), &|_| Some(Vec::new()), params)
}

/// Answers the params of a `session/list` with this effort and these worktrees; without any where they are not known
/// yet.
pub fn list_with<S: Storage>(
    store: &Store<S>,
    options: &Options,
    effort: Effort,
    worktrees: Worktrees<'_>,
    params: Option<&str>,
) -> Result<String, ListError> {
    let mut request = Request::read_for(params, options)?;
    request.find(worktrees);
    Ok(answer(store, &request, effort)?.result)
}

/// The answer to a request.
pub fn answer<S: Storage>(store: &Store<S>, request: &Request, effort: Effort) -> Result<Answer, ListError> {
    let (page, states) = page_with(store, request, effort)?;
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
    Ok(Answer { result, states })
}

/// The row of a session as it is now, a `SessionInfo` as JSON; none where its record makes none.
pub fn row(changed: &Changed, view: View) -> Option<String> {
    gather::row_of(&changed.session, changed.state, view)
}

/// One page.
pub fn page<S: Storage>(store: &Store<S>, request: &Request) -> Result<Page, ListError> {
    Ok(page_with(store, request, Effort::default())?.0)
}

fn page_with<S: Storage>(store: &Store<S>, request: &Request, effort: Effort) -> Result<(Page, SaidStates), ListError> {
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
    let place = cursor.map(|cursor| cursor.place);
    let gathered = loop {
        let layout = store.layout()?;
        let gathered = Gather::new(store, request, effort, started).page(place.as_ref())?;
        // While a store of an earlier version is brought up to date, a row may go from where is still to be looked to
        // where has been looked already. It has not if nothing was moved meanwhile.
        if store.layout()? == layout {
            break gathered;
        }
    };
    let Gathered { rows, next, states } = gathered;
    let next_cursor = next.map(|place| Cursor { filter: fingerprint, started, place, fields: request.fields }.encode());
    Ok((Page { rows, next_cursor }, states))
}
