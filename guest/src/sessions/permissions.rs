//! What permission was asked for in a session and by its sub-agents, and who answered what.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::call_titles::CallTitles;
use super::family::{is_of_family, next_of_family};
use super::place;
use super::transcript::{ASIDE, BATCH_BYTES, BYTES, TranscriptError, open, still_there};
use crate::rpc::{Object, RpcError};
use crate::storage::Storage;
use crate::store::{Session, Store, keys};
use crate::time;
use crate::transcript::{Ended, Entry, Kind, Part, Position, Progress, mend};

/// How many more bytes are read for the answers to what was asked on a page, and of what is not its part.
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
    /// The session that it was asked in.
    pub session_id: String,
    /// When, RFC 3339.
    pub asked_at: String,
    /// The tool call that it was asked for.
    pub tool_call_id: Option<String>,
    /// What that is called, as the question says or, where it does not, as was said before.
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
    /// In the order of the conversation, behind that in the order of what was taken out of it, and so of each sub-agent.
    pub permissions: Vec<Permission>,
    /// For the next page, which may be empty; none at the end.
    pub next_cursor: Option<String>,
}

/// What the cursors begin with that are places in sub-agents' sessions.
const SUBAGENTS: &str = "of-";

/// What was asked for after a cursor: at most `limit` (from 1), of not many more bytes of the conversation than [`BYTES`]; behind
/// what was asked in the conversation, what was asked in what was taken out of it, and what sub-agents have asked.
pub fn permissions<S: Storage>(
    store: &Store<S>,
    id: &str,
    after: Option<&str>,
    limit: u32,
) -> Result<PermissionPage, TranscriptError> {
    let (member, after) = match after.and_then(|after| after.strip_prefix(SUBAGENTS)) {
        None => (id.to_owned(), after),
        Some(place) => {
            let (member, after) = place.split_once('/').ok_or(TranscriptError::Place)?;
            let member = keys::decode(member).ok_or(TranscriptError::Place)?;
            store.session(id)?.ok_or(TranscriptError::NotFound)?;
            if member == id || !is_of_family(store, id, &member)? {
                return Err(TranscriptError::Place);
            }
            (member, Some(after).filter(|after| !after.is_empty()))
        }
    };
    let mut page = of_session(store, &member, after, limit)?;
    page.next_cursor = match page.next_cursor {
        Some(place) if member == id => Some(place),
        Some(place) => Some(subagents_cursor(&member, &place)),
        None => next_of_family(store, id, &member)?.map(|next| subagents_cursor(&next, "")),
    };
    Ok(page)
}

/// The cursor of a place in a sub-agent's session.
fn subagents_cursor(id: &str, place: &str) -> String {
    format!("{SUBAGENTS}{}/{place}", keys::encode(id))
}

/// The same of one session alone.
fn of_session<S: Storage>(
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
    let titles = CallTitles::before(store.storage(), &session, part, replay.position())?;
    let mut page = AskedPermissions { session_id: id.to_owned(), titles, ..AskedPermissions::default() };
    let mut bytes = 0;
    let mut behind = replay.position().clone();
    // Where the next page begins, once it is known, and how much was read up to there.
    let mut next: Option<(Position, usize)> = None;
    while let Progress::Entries(entries) = replay.next(store.storage(), BATCH_BYTES)? {
        for (position, text) in entries {
            bytes += text.len();
            if let Some(entry) = Entry::parse(&text) {
                if entry.kind == Kind::PermissionAsked && page.questions.len() >= limit {
                    next.get_or_insert_with(|| (behind.clone(), bytes));
                }
                match entry.kind {
                    Kind::PermissionAsked if next.is_none() => page.ask(&entry),
                    Kind::PermissionAnswered => page.answer(&entry),
                    Kind::TurnEnd => page.end_turn(&entry),
                    _ => page.titles.note(&entry),
                }
            }
            behind = position;
            if bytes >= BYTES {
                next.get_or_insert_with(|| (behind.clone(), bytes));
            }
            if let Some((next, until)) = &next
                && (!page.waits() || bytes - until >= LOOKED_FOR_ANSWER)
            {
                let next_cursor = Some(place::to_cursor(&session, part, next));
                return Ok((PermissionPage { permissions: page.into_permissions(), next_cursor }, session));
            }
        }
    }
    still_there(store, id)?;
    if page.waits() {
        page.look_elsewhere(store, id, part)?;
    }
    let next_cursor = next.map(|(next, _)| place::to_cursor(&session, part, &next));
    Ok((PermissionPage { permissions: page.into_permissions(), next_cursor }, session))
}

/// What was asked.
#[derive(Debug, Default)]
struct AskedPermissions {
    session_id: String,
    questions: Vec<Question>,
    titles: CallTitles,
    /// How many of them are the page's, where others are read for what their answers are.
    of_page: Option<usize>,
}

/// Something that was asked.
#[derive(Debug)]
struct Question {
    permission: Permission,
    /// When it was asked, in milliseconds since 1970.
    at: i64,
    turn: Option<String>,
    window: Option<String>,
    /// The request's id as JSON. Earlier versions did not note it.
    request: Option<String>,
    waits: Waits,
}

/// Whether it may still be answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Waits {
    Yes,
    /// If its turn goes on: its window was taken for gone, and may only have been stopped.
    InItsTurn,
    No,
}

