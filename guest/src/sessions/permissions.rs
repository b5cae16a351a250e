//! What permission was asked for in a session, and who answered what.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::transcript::{ASIDE, BATCH_BYTES, BYTES, TranscriptError, open, still_there};
use crate::rpc::{Object, RpcError};
use crate::storage::Storage;
use crate::store::{Session, Store};
use crate::time;
use crate::transcript::{Entry, Kind, Part, Position, Progress};

/// How many bytes of a conversation are read for the answer to what was asked before.
const LOOKED_FOR_ANSWER: usize = 4 * BYTES;

/// The member of the log's entries that says by which request it was asked: of one tool call several things may be asked
/// at once.
pub const REQUEST: &str = "requestId";

/// One of the answers that the user could choose (protocol v1, `PermissionOption`).
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub struct PermissionOption {
    /// Its id.
    #[serde(rename = "optionId")]
    pub id: String,
    /// What the user was shown.
    pub name: String,
    /// `allow_once`, `allow_always`, `reject_once`, `reject_always`, or another that an agent has.
    pub kind: String,
}

/// What became of the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// This was chosen; of one that was not to choose from only the id is known.
    Selected(PermissionOption),
    /// The turn was cancelled.
    Cancelled,
    /// The client failed at it, and said why.
    Failed(String),
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionAnswer {
    /// When, RFC 3339.
    pub answered_at: String,
    /// What the client calls itself through which it came, if it has said so.
    pub client: Option<String>,
    /// What was answered.
    pub outcome: Outcome,
}

/// Something that an agent has asked permission for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Permission {
    /// When, RFC 3339.
    pub asked_at: String,
    /// The tool call that it was asked for.
    pub tool_call_id: Option<String>,
    /// What that is called.
    pub title: Option<String>,
    /// The `toolCall` of the request, as JSON.
    pub tool_call: Option<String>,
    /// What could be chosen.
    pub options: Vec<PermissionOption>,
    /// None where nobody has answered.
    pub answer: Option<PermissionAnswer>,
}

/// Some of a session's permissions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionPage {
    /// In the order of the conversation, and behind that in the order of what was taken out of it.
    pub permissions: Vec<Permission>,
    /// For the next page, which may be empty; none at the end.
    pub next_cursor: Option<String>,
}

/// What was asked for after a cursor: at most `limit` (from 1), of not many more bytes of the conversation than [`BYTES`]; behind
/// what was asked in the conversation, what was asked in what was taken out of it.
pub fn permissions<S: Storage>(
    store: &Store<S>,
    id: &str,
    after: Option<&str>,
    limit: u32,
) -> Result<PermissionPage, TranscriptError> {
    let aside = after.and_then(|after| after.strip_prefix(ASIDE));
    let Some(aside) = aside else {
        let (mut page, session) = of_part(store, id, Part::Conversation, after, limit)?;
        if page.next_cursor.is_none() && session.set_aside() > 0 {
            page.next_cursor = Some(ASIDE.to_owned());
        }
        return Ok(page);
    };
    let (mut page, _) = of_part(store, id, Part::SetAside, Some(aside).filter(|aside| !aside.is_empty()), limit)?;
    if let Some(next) = &mut page.next_cursor {
        next.insert_str(0, ASIDE);
    }
    Ok(page)
}

/// The same of one of the two, and the session.
fn of_part<S: Storage>(
    store: &Store<S>,
    id: &str,
    part: Part,
    after: Option<&str>,
    limit: u32,
) -> Result<(PermissionPage, Session), TranscriptError> {
    let (session, mut replay) = open(store, id, part, after)?;
    let limit = (limit as usize).max(1);
    let mut page = Asked::default();
    let mut bytes = 0;
    let mut behind = replay.position().clone();
    // Where the next page begins, once it is known.
    let mut next: Option<Position> = None;
    while let Progress::Entries(entries) = replay.next(store.storage(), BATCH_BYTES)? {
        for (position, text) in entries {
            bytes += text.len();
            if let Some(entry) = Entry::parse(&text) {
                if entry.kind == Kind::PermissionAsked && page.0.len() >= limit {
                    next.get_or_insert_with(|| behind.clone());
                }
                match entry.kind {
                    Kind::PermissionAsked if next.is_none() => page.ask(&entry),
                    Kind::PermissionAnswered => page.answer(&entry),
                    Kind::TurnEnd => page.end_turn(&entry),
                    _ => {}
                }
            }
            behind = position;
            let is_full = next.is_some() || bytes >= BYTES;
            if is_full && (!page.waits() || bytes >= LOOKED_FOR_ANSWER) {
                let next_cursor = Some(next.unwrap_or(behind).to_cursor(session.layout));
                return Ok((PermissionPage { permissions: page.into_permissions(), next_cursor }, session));
            }
        }
    }
    still_there(store, id)?;
    let next_cursor = next.map(|next| next.to_cursor(session.layout));
    Ok((PermissionPage { permissions: page.into_permissions(), next_cursor }, session))
}

