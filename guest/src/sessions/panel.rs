//! What somebody does to sessions who has no connection: a panel of an editor, a program. The `sessions` interface of
//! `wit/world.wit` in the types of this crate; limits and the form of times are told there.

mod error;
mod session;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};
use serde_json::json;

pub use error::SessionError;
pub use session::Session;

use super::archive;
use super::changes::{News, Position, Scope, SomeChanges};
use super::filter::{Found, Request, Worktrees};
use super::given_back::{self, Looker};
use super::list;
use super::permissions::{self, PermissionPage};
use super::relocate::{self, Relocate, Relocations};
use super::rename::{self, RenameError};
use super::retention::{self, Prune};
use super::states;
use super::transcript::{self, TranscriptPage};
use super::turn_usage::{self, TurnUsagePage};
use super::usage::{self, UsagePage};
use crate::storage::Storage;
use crate::store::{Store, directory, whole_row};
use crate::time;

/// What a list does with archived sessions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArchivedSessions {
    /// They are left out.
    #[default]
    Hidden,
    /// They are among the others.
    Shown,
    /// The others are left out.
    Only,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

/// What a list is asked for: all that is given must hold. Times are RFC 3339; the bounds themselves are left out.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct ListCriteria {
    /// Exactly these directories; all where none is named.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cwds: Vec<String>,
    /// Created later than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_after: Option<String>,
    /// Created earlier than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub created_before: Option<String>,
    /// With activity later than this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_after: Option<String>,
    /// Holding these words and phrases.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub search: Option<String>,
    /// Archived or not.
    #[serde(skip_serializing_if = "is_default")]
    pub archived: ArchivedSessions,
    /// With the sessions that other sessions started.
    #[serde(skip_serializing_if = "is_default")]
    pub subagents: bool,
    /// With those of the corresponding directories in other worktrees.
    #[serde(skip_serializing_if = "is_default")]
    pub include_worktrees: bool,
}

/// A page of sessions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Page {
    /// In the order of the list.
    pub sessions: Vec<Session>,
    /// For the next page; none at the end.
    pub next_cursor: Option<String>,
}

/// What has changed in a list.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Changes {
    /// Each as it is now.
    pub sessions: Vec<Session>,
    /// Those that are not in the list any more.
    pub removed: Vec<String>,
    /// To go on from.
    pub position: String,
    /// Whether there is more at once.
    pub more: bool,
    /// The list is to be read anew.
    pub read_again: bool,
}

/// The last prompted first, or active where no prompt is known of; at most `limit` sessions, from 1 to 1000.
pub fn list_sessions<S: Storage>(
    store: &Store<S>,
    worktrees: Worktrees<'_>,
    criteria: &ListCriteria,
    limit: u32,
    cursor: Option<&str>,
    now: i64,
) -> Result<Page, SessionError> {
    let request = request(worktrees, criteria, limit, cursor, now)?;
    Ok(list::page(store, &request)?.into())
}

/// The one reader of requests serves here too, so that both ways in mean the same.
fn request(
    worktrees: Worktrees<'_>,
    criteria: &ListCriteria,
    limit: u32,
    cursor: Option<&str>,
    now: i64,
) -> Result<Request, SessionError> {
    let archived = match criteria.archived {
        ArchivedSessions::Hidden => "exclude",
        ArchivedSessions::Shown => "include",
        ArchivedSessions::Only => "only",
    };
    let params = json!({
        "cursor": cursor,
        "archived": archived,
        "includeWorktrees": criteria.include_worktrees,
        "_meta": { "acp-sessions": {
            "createdAfter": criteria.created_after,
            "createdBefore": criteria.created_before,
            "updatedAfter": criteria.updated_after,
            "search": criteria.search,
            "subagents": criteria.subagents,
            "limit": limit,
        } },
    });
    let mut request = Request::read(Some(&params.to_string()), limit, now)?;
    request.look_in(&criteria.cwds)?;
    match request.find(worktrees) {
        Found::Same | Found::Others => Ok(request),
        Found::NotYet => Err(SessionError::NotYet("which worktrees there are is not known yet: ask again".to_owned())),
    }
}

/// What has changed in a list since a position.
pub fn changes_since<S: Storage>(
    store: &Store<S>,
    worktrees: Worktrees<'_>,
    criteria: &ListCriteria,
    position: Option<&str>,
    now: i64,
) -> Result<Changes, SessionError> {
    let scope = Scope::of(&request(worktrees, criteria, 1, None, now)?)?;
    let told = |position: &Position, step: &SomeChanges| {
        let News { rows, removed } = scope.news(step);
        let sessions = rows.iter().map(|row| Session::of_row(&row.json)).collect();
        let (more, read_again) = (!step.is_over, step.is_to_be_read_anew);
        Changes { sessions, removed, position: position.to_text(), more, read_again }
    };
    let Some(position) = position else {
        let nothing = SomeChanges { is_over: true, ..SomeChanges::default() };
        return Ok(told(&Position::begin(store, &scope, now)?, &nothing));
    };
    let no_place = || SessionError::invalid(&"`position` is damaged, or of another version: begin without one");
    let mut position = Position::read_from(position).ok_or_else(no_place)?;
    let step = position.step(store, &scope, now)?;
    Ok(told(&position, &step))
}

