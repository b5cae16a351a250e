//! The typed export: what is done to sessions without a connection.

use super::exports::acp::sessions::sessions as wit;
use super::storage::HostStorage;
use super::{Component, HostEnvironment};
use crate::environment::Environment as _;
use crate::sessions::checkup::{CheckupError, Finding, Mending};
use crate::sessions::filter::Request;
use crate::sessions::rename::RenameError;
use crate::sessions::retention::{Prune, PruneError};
use crate::sessions::transcript::{TranscriptError, TranscriptPage};
use crate::sessions::{archive, checkup, delete, list, removal, rename, retention, transcript};
use crate::storage::StorageError;

/// The store for the operations that need no connection.
fn store() -> crate::store::Store<HostStorage> {
    crate::store::Store::new(HostStorage)
}

fn storage_error(error: StorageError) -> wit::SessionError {
    wit::SessionError::Storage(error.to_string())
}

fn to_page(page: list::Page) -> wit::Page {
    let sessions = page.rows.iter().map(|row| to_session(row)).collect();
    wit::Page { sessions, next_cursor: page.next_cursor }
}

/// A list row, member by member.
fn to_session(row: &str) -> wit::Session {
    let row: serde_json::Value = serde_json::from_str(row).unwrap_or_default();
    let text = |value: &serde_json::Value| value.as_str().map(str::to_owned);
    let mut meta = row["_meta"].as_object().cloned().unwrap_or_default();
    let own = meta.remove("acp-sessions").unwrap_or_default();
    wit::Session {
        id: text(&row["sessionId"]).unwrap_or_default(),
        cwd: text(&row["cwd"]).unwrap_or_default(),
        title: text(&row["title"]),
        created_at: text(&own["createdAt"]).unwrap_or_default(),
        updated_at: text(&row["updatedAt"]),
        archived: row["archived"].as_bool().unwrap_or_default(),
        agent: text(&own["agent"]),
        meta: (!meta.is_empty()).then(|| serde_json::Value::Object(meta).to_string()),
        snippet: text(&own["match"]["snippet"]),
        matched_in: text(&own["match"]["in"]),
        set_aside: own["setAside"].as_u64().map_or(0, |count| u32::try_from(count).unwrap_or(u32::MAX)),
    }
}

fn to_transcript(
    id: &str,
    page: Result<TranscriptPage, TranscriptError>,
) -> Result<wit::TranscriptPage, wit::SessionError> {
    let page = page.map_err(|error| match error {
        TranscriptError::NotFound => wit::SessionError::NotFound(id.to_owned()),
        TranscriptError::Place => wit::SessionError::Invalid(error.to_string()),
        TranscriptError::Storage(error) => storage_error(error),
    })?;
    let update = |(cursor, update): (String, String)| wit::Update { cursor, update };
    Ok(wit::TranscriptPage { updates: page.updates.into_iter().map(update).collect(), more: page.more })
}

fn read_directory(cwd: Option<String>) -> Result<Option<String>, wit::SessionError> {
    let normalise = |cwd: String| {
        let invalid = || wit::SessionError::Invalid("`cwd` must be an absolute path".to_owned());
        crate::store::directory::normalise(&cwd).ok_or_else(invalid)
    };
    cwd.map(normalise).transpose()
}

impl wit::Guest for Component {
    fn list_sessions(
        criteria: wit::ListCriteria,
        limit: u32,
        cursor: Option<String>,
    ) -> Result<wit::Page, wit::SessionError> {
        let archived = match criteria.archived {
            wit::ArchivedSessions::Hidden => "exclude",
            wit::ArchivedSessions::Shown => "include",
            wit::ArchivedSessions::Only => "only",
        };
        // The one reader of requests serves here too, so that both ways in mean the same.
        let params = serde_json::json!({
            "cwd": criteria.cwd,
            "cursor": cursor,
            "archived": archived,
            "_meta": { "acp-sessions": {
                "createdAfter": criteria.created_after,
                "createdBefore": criteria.created_before,
                "updatedAfter": criteria.updated_after,
                "search": criteria.search,
                "subagents": criteria.subagents,
                "limit": limit,
            } },
        });
        let to_error = |error| match error {
            list::ListError::Storage(error) => storage_error(error),
            error @ list::ListError::Invalid { .. } => wit::SessionError::Invalid(error.to_string()),
        };
        let request = Request::read(Some(&params.to_string()), limit).map_err(to_error)?;
        list::page(&store(), &request).map(to_page).map_err(to_error)
    }

