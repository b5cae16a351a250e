//! Permissions that the agent asks for: history, though it is never replayed as something to answer.

use serde::{Deserialize, Serialize};
use serde_json::json;

use super::{LiveSession, Phase};
use crate::connection::answer::NOT_ANSWERED;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::environment::Environment;
use crate::rpc::{Id, Object, Outcome};
use crate::sessions::permissions::REQUEST;
use crate::storage::Storage;
use crate::store::ActivityState;
use crate::transcript::Kind;

/// How many questions of a session are waited for at once. The answers to more are noted all the same, unless the instance is
/// lost meanwhile.
const MOST_QUESTIONS: usize = 64;

/// Something that the agent has asked its user, and waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::connection) struct Question {
    /// The request's id as the client knows it, as JSON.
    pub(in crate::connection) request: String,
    /// The tool call that it is about, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::connection) tool_call: Option<String>,
    /// It was asked while no turn was under way, and waits for no turn's end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(in crate::connection) between_turns: bool,
}

impl LiveSession {
    /// The agent asks for permission; `params` without the session's id. Lists say at once that its user is waited for, if the
    /// question is remembered until it is answered.
    pub(in crate::connection) fn permission_asked<S: Storage, E: Environment>(
        &mut self,
        question: Option<Question>,
        params: &str,
        cx: &mut Cx<'_, S, E>,
    ) {
        if self.is_open() {
            let mut entry = Object::parse_or_empty(params);
            if let Some(question) = &question {
                entry.set(REQUEST, question.request.as_str());
            }
            self.recorder.push(Kind::PermissionAsked, cx.now(), &entry.to_json());
            let between_turns = self.is_without_turn();
            let question = question.map(|question| Question { between_turns, ..question });
            self.questions.extend(question.filter(|_| self.questions.len() < MOST_QUESTIONS));
            self.write_if_due(cx, false);
        }
    }

    /// What is being done in it.
    pub(super) fn activity_state(&self) -> ActivityState {
        match &self.phase {
            Phase::Open { turns, .. }
                if self.questions.iter().any(|question| question.between_turns || !turns.is_empty()) =>
            {
                ActivityState::RequiresAction
            }
            Phase::Open { turns, .. } if !turns.is_empty() => ActivityState::Running,
            Phase::Closing(closing) if !closing.turns.is_empty() => ActivityState::Running,
            _ => ActivityState::Idle,
        }
    }

    /// The client has answered this request, which was about a tool call, and calls itself so.
    pub(in crate::connection) fn permission_answered<S: Storage, E: Environment>(
        &mut self,
        (request, outcome): (&Id, Outcome<'_>),
        tool_call: Option<&str>,
        client: Option<&str>,
        cx: &mut Cx<'_, S, E>,
    ) {
        self.questions.retain(|question| question.request != request.as_json());
        let can_be_noted = self.is_open() || self.is_closing();
        if !can_be_noted || self.was_recorded(cx) {
            return;
        }
        let mut entry = match outcome {
            Outcome::Result(result) => Object::parse_or_empty(result),
            Outcome::Error(error) => {
                let mut entry = Object::default();
                entry.set("error", error);
                entry
            }
        };
        // What the client may have called so itself is no answer.
        entry.set(REQUEST, request.as_json());
        for (member, value) in [("toolCallId", tool_call), ("client", client)] {
            entry.remove(member);
            if let Some(value) = value {
                entry.set(member, json!(value).to_string());
            }
        }
        self.recorder.push(Kind::PermissionAnswered, cx.now(), &entry.to_json());
    }

    /// It is being closed, or was deleted: nobody is to answer any more what the agent has asked, which learns so at once.
    pub(super) fn take_back_questions<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let asked = cx.requests.of_agent.of_session(&self.key);
        if asked.is_empty() {
            return;
        }
        for (request, tool_call) in &asked {
            self.permission_not_answered(request, tool_call.as_deref(), cx);
        }
        cx.push(Effect::TakeBack(asked.into_iter().map(|(request, _)| request).collect()));
        // Lists say at once that nobody is waited for.
        self.write_if_due(cx, false);
    }

    /// The agent waits for the answer to this request, which was about a tool call, no more.
    pub(in crate::connection) fn question_withdrawn<S: Storage, E: Environment>(
        &mut self,
        request: &Id,
        tool_call: Option<&str>,
        cx: &mut Cx<'_, S, E>,
    ) {
        self.permission_not_answered(request, tool_call, cx);
        self.write_if_due(cx, false);
    }

    /// Nobody answers this request, which was about a tool call, any more.
    fn permission_not_answered<S: Storage, E: Environment>(
        &mut self,
        request: &Id,
        tool_call: Option<&str>,
        cx: &mut Cx<'_, S, E>,
    ) {
        self.permission_answered((request, Outcome::Result(NOT_ANSWERED)), tool_call, None, cx);
    }

    /// Without a turn under way nothing waits for an answer that was asked in one.
    pub(in crate::connection) fn forget_questions_without_turn(&mut self) {
        if self.is_without_turn() {
            self.questions.retain(|question| question.between_turns);
        }
    }

    /// The agent has ended: it waits for nothing. What it has asked in a turn ends with that.
    pub(super) fn forget_questions<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        for question in std::mem::take(&mut self.questions) {
            if let Some(request) = Id::parse(&question.request).filter(|_| question.between_turns) {
                self.permission_not_answered(&request, question.tool_call.as_deref(), cx);
            }
        }
    }
}
