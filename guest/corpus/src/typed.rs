//! Calls of the `sessions` interface, answered in JSON as the component answers them.

use acp_sessions_guest::sessions::checkup::{self, CheckupError, Finding, Mending};
use acp_sessions_guest::sessions::filter::Request;
use acp_sessions_guest::sessions::rename::{self, RenameError};
use acp_sessions_guest::sessions::retention::{self, Prune, PruneError};
use acp_sessions_guest::sessions::transcript::{self, TranscriptError, TranscriptPage};
use acp_sessions_guest::sessions::{archive, delete, list, removal};
use acp_sessions_guest::storage::{Storage, StorageError};
use acp_sessions_guest::store::{Store, directory, whole_info};
use acp_sessions_guest::time;
use serde_json::{Map, Value, json};

use crate::case::{Call, ListCriteria};

/// A `session-error`.
type Refused = Value;

/// What a call returns.
pub(crate) fn answer<S: Storage>(store: &Store<S>, now: i64, call: Call) -> Value {
    let answered = match call {
        Call::ListSessions { criteria, limit, cursor } => list_sessions(store, &criteria, limit, cursor.as_deref()),
        Call::GetSession { session_id } => match store.session(&session_id) {
            Ok(Some(session)) => Ok(session_value(&whole_info(&session))),
            Ok(None) => Err(not_found(&session_id)),
            Err(error) => Err(storage(&error)),
        },
        Call::ReadTranscript { session_id, after, limit } => {
            page_value(&session_id, transcript::transcript(store, &session_id, after.as_deref(), limit))
        }
        Call::ReadSetAside { session_id, after, limit } => {
            page_value(&session_id, transcript::set_aside(store, &session_id, after.as_deref(), limit))
        }
        Call::RenameSession { session_id, title } => match rename::rename(store, &session_id, &title) {
            Ok(title) => Ok(title.into()),
            Err(RenameError::NotFound) => Err(not_found(&session_id)),
            Err(error @ RenameError::Invalid(_)) => Err(invalid(&error)),
            Err(RenameError::Storage(error)) => Err(storage(&error)),
        },
        Call::ArchiveSession { session_id, archived } => match archive::set_archived(store, &session_id, archived) {
            Ok(true) => Ok(Value::Null),
            Ok(false) => Err(not_found(&session_id)),
            Err(error) => Err(storage(&error)),
        },
        Call::DeleteSession { session_id } => {
            delete::delete(store, &session_id, now).map(|_| Value::Null).map_err(|error| storage(&error))
        }
        Call::FinishDeletes => removal::step(store).map(Value::Bool).map_err(|error| storage(&error)),
        Call::PruneSessions { idle_since, cwd, limit, cursor, dry_run } => {
            prune(store, now, &idle_since, cwd, limit, cursor, dry_run)
        }
        Call::CheckStore { mending, cursor, limit } => check(store, now, &mending, cursor.as_deref(), limit),
        call => panic!("no call of the typed interface: {call:?}"),
    };
    match answered {
        Ok(answer) => json!({ "ok": answer }),
        Err(refused) => json!({ "error": refused }),
    }
}

fn not_found(id: &str) -> Refused {
    json!({ "not-found": id })
}

fn invalid(what: &impl ToString) -> Refused {
    json!({ "invalid": what.to_string() })
}

fn storage(error: &StorageError) -> Refused {
    json!({ "storage": error.to_string() })
}