    fn get_session(session_id: String) -> Result<wit::Session, wit::SessionError> {
        let session = store().session(&session_id).map_err(storage_error)?;
        let session = session.ok_or_else(|| wit::SessionError::NotFound(session_id))?;
        Ok(to_session(&crate::store::whole_info(&session)))
    }

    fn read_transcript(
        session_id: String,
        after: Option<String>,
        limit: u32,
    ) -> Result<wit::TranscriptPage, wit::SessionError> {
        to_transcript(&session_id, transcript::transcript(&store(), &session_id, after.as_deref(), limit))
    }

    fn read_set_aside(
        session_id: String,
        after: Option<String>,
        limit: u32,
    ) -> Result<wit::TranscriptPage, wit::SessionError> {
        to_transcript(&session_id, transcript::set_aside(&store(), &session_id, after.as_deref(), limit))
    }

    fn rename_session(session_id: String, title: String) -> Result<String, wit::SessionError> {
        rename::rename(&store(), &session_id, &title).map_err(|error| match error {
            RenameError::NotFound => wit::SessionError::NotFound(session_id.clone()),
            RenameError::Invalid(_) => wit::SessionError::Invalid(error.to_string()),
            RenameError::Storage(error) => storage_error(error),
        })
    }

    fn archive_session(session_id: String, archived: bool) -> Result<(), wit::SessionError> {
        match archive::set_archived(&store(), &session_id, archived).map_err(storage_error)? {
            true => Ok(()),
            false => Err(wit::SessionError::NotFound(session_id)),
        }
    }

    fn delete_session(session_id: String) -> Result<(), wit::SessionError> {
        delete::delete(&store(), &session_id, HostEnvironment.now()).map(drop).map_err(storage_error)
    }

    fn finish_deletes() -> Result<bool, wit::SessionError> {
        removal::step(&store()).map_err(storage_error)
    }

    fn prune_sessions(
        idle_since: String,
        cwd: Option<String>,
        limit: u32,
        cursor: Option<String>,
        dry_run: bool,
    ) -> Result<wit::Page, wit::SessionError> {
        let idle_since = crate::time::parse(&idle_since)
            .ok_or_else(|| wit::SessionError::Invalid("`idle-since` must be an RFC 3339 time".to_owned()))?;
        let prune = Prune { idle_since, cwd: read_directory(cwd)?, limit, dry_run, after: cursor };
        retention::prune(&store(), &prune, HostEnvironment.now()).map(to_page).map_err(|error| match error {
            PruneError::Cursor => wit::SessionError::Invalid(error.to_string()),
            PruneError::Storage(error) => storage_error(error),
        })
    }

    fn check_store(
        mending: wit::Mending,
        cursor: Option<String>,
        limit: u32,
    ) -> Result<wit::Checkup, wit::SessionError> {
        let mending = match mending {
            wit::Mending::Nothing => Mending::Nothing,
            wit::Mending::Derived => Mending::Derived,
            wit::Mending::Everything => Mending::Everything,
        };
        let now = HostEnvironment.now();
        let checked =
            checkup::check(&store(), mending, cursor.as_deref(), limit, now).map_err(|error| match error {
                CheckupError::Cursor => wit::SessionError::Invalid(error.to_string()),
                CheckupError::Storage(error) => storage_error(error),
            })?;
        Ok(wit::Checkup {
            done: checked.done,
            entries: checked.entries,
            findings: checked.findings.into_iter().map(to_finding).collect(),
            next_cursor: checked.next,
        })
    }
}

fn to_finding(finding: Finding) -> wit::Finding {
    wit::Finding {
        what: finding.fault.what().to_owned(),
        subject: finding.subject,
        remedy: match finding.fault.remedy() {
            Mending::Nothing => wit::Mending::Nothing,
            Mending::Derived => wit::Mending::Derived,
            Mending::Everything => wit::Mending::Everything,
        },
        mended: finding.is_mended,
    }
}
