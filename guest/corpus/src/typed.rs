//! Calls of the `sessions` interface, answered in JSON as the component answers them.

use acp_sessions_guest::sessions::checkup::{self, Checkup, Finding, Mending};
use acp_sessions_guest::sessions::panel::{self, SessionError};
use acp_sessions_guest::sessions::permissions::{
    Outcome, Permission, PermissionAnswer, PermissionOption, PermissionPage,
};
use acp_sessions_guest::sessions::transcript::TranscriptPage;
use acp_sessions_guest::sessions::turn_usage::{TurnUsage, TurnUsagePage};
use acp_sessions_guest::sessions::usage::{UsagePage, UsageRow};
use acp_sessions_guest::sessions::{delete, folders, removal};
use acp_sessions_guest::storage::Storage;
use acp_sessions_guest::store::{Cost, Store, Used};
use serde::Serialize;
use serde_json::{Value, json};

use crate::case::Call;

/// What a call returns.
///
/// # Panics
/// Where it is a call of a connection.
pub(crate) fn answer<S: Storage>(store: &Store<S>, now: i64, call: Call) -> Value {
    match call {
        Call::ListSessions { criteria, limit, cursor } => {
            result(panel::list_sessions(store, &|_| Some(Vec::new()), &criteria, limit, cursor.as_deref(), now))
        }
        Call::ChangesSince { criteria, position } => {
            result(panel::changes_since(store, &|_| Some(Vec::new()), &criteria, position.as_deref(), now))
        }
        Call::GetSession { session_id } => result(panel::session(store, &session_id, now)),
        Call::ReadTranscript { session_id, after, limit } => {
            result(panel::transcript(store, &session_id, after.as_deref(), limit, now).map(page_value))
        }
        Call::ReadSetAside { session_id, after, limit } => {
            result(panel::set_aside(store, &session_id, after.as_deref(), limit).map(page_value))
        }
        Call::ListUsage { limit, cursor } => {
            result(panel::list_usage(store, limit, cursor.as_deref()).map(|page| usage_page_value(&page)))
        }
        Call::ReadTurnUsage { session_id, after, limit } => {
            let page = panel::turn_usage(store, &session_id, after.as_deref(), limit);
            result(page.map(|page| turn_usage_page_value(&page)))
        }
        Call::ReadPermissions { session_id, after, limit } => {
            let page = panel::permissions(store, &session_id, after.as_deref(), limit);
            result(page.map(|page| permission_page_value(&page)))
        }
        Call::RenameSession { session_id, title } => result(panel::rename(store, &session_id, &title)),
        Call::ArchiveSession { session_id, archived } => result(panel::archive(store, &session_id, archived)),
        Call::DeleteSession { session_id } => result(delete::delete(store, &session_id, now).map(drop)),
        Call::FinishDeletes => result(removal::step(store)),
        Call::PruneSessions { idle_since, cwd, limit, cursor, dry_run } => {
            result(panel::prune(store, &idle_since, cwd.as_deref(), limit, cursor, dry_run, now))
        }
        Call::MoveSessions { old_cwd, new_cwd, limit, cursor, dry_run } => {
            result(panel::relocate(store, old_cwd, new_cwd, limit, cursor, dry_run))
        }
        Call::FoldersOf { first_commit } => result(folders::of_repository(store, &first_commit)),
        Call::CheckStore { mending, cursor, limit } => {
            let mending = match &*mending {
                "nothing" => Mending::Nothing,
                "derived" => Mending::Derived,
                "everything" => Mending::Everything,
                other => panic!("no mending: {other}"),
            };
            result(checkup::check(store, mending, cursor.as_deref(), limit, now).map(|checked| checkup_value(&checked)))
        }
        call => panic!("no call of the typed interface: {call:?}"),
    }
}

/// A `result` of the interface.
fn result<T: Serialize>(answered: Result<T, impl Into<SessionError>>) -> Value {
    match answered.map_err(Into::into) {
        Ok(answer) => json!({ "ok": answer }),
        Err(refused) => json!({ "error": refused }),
    }
}

fn page_value(page: TranscriptPage) -> Value {
    let updates = page.updates.into_iter().map(|(cursor, update)| json!({ "cursor": cursor, "update": update }));
    json!({ "updates": updates.collect::<Vec<_>>(), "more": page.more })
}

fn usage_page_value(page: &UsagePage) -> Value {
    let usage = |row: &UsageRow| {
        json!({
            "session-id": row.session_id,
            "cwd": row.cwd,
            "title": row.title,
            "day": row.day.day,
            "agent": row.day.agent,
            "used": used_value(&row.day.used),
        })
    };
    json!({ "usages": page.rows.iter().map(usage).collect::<Vec<_>>(), "next-cursor": page.next_cursor })
}

fn turn_usage_page_value(page: &TurnUsagePage) -> Value {
    let turn = |turn: &TurnUsage| {
        json!({
            "ended-at": turn.ended_at,
            "used": used_value(&turn.used),
            "context-used": turn.context.map(|context| context.used),
            "context-size": turn.context.map(|context| context.size),
        })
    };
    json!({ "turns": page.turns.iter().map(turn).collect::<Vec<_>>(), "next-cursor": page.next_cursor })
}

fn used_value(used: &Used) -> Value {
    let tokens = &used.tokens;
    let cost = |cost: &Cost| json!({ "amount": cost.amount.to_string(), "currency": cost.currency });
    json!({
        "answers": used.answers,
        "tokens": {
            "total-tokens": tokens.total_tokens,
            "input-tokens": tokens.input_tokens,
            "output-tokens": tokens.output_tokens,
            "thought-tokens": tokens.thought_tokens,
            "cached-read-tokens": tokens.cached_read_tokens,
            "cached-write-tokens": tokens.cached_write_tokens,
        },
        "costs": used.cost.iter().map(cost).collect::<Vec<_>>(),
    })
}

fn permission_page_value(page: &PermissionPage) -> Value {
    let permissions: Vec<_> = page.permissions.iter().map(permission_value).collect();
    json!({ "permissions": permissions, "next-cursor": page.next_cursor })
}

fn permission_value(asked: &Permission) -> Value {
    let answer = |answer: &PermissionAnswer| {
        let outcome = match &answer.outcome {
            Outcome::Selected(option) => json!({ "selected": option_value(option) }),
            Outcome::Cancelled => "cancelled".into(),
            Outcome::Failed(why) => json!({ "failed": why }),
        };
        json!({ "answered-at": answer.answered_at, "client": answer.client, "outcome": outcome })
    };
    json!({
        "session-id": asked.session_id,
        "asked-at": asked.asked_at,
        "tool-call-id": asked.tool_call_id,
        "title": asked.title,
        "tool-call": asked.tool_call,
        "options": asked.options.iter().map(option_value).collect::<Vec<_>>(),
        "answer": asked.answer.as_ref().map(answer),
    })
}

fn option_value(option: &PermissionOption) -> Value {
    json!({ "id": option.id, "name": option.name, "kind": option.kind })
}

fn checkup_value(checked: &Checkup) -> Value {
    let findings: Vec<_> = checked.findings.iter().map(finding_value).collect();
    json!({ "done": checked.done, "entries": checked.entries, "findings": findings, "next-cursor": checked.next })
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