fn list_sessions<S: Storage>(
    store: &Store<S>,
    criteria: &ListCriteria,
    limit: u32,
    cursor: Option<&str>,
) -> Result<Value, Refused> {
    let archived = match criteria.archived.as_deref() {
        None | Some("hidden") => "exclude",
        Some("shown") => "include",
        _ => "only",
    };
    let params = json!({
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
    let refused = |error| match error {
        list::ListError::Storage(error) => storage(&error),
        error @ list::ListError::Invalid { .. } => invalid(&error),
    };
    let request = Request::read(Some(&params.to_string()), limit).map_err(refused)?;
    list::page(store, &request).map(|page| rows_value(&page)).map_err(refused)
}

fn rows_value(page: &list::Page) -> Value {
    let sessions: Vec<_> = page.rows.iter().map(|row| session_value(row)).collect();
    json!({ "sessions": sessions, "next-cursor": page.next_cursor })
}

/// A list row as a `session`.
fn session_value(row: &str) -> Value {
    let row: Value = serde_json::from_str(row).unwrap_or_default();
    let mut meta = row["_meta"].as_object().cloned().unwrap_or_default();
    let own = meta.remove("acp-sessions").unwrap_or_default();
    let meta = (!meta.is_empty()).then(|| Value::Object(meta).to_string());
    let mut session = Map::new();
    for (name, value) in [
        ("id", row["sessionId"].clone()),
        ("cwd", row["cwd"].clone()),
        ("title", row["title"].clone()),
        ("created-at", own["createdAt"].clone()),
        ("updated-at", row["updatedAt"].clone()),
        ("archived", row["archived"].as_bool().unwrap_or_default().into()),
        ("agent", own["agent"].clone()),
        ("meta", meta.into()),
        ("matched-in", own["match"]["in"].clone()),
        ("snippet", own["match"]["snippet"].clone()),
        ("set-aside", own["setAside"].as_u64().unwrap_or_default().into()),
    ] {
        session.insert(name.to_owned(), value);
    }
    Value::Object(session)
}

fn page_value(id: &str, page: Result<TranscriptPage, TranscriptError>) -> Result<Value, Refused> {
    let page = page.map_err(|error| match error {
        TranscriptError::NotFound => not_found(id),
        TranscriptError::Place => invalid(&error),
        TranscriptError::Storage(error) => storage(&error),
    })?;
    let updates = page.updates.into_iter().map(|(cursor, update)| json!({ "cursor": cursor, "update": update }));
    Ok(json!({ "updates": updates.collect::<Vec<_>>(), "more": page.more }))
}

fn prune<S: Storage>(
    store: &Store<S>,
    now: i64,
    idle_since: &str,
    cwd: Option<String>,
    limit: u32,
    after: Option<String>,
    dry_run: bool,
) -> Result<Value, Refused> {
    let idle_since = time::parse(idle_since).ok_or_else(|| invalid(&"`idle-since` must be an RFC 3339 time"))?;
    let absolute = |cwd: String| directory::normalise(&cwd).ok_or_else(|| invalid(&"`cwd` must be an absolute path"));
    let prune = Prune { idle_since, cwd: cwd.map(absolute).transpose()?, limit, dry_run, after };
    retention::prune(store, &prune, now).map(|page| rows_value(&page)).map_err(|error| match error {
        PruneError::Cursor => invalid(&error),
        PruneError::Storage(error) => storage(&error),
    })
}

fn check<S: Storage>(
    store: &Store<S>,
    now: i64,
    mending: &str,
    cursor: Option<&str>,
    limit: u32,
) -> Result<Value, Refused> {
    let mending = match mending {
        "nothing" => Mending::Nothing,
        "derived" => Mending::Derived,
        _ => Mending::Everything,
    };
    let checked = checkup::check(store, mending, cursor, limit, now).map_err(|error| match error {
        CheckupError::Cursor => invalid(&error),
        CheckupError::Storage(error) => storage(&error),
    })?;
    let findings: Vec<_> = checked.findings.into_iter().map(|finding| finding_value(&finding)).collect();
    Ok(json!({
        "done": checked.done,
        "entries": checked.entries,
        "findings": findings,
        "next-cursor": checked.next,
    }))
}

fn finding_value(finding: &Finding) -> Value {
    let remedy = match finding.fault.remedy() {
        Mending::Nothing => "nothing",
        Mending::Derived => "derived",
        Mending::Everything => "everything",
    };
    json!({
        "what": finding.fault.what(),
        "subject": finding.subject,
        "remedy": remedy,
        "mended": finding.is_mended,
    })
}
