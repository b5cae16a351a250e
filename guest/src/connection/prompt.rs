//! `session/prompt`, `session/cancel` and `$/cancel_request`: the turns of a conversation.

use serde_json::json;

use super::agent::{DONE, result_of};
use super::awaiting::Awaiting;
use super::client::with_session_id;
use super::open_session::{OpenSession, Turn};
use super::params::Params;
use super::{Handled, Handling};
use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::{self, Id, Object, Outcome, RpcError};
use crate::sessions::title;
use crate::storage::Storage;
use crate::transcript::{Echo, Kind, digest};

/// What a cancelled prompt ends with (protocol v1: not an error).
pub(super) const CANCELLED: &str = "{\"stopReason\":\"cancelled\"}";

impl<S: Storage, E: Environment> Engine<S, E> {
    /// The session, ready to be talked to; the error says what the client should do about it, `None` to wait.
    pub(super) fn talkable(&mut self, id: &str) -> Result<Option<&mut OpenSession>, RpcError> {
        let (busy, usable) = match self.connection.sessions.get(id) {
            Some(open) => (open.is_busy_opening(), !open.deleted && open.closing.is_none()),
            None => (false, false),
        };
        if !usable {
            return Err(match self.store.session(id)? {
                Some(_) => RpcError::session_not_open(id),
                None => RpcError::session_not_found(id),
            });
        }
        Ok(if busy { None } else { self.connection.sessions.get_mut(id) })
    }

    pub(super) fn prompt(&mut self, line: &str, id: &Id, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        let prompt = params.array("prompt")?.to_owned();
        if serde_json::from_str::<Vec<serde_json::Map<String, serde_json::Value>>>(&prompt).is_err() {
            return Err(RpcError::invalid_params("prompt", "must be an array of content blocks"));
        }
        let now = self.now();
        let message_id = format!("msg_{:016x}", self.environment.random());
        let Some(open) = self.talkable(&session)? else { return Ok(Handled::Hold(session)) };
        let agent_id = open.agent_id.clone();
        let earlier = if std::mem::take(&mut open.rehydrate) { self.earlier(&session)? } else { None };
        self.expect_answer(id, Awaiting::Prompt { session: session.clone() })?;
        self.keep_open(&session);
        if let Some(open) = self.connection.sessions.get_mut(&session) {
            let recorded = format!("{{\"prompt\":{prompt},\"messageId\":\"{message_id}\"}}");
            open.recorder.push(Kind::Prompt, now, &recorded);
            let (echo, title) = (Echo::of_prompt(&prompt), title::from_prompt(&prompt));
            let told = earlier.as_ref().map(|earlier| Echo::of_prompt(&format!("[{earlier}]"))).unwrap_or_default();
            open.turns.push(Turn { request: id.clone(), cancelled: false, echo, told, title });
            open.new_prompts += 1;
            open.touched = Some(now);
        }
        let Some(earlier) = earlier else { return Ok(with_session_id(line, params.object(), &agent_id)) };
        let separator = if prompt[1..].trim_start().starts_with(']') { "" } else { "," };
        let mut params = params.object().clone();
        params.set("sessionId", json!(agent_id).to_string());
        params.set("prompt", format!("[{earlier}{separator}{}", &prompt[1..]));
        Ok(Handled::PassAs(rpc::request(id, "session/prompt", &params.to_json())))
    }

    /// What was said before, for an agent that does not know.
    fn earlier(&mut self, session: &str) -> Result<Option<String>, RpcError> {
        self.write_session(session, true)?;
        let Some(session) = self.store.session(session)? else { return Ok(None) };
        Ok(digest(self.store.storage(), &session, 0)?)
    }

    pub(super) fn prompt_answered(&mut self, line: &str, id: &Id, session: &str, outcome: Outcome<'_>) -> Handling {
        let handled = self.turn_ended(line, id, session, outcome);
        self.advance_closing(session);
        handled
    }

    fn turn_ended(&mut self, line: &str, id: &Id, session: &str, outcome: Outcome<'_>) -> Handling {
        let now = self.now();
        let Some(open) = self.connection.sessions.get_mut(session) else { return Ok(Handled::Pass) };
        let turn = open.turns.iter().position(|turn| turn.request == *id).map(|at| open.turns.remove(at));
        let cancelled = turn.as_ref().is_some_and(|turn| turn.cancelled);
        let outcome =
            if cancelled && matches!(outcome, Outcome::Error(_)) { Outcome::Result(CANCELLED) } else { outcome };
        let (entry, replaced) = match outcome {
            Outcome::Result(result) => {
                (result.to_owned(), cancelled && result == CANCELLED && !line.contains(CANCELLED))
            }
            Outcome::Error(error) => (format!("{{\"error\":{error}}}"), false),
        };
        open.recorder.push(Kind::TurnEnd, now, &entry);
        open.touched = Some(now);
        open.title = turn.and_then(|turn| turn.title);
        if let Err(error) = self.write_session(session, true) {
            // The conversation goes on; the client learns that this turn may be missing from its history.
            let Ok(result) = result_of(&outcome) else { return Ok(Handled::Pass) };
            let mark = json!({ "stored": false, "reason": error.message });
            self.answer(id, &marked(result, &mark));
            return DONE;
        }
        if replaced {
            self.answer(id, CANCELLED);
            return DONE;
        }
        Ok(Handled::Pass)
    }

    pub(super) fn cancel(&mut self, line: &str, params: Option<&str>) -> Handled {
        let session = params.and_then(Object::parse).and_then(|params| params.get_string("sessionId"));
        let Some(open) = session.as_ref().and_then(|id| self.connection.sessions.get_mut(id)) else {
            return Handled::Pass;
        };
        for turn in &mut open.turns {
            turn.cancelled = true;
        }
        // A prompt that still waits for the session is cancelled before the agent ever sees it.
        let held = std::mem::take(&mut open.held);
        let (prompts, held) = held.into_iter().partition::<Vec<_>, _>(|line| {
            matches!(rpc::Message::parse(line), Ok(rpc::Message::Request { method, .. }) if method == "session/prompt")
        });
        open.held = held.into();
        for prompt in prompts {
            if let Ok(rpc::Message::Request { id, .. }) = rpc::Message::parse(&prompt) {
                self.finish(&id, Ok(CANCELLED.to_owned()));
            }
        }
        self.pass_to_agent(line, params)
    }

    /// The layer's own requests are cancelled here, all others by the agent, which knows them by the same id.
    pub(super) fn cancel_request(&mut self, params: Option<&str>) -> Handled {
        let request = params.and_then(Object::parse).and_then(|params| Id::parse(params.get("requestId")?));
        match request {
            Some(request) if self.cancel_opening(&request) => Handled::Done,
            _ => Handled::Pass,
        }
    }
}

/// A result with the layer's mark in its `_meta`.
fn marked(result: &str, mark: &serde_json::Value) -> String {
    let mut result = Object::parse_or_empty(result);
    let mut meta = Object::parse_or_empty(result.get_some("_meta").unwrap_or("{}"));
    meta.set("acp-sessions", mark.to_string());
    let meta = meta.to_json();
    result.set("_meta", meta);
    result.to_json()
}