impl AskedPermissions {
    fn ask(&mut self, entry: &Entry<'_>) {
        let asked = Object::parse_or_empty(entry.json);
        let call = asked.get_some("toolCall");
        let named = asked.get_object("toolCall");
        let options: Vec<&RawValue> =
            asked.get("options").and_then(|options| serde_json::from_str(options).ok()).unwrap_or_default();
        let id = named.get_string("toolCallId");
        let title_before = || id.as_deref().and_then(|id| self.titles.of(id)).map(str::to_owned);
        let permission = Permission {
            session_id: self.session_id.clone(),
            asked_at: time::format(entry.time),
            title: named.get_text("title").or_else(title_before),
            tool_call_id: id,
            tool_call: call.map(str::to_owned),
            options: options.iter().filter_map(|option| serde_json::from_str(option.get()).ok()).collect(),
            answer: None,
        };
        let (turn, request) = (entry.turn.map(str::to_owned), asked.get(REQUEST).map(str::to_owned));
        let window = entry.said_in().map(str::to_owned);
        self.questions.push(Question { permission, at: entry.time, turn, window, request, waits: Waits::Yes });
    }

    /// Looks for what is not answered in this part, to its end, in the other one: what is answered behind its turn may be set aside
    /// without it, or stay.
    fn look_elsewhere<S: Storage>(&mut self, store: &Store<S>, id: &str, part: Part) -> Result<(), TranscriptError> {
        let other = match part {
            Part::Conversation => Part::SetAside,
            Part::SetAside => Part::Conversation,
        };
        let (session, mut replay) = open(store, id, other, None)?;
        if session.set_aside() == 0 {
            return Ok(());
        }
        self.of_page = Some(self.questions.len());
        let mut bytes = 0;
        while let Progress::Entries(entries) = replay.next(store.storage(), BATCH_BYTES)? {
            for (_, text) in &entries {
                bytes += text.len();
                match Entry::parse(text) {
                    Some(entry) if entry.kind == Kind::PermissionAsked => self.ask(&entry),
                    Some(entry) if entry.kind == Kind::PermissionAnswered => self.answer(&entry),
                    Some(entry) if entry.kind == Kind::TurnEnd => self.end_turn(&entry),
                    _ => {}
                }
            }
            if bytes >= LOOKED_FOR_ANSWER || !self.waits() {
                break;
            }
        }
        Ok(())
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
        let waits = |question: &Question| question.waits == Waits::Yes && is_its(question);
        let all = &self.questions;
        let of_turn = |question: &Question, waits| {
            question.waits == waits && is_its(question) && question.turn.as_deref() == entry.turn
        };
        let in_turn = all.iter().position(|question| of_turn(question, Waits::Yes));
        let in_turn = in_turn.or_else(|| all.iter().position(|question| of_turn(question, Waits::InItsTurn)));
        // Its turn may have ended before the answer came: the last that was asked by that request is meant, in that window, as
        // each window's agent has requests of its own.
        let is_here = |question: &Question| match (&question.window, entry.said_in()) {
            (Some(asked_in), Some(answered_in)) => asked_in == answered_in,
            _ => true,
        };
        let is_of_another = |question: &Question| {
            question.request.is_some() && request.is_some() && waits(question) && is_here(question)
        };
        // One part says nothing of what came first in both.
        let is_earlier = |question: &Question| self.of_page.is_none() || question.at <= entry.time;
        let earlier = all.iter().enumerate().filter(|(_, question)| is_of_another(question) && is_earlier(question));
        let last = earlier.max_by_key(|(at, question)| (self.of_page.map(|_| question.at), *at)).map(|(at, _)| at);
        let Some(Question { permission, waits, .. }) = in_turn.or(last).map(|at| &mut self.questions[at]) else {
            return;
        };
        *waits = Waits::No;
        permission.answer = Some(PermissionAnswer {
            answered_at: time::format(entry.time),
            client: answer.get_string("client"),
            outcome: outcome(&answer, entry.json, &permission.options),
        });
    }

    /// What belongs to this turn may be answered later all the same, where it is known by its request, unless the turn was
    /// cancelled or has failed: its agent waits for nothing then.
    fn end_turn(&mut self, entry: &Entry<'_>) {
        let is_cut_off = matches!(Ended::of(entry), Some(Ended::Cancelled | Ended::Failed | Ended::Refused));
        let is_over = |question: &Question| is_cut_off && question.turn.is_some() || question.request.is_none();
        let of_turn = self.questions.iter_mut().filter(|question| question.turn.as_deref() == entry.turn);
        for question in of_turn.filter(|question| question.waits != Waits::No && is_over(question)) {
            let may_go_on = mend::is_end_of_turn(entry) && question.request.is_some();
            question.waits = if may_go_on { Waits::InItsTurn } else { Waits::No };
        }
    }

    fn waits(&self) -> bool {
        self.questions[..self.of_page.unwrap_or(self.questions.len())]
            .iter()
            .any(|question| question.waits != Waits::No)
    }

    fn into_permissions(self) -> Vec<Permission> {
        let of_page = self.of_page.unwrap_or(self.questions.len());
        self.questions.into_iter().take(of_page).map(|question| question.permission).collect()
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