/// One session, with all of its metadata.
pub fn session<S: Storage>(store: &Store<S>, id: &str, now: i64) -> Result<Session, SessionError> {
    let session = store.session(id)?.ok_or_else(|| SessionError::NotFound(id.to_owned()))?;
    let state = states::state(store, id, now)?;
    Ok(Session::of_row(&whole_row(&session, state)))
}

/// About `limit` updates after a cursor. What was left waiting for its session by a process that is gone is a part of it.
pub fn transcript<S: Storage>(
    store: &Store<S>,
    id: &str,
    after: Option<&str>,
    limit: u32,
    now: i64,
) -> Result<TranscriptPage, SessionError> {
    // Where that cannot be written, what is there can be read.
    let (own, lost) = (BTreeSet::new(), BTreeSet::new());
    let _ = given_back::give_back(store, id, Looker { connection: None, own: &own, lost: &lost }, now);
    transcript::transcript(store, id, after, limit).map_err(|error| SessionError::of_transcript(id, error))
}

/// About `limit` updates after a cursor of what was taken out of the conversation.
pub fn set_aside<S: Storage>(
    store: &Store<S>,
    id: &str,
    after: Option<&str>,
    limit: u32,
) -> Result<TranscriptPage, SessionError> {
    transcript::set_aside(store, id, after, limit).map_err(|error| SessionError::of_transcript(id, error))
}

/// What sessions have used, of at most `limit` sessions after a cursor.
pub fn list_usage<S: Storage>(store: &Store<S>, limit: u32, cursor: Option<&str>) -> Result<UsagePage, SessionError> {
    Ok(usage::usage(store, cursor, limit)?)
}

/// What was used in at most `limit` turns of a session.
pub fn turn_usage<S: Storage>(
    store: &Store<S>,
    id: &str,
    after: Option<&str>,
    limit: u32,
) -> Result<TurnUsagePage, SessionError> {
    turn_usage::turn_usage(store, id, after, limit).map_err(|error| SessionError::of_transcript(id, error))
}

/// At most `limit` permissions that were asked for in a session.
pub fn permissions<S: Storage>(
    store: &Store<S>,
    id: &str,
    after: Option<&str>,
    limit: u32,
) -> Result<PermissionPage, SessionError> {
    permissions::permissions(store, id, after, limit).map_err(|error| SessionError::of_transcript(id, error))
}

/// Gives a session a title of its user's; returns it as it is kept.
pub fn rename<S: Storage>(store: &Store<S>, id: &str, title: &str) -> Result<String, SessionError> {
    let session = rename::rename(store, id, title).map_err(|error| match error {
        RenameError::NotFound => SessionError::NotFound(id.to_owned()),
        RenameError::Invalid(_) => SessionError::invalid(&error),
        RenameError::Storage(error) => error.into(),
    })?;
    Ok(session.title.text().unwrap_or_default().to_owned())
}

/// Puts a session away or takes it back.
pub fn archive<S: Storage>(store: &Store<S>, id: &str, archived: bool) -> Result<(), SessionError> {
    let is_there = archive::set_archived(store, id, archived)?;
    if is_there { Ok(()) } else { Err(SessionError::NotFound(id.to_owned())) }
}

/// Deletes some of the sessions without activity since then, or only lists them. `now` is in milliseconds since 1970.
pub fn prune<S: Storage>(
    store: &Store<S>,
    idle_since: &str,
    cwd: Option<&str>,
    limit: u32,
    cursor: Option<String>,
    dry_run: bool,
    now: i64,
) -> Result<Page, SessionError> {
    let no_time = || SessionError::invalid(&"`idle-since` must be an RFC 3339 time");
    let idle_since = time::parse(idle_since).ok_or_else(no_time)?;
    let no_path = || SessionError::invalid(&"`cwd` must be an absolute path");
    let cwd = cwd.map(|cwd| directory::normalise(cwd).ok_or_else(no_path)).transpose()?;
    let prune = Prune { idle_since, cwd, limit, dry_run, after: cursor };
    Ok(retention::prune(store, &prune, now)?.into())
}

/// Has some of the sessions follow a folder that was renamed or moved, or only says where they would be.
pub fn relocate<S: Storage>(
    store: &Store<S>,
    old_cwd: String,
    new_cwd: String,
    limit: u32,
    cursor: Option<String>,
    dry_run: bool,
) -> Result<Relocations, SessionError> {
    let relocate = Relocate { old: old_cwd, new: new_cwd, limit, dry_run, after: cursor };
    Ok(relocate::relocate(store, &relocate)?)
}

impl From<list::Page> for Page {
    fn from(page: list::Page) -> Self {
        let sessions = page.rows.iter().map(|row| Session::of_row(row)).collect();
        Self { sessions, next_cursor: page.next_cursor }
    }
}
