//! What permission was asked for in a session and by its sub-agents, as `acp-sessions show --permissions` prints it.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::value::RawValue;

use super::printable::{Form, Out, printable};
use super::table::seconds;
use crate::component::sessions::{Permission, PermissionAnswer, PermissionOption, PermissionOutcome};
use crate::component::storage;
use crate::sessions::Sessions;

/// How many are read at once.
const PAGE: u32 = 500;

/// Prints all of a session's and its sub-agents', in the order in which they were asked for.
pub(super) fn write<S: storage::Host + Send + 'static>(
    sessions: &mut Sessions<'_, S>,
    id: &str,
    json: bool,
    out: &mut Out,
) -> anyhow::Result<()> {
    let mut all = Vec::new();
    let mut after: Option<String> = None;
    loop {
        let page = sessions.permissions(id, after.as_deref(), PAGE)?;
        all.extend(page.permissions);
        after = page.next_cursor;
        if after.is_none() {
            break;
        }
    }
    // Of turns of one moment one stands behind the other, and what was set aside behind all.
    all.sort_by(|one, other| one.asked_at.cmp(&other.asked_at));
    for permission in &all {
        if json {
            out.json(&serde_json::to_string(&row(permission)?)?)?;
        } else {
            line(out, permission, id)?;
        }
    }
    if all.is_empty() && !json {
        writeln!(out, "No permission was asked for.")?;
    }
    Ok(())
}

/// When it was asked, for what, where that is another session than this one, and what was answered by whom.
fn line(out: &mut impl Write, permission: &Permission, session: &str) -> io::Result<()> {
    let shown = |text: &str| printable(text, Form::Line).into_owned();
    let call = permission.tool_call_id.as_deref().map(|id| format!(" ({})", shown(id))).unwrap_or_default();
    let title = shown(permission.title.as_deref().unwrap_or("a tool call"));
    write!(out, "{}  {title}{call}", seconds(&permission.asked_at))?;
    if permission.session_id != session {
        write!(out, " in sub-agent {}", shown(&permission.session_id))?;
    }
    write!(out, ": ")?;
    let Some(answer) = &permission.answer else { return writeln!(out, "not answered") };
    match &answer.outcome {
        PermissionOutcome::Selected(option) => {
            let name = if option.name.is_empty() { &option.id } else { &option.name };
            let kind = if option.kind.is_empty() { "unknown" } else { &option.kind };
            write!(out, "{} ({})", shown(name), shown(kind))?;
        }
        // Nobody may have been asked any more: the agent has withdrawn the question, or the session was closed.
        PermissionOutcome::Cancelled if answer.client.is_none() => {
            return writeln!(out, "cancelled at {}", seconds(&answer.answered_at));
        }
        PermissionOutcome::Cancelled => write!(out, "cancelled")?,
        PermissionOutcome::Failed(why) => write!(out, "failed: {}", shown(why))?,
    }
    let client = shown(answer.client.as_deref().unwrap_or("an unknown client"));
    writeln!(out, ", through {client} at {}", seconds(&answer.answered_at))
}

/// A permission as a line of JSON has it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row<'p> {
    session_id: &'p str,
    asked_at: &'p str,
    tool_call_id: Option<&'p str>,
    title: Option<&'p str>,
    /// As it was asked for.
    tool_call: Option<&'p RawValue>,
    options: Vec<Choice<'p>>,
    answer: Option<Answer<'p>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Choice<'p> {
    option_id: &'p str,
    name: &'p str,
    kind: &'p str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'p> {
    answered_at: &'p str,
    client: Option<&'p str>,
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    selected: Option<Choice<'p>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'p str>,
}

fn row(permission: &Permission) -> serde_json::Result<Row<'_>> {
    Ok(Row {
        session_id: &permission.session_id,
        asked_at: &permission.asked_at,
        tool_call_id: permission.tool_call_id.as_deref(),
        title: permission.title.as_deref(),
        tool_call: permission.tool_call.as_deref().map(serde_json::from_str).transpose()?,
        options: permission.options.iter().map(choice).collect(),
        answer: permission.answer.as_ref().map(answer),
    })
}

fn choice(option: &PermissionOption) -> Choice<'_> {
    Choice { option_id: &option.id, name: &option.name, kind: &option.kind }
}

fn answer(answer: &PermissionAnswer) -> Answer<'_> {
    let (outcome, selected, error) = match &answer.outcome {
        PermissionOutcome::Selected(option) => ("selected", Some(choice(option)), None),
        PermissionOutcome::Cancelled => ("cancelled", None, None),
        PermissionOutcome::Failed(why) => ("failed", None, Some(why.as_str())),
    };
    Answer { answered_at: &answer.answered_at, client: answer.client.as_deref(), outcome, selected, error }
}