/// What was asked.
#[derive(Debug, Default)]
struct Asked(Vec<Question>);

/// Something that was asked.
#[derive(Debug)]
struct Question {
    permission: Permission,
    turn: Option<String>,
    window: Option<String>,
    /// The request's id as JSON. Earlier versions did not note it.
    request: Option<String>,
    /// It may still be answered.
    waits: bool,
}

impl Asked {
    fn ask(&mut self, entry: &Entry<'_>) {
        let asked = Object::parse_or_empty(entry.json);
        let call = asked.get_some("toolCall");
        let named = Object::parse_or_empty(call.unwrap_or("{}"));
        let options: Vec<&RawValue> =
            asked.get("options").and_then(|options| serde_json::from_str(options).ok()).unwrap_or_default();
        let permission = Permission {
            asked_at: time::format(entry.time),
            tool_call_id: named.get_string("toolCallId"),
            title: named.get_string("title"),
            tool_call: call.map(str::to_owned),
            options: options.iter().filter_map(|option| serde_json::from_str(option.get()).ok()).collect(),
            answer: None,
        };
        let (turn, request) = (entry.turn.map(str::to_owned), asked.get(REQUEST).map(str::to_owned));
        let window = entry.said_in().map(str::to_owned);
        self.0.push(Question { permission, turn, window, request, waits: true });
    }

    /// The answer is to what was asked by that request or, where that is not noted, to the first of that tool call that waits
    /// for one. Still earlier versions did not note which.
    fn answer(&mut self, entry: &Entry<'_>) {
        let answer = Object::parse_or_empty(entry.json);
        let (request, call) = (answer.get(REQUEST), answer.get_string("toolCallId"));
        let is_its = |question: &Question| match (&question.request, request) {
            (Some(asked_by), Some(answered)) => asked_by == answered,
            _ => call.is_none() || question.permission.tool_call_id == call,
        };
        let waits = |question: &Question| question.waits && is_its(question);
        let in_turn = self.0.iter().position(|question| waits(question) && question.turn.as_deref() == entry.turn);
        // Its turn may have ended before the answer came: the last that was asked by that request is meant, in that window, as
        // each window's agent has requests of its own.
        let is_here = |question: &Question| match (&question.window, entry.said_in()) {
            (Some(asked_in), Some(answered_in)) => asked_in == answered_in,
            _ => true,
        };
        let is_of_another = |question: &Question| {
            question.request.is_some() && request.is_some() && waits(question) && is_here(question)
        };
        let found = in_turn.or_else(|| self.0.iter().rposition(is_of_another));
        let Some(Question { permission, waits, .. }) = found.map(|at| &mut self.0[at]) else { return };
        *waits = false;
        permission.answer = Some(PermissionAnswer {
            answered_at: time::format(entry.time),
            client: answer.get_string("client"),
            outcome: outcome(&answer, entry.json, &permission.options),
        });
    }

    /// What belongs to this turn may be answered later all the same, where it is known by its request.
    fn end_turn(&mut self, entry: &Entry<'_>) {
        let of_turn = self.0.iter_mut().filter(|question| question.turn.as_deref() == entry.turn);
        for question in of_turn.filter(|question| question.request.is_none()) {
            question.waits = false;
        }
    }

    fn waits(&self) -> bool {
        self.0.iter().any(|question| question.waits)
    }

    fn into_permissions(self) -> Vec<Permission> {
        self.0.into_iter().map(|question| question.permission).collect()
    }
}

fn outcome(answer: &Object<'_>, json: &str, options: &[PermissionOption]) -> Outcome {
    let chosen = answer.get("outcome").and_then(Object::parse).and_then(|outcome| outcome.get_string("optionId"));
    match (answer.get_some("error"), chosen) {
        (Some(error), _) => Outcome::Failed(RpcError::read(error).message),
        (None, Some(id)) => {
            let known = options.iter().find(|option| option.id == id).cloned();
            Outcome::Selected(known.unwrap_or_else(|| PermissionOption { id, ..PermissionOption::default() }))
        }
        // So earlier versions kept errors.
        (None, None) if answer.get("outcome").is_none() && answer.get("message").is_some() => {
            Outcome::Failed(RpcError::read(json).message)
        }
        (None, None) => Outcome::Cancelled,
    }
}
