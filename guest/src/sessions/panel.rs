//! What somebody does to sessions who has no connection: a panel of an editor, a program. The `sessions` interface of
//! `wit/world.wit` in the types of this crate; limits and the form of times are told there.

use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use super::archive;
use super::changes::{News, Position, Scope, Step};
use super::checkup::CheckupError;
use super::filter::{Found, Request, Worktrees};
use super::list::{self, ListError};
use super::permissions::{self, PermissionPage};
use super::relocate::{self, Relocate, RelocateError, Relocations};
use super::rename::{self, RenameError};
use super::retention::{self, Prune, PruneError};
use super::states;
use super::transcript::{self, TranscriptError, TranscriptPage};
use super::turn_usage::{self, TurnUsagePage};
use super::usage::{self, UsageError, UsagePage};
use crate::rpc::{self, Object};
use crate::storage::{Storage, StorageError};
use crate::store::{ActivityState, Cost, Store, directory, whole_row};
use crate::time;

/// The layer's own part of a row's `_meta`.
const OWN: &str = "acp-sessions";

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
    /// Exactly this directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
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

/// A session, as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Session {
    /// The id its clients know it by.
    pub id: String,
    /// Its directory.
    pub cwd: String,
    /// Its title, if it has one.
    pub title: Option<String>,
    /// When it was created.
    pub created_at: String,
    /// Its last activity; none where the agent took it back.
    pub updated_at: Option<String>,
    /// When its user last prompted it.
    pub last_prompt_at: Option<String>,
    /// When its last turn ended.
    pub last_turn_ended_at: Option<String>,
    /// The model of its last turn.
    pub model: Option<String>,
    /// The session that it was forked from.
    pub forked_from: Option<String>,
    /// What is being done in it, if anybody knows.
    #[serde(serialize_with = "state_name")]
    pub state: Option<ActivityState>,
    /// What it has cost.
    #[serde(serialize_with = "cost_members")]
    pub cost: Option<Cost>,
    /// Whether it is put away.
    pub archived: bool,
    /// The agent it is with.
    pub agent: Option<String>,
    /// Its metadata, a JSON object.
    pub meta: Option<String>,
    /// Where a search matched.
    pub matched_in: Option<String>,
    /// A piece of the text there.
    pub snippet: Option<String>,
    /// How many entries were taken out of the conversation.
    pub set_aside: u32,
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

/// By the name that the WIT has.
#[expect(clippy::ref_option, clippy::trivially_copy_pass_by_ref, reason = "it is what serde asks with")]
fn state_name<S: Serializer>(state: &Option<ActivityState>, to: S) -> Result<S::Ok, S::Error> {
    state.map(|state| state.name().replace('_', "-")).serialize(to)
}

/// With the amount as text, exactly.
#[expect(clippy::ref_option, reason = "it is what serde asks with")]
fn cost_members<S: Serializer>(cost: &Option<Cost>, to: S) -> Result<S::Ok, S::Error> {
    let members = |cost: &Cost| json!({ "amount": cost.amount.to_string(), "currency": cost.currency });
    cost.as_ref().map(members).serialize(to)
}

/// Why something was not done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, thiserror::Error)]
#[serde(rename_all = "kebab-case")]
pub enum SessionError {
    /// What was wrong with the arguments.
    #[error("{0}")]
    Invalid(String),
    /// There is no session of this id (any more).
    #[error("no session has the id {0}")]
    NotFound(String),
    /// The storage failed.
    #[error("{0}")]
    Storage(String),
    /// The host is still finding out what the answer depends on.
    #[error("{0}")]
    NotYet(String),
}

impl SessionError {
    fn invalid(what: &impl ToString) -> Self {
        Self::Invalid(what.to_string())
    }

    /// Why there is no transcript of the session of this id.
    fn of_transcript(id: &str, error: TranscriptError) -> Self {
        match error {
            TranscriptError::NotFound => Self::NotFound(id.to_owned()),
            TranscriptError::Place => Self::invalid(&error),
            TranscriptError::Storage(error) => error.into(),
        }
    }
}

impl From<StorageError> for SessionError {
    fn from(error: StorageError) -> Self {
        Self::Storage(error.to_string())
    }
}

impl From<ListError> for SessionError {
    fn from(error: ListError) -> Self {
        match error {
            ListError::Invalid { .. } => Self::invalid(&error),
            ListError::Storage(error) => error.into(),
        }
    }
}

impl From<PruneError> for SessionError {
    fn from(error: PruneError) -> Self {
        match error {
            PruneError::Cursor => Self::invalid(&error),
            PruneError::Storage(error) => error.into(),
        }
    }
}

impl From<UsageError> for SessionError {
    fn from(error: UsageError) -> Self {
        match error {
            UsageError::Cursor => Self::invalid(&error),
            UsageError::Storage(error) => error.into(),
        }
    }
}

impl From<RelocateError> for SessionError {
    fn from(error: RelocateError) -> Self {
        match error {
            RelocateError::Storage(error) => error.into(),
            error => Self::invalid(&error),
        }
    }
}

impl From<CheckupError> for SessionError {
    fn from(error: CheckupError) -> Self {
        match error {
            CheckupError::Cursor => Self::invalid(&error),
            CheckupError::Storage(error) => error.into(),
        }
    }
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
        "cwd": criteria.cwd,
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
    let told = |position: &Position, step: &Step| {
        let News { rows, removed } = scope.news(step);
        let sessions = rows.iter().map(|row| Session::of_row(&row.json)).collect();
        let (more, read_again) = (!step.is_over, step.is_to_be_read_anew);
        Changes { sessions, removed, position: position.to_text(), more, read_again }
    };
    let Some(position) = position else {
        let nothing = Step { is_over: true, ..Step::default() };
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

/// About `limit` updates after a cursor.
pub fn transcript<S: Storage>(
    store: &Store<S>,
    id: &str,
    after: Option<&str>,
    limit: u32,
) -> Result<TranscriptPage, SessionError> {
    transcript::transcript(store, id, after, limit).map_err(|error| SessionError::of_transcript(id, error))
}

/// The same of what was taken out of the conversation.
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

impl Session {
    /// Of a list row, member by member. What others have put there keeps all of its digits only as it stands.
    fn of_row(row: &str) -> Self {
        let row = Object::parse_or_empty(row);
        let meta = row.get_object("_meta");
        let own = meta.get_object(OWN);
        let found = own.get_object("match");
        let mut others = meta.clone();
        others.remove(OWN);
        Self {
            id: row.get_string("sessionId").unwrap_or_default(),
            cwd: row.get_string("cwd").unwrap_or_default(),
            title: row.get_string("title"),
            created_at: own.get_string("createdAt").unwrap_or_default(),
            updated_at: row.get_string("updatedAt"),
            last_prompt_at: row.get_string("lastPromptAt"),
            last_turn_ended_at: row.get_string("lastTurnEndedAt"),
            model: row.get_string("model"),
            forked_from: row.get_string("forkedFrom"),
            state: row.get_string("state").and_then(|state| ActivityState::of_name(&state)),
            cost: row.get("cost").and_then(|cost| serde_json::from_str(cost).ok()),
            archived: row.get("archived") == Some("true"),
            agent: own.get_string("agent"),
            meta: others.iter().next().is_some().then(|| others.to_json()),
            matched_in: found.get_string("in"),
            snippet: found.get_string("snippet"),
            set_aside: own
                .get("setAside")
                .and_then(rpc::whole_number)
                .map_or(0, |count| u32::try_from(count).unwrap_or(u32::MAX)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_others_have_put_into_a_row_keeps_all_of_its_digits() {
        let row = r#"{"sessionId":"s","cwd":"/x","_meta":{"n":[0.10000000000000000001,18446744073709551617],"acp-sessions":{}}}"#;
        let session = Session::of_row(row);
        assert_eq!(session.meta.as_deref(), Some(r#"{"n":[0.10000000000000000001,18446744073709551617]}"#));
        assert_eq!(Session::of_row(r#"{"_meta":{"acp-sessions":{}}}"#).meta, None);
    }
}
