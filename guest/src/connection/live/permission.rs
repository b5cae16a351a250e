//! Permissions that the agent asks for: history, though it is never replayed as something to answer.

use serde_json::json;

use super::question::AskedWhen;
use super::{LiveSession, Phase, Question};
use crate::connection::answer::NOT_ANSWERED;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::requests::Matter;
use crate::environment::Environment;
use crate::rpc::{Id, Object, Outcome};
use crate::sessions::permissions::REQUEST;
use crate::storage::Storage;
use crate::store::ActivityState;
use crate::transcript::{Asking, Kind, ToldCalls};

impl LiveSession {
    /// The agent asks for permission; `params` without the session's id. Lists say at once that its user is waited for, if the
    /// question is remembered until it is answered.
    pub(in crate::connection) fn permission_asked<S: Storage, E: Environment>(
        &mut self,
        question: Option<Question>,
        params: &str,
        cx: &mut Cx<'_, S, E>,
    ) {
        self.alive(cx.running());
        if !self.is_open() {
            self.permission_asked_meanwhile(question, params);
            return self.say_state(cx);
        }
        self.say_held_of_late_replay(cx);
        // What an instance that was lost has written of it is not written again.
        if !self.was_recorded(cx) {
            self.record_question(question.as_ref(), params, cx);
        }
        if let Some(question) = question {
            self.remember_question(question);
        }
        self.write_if_due(cx, false);
    }

    /// A question, and the tool call that it is about, where nothing else has told of that: who is asked has it of the question.
    fn record_question<S: Storage, E: Environment>(
        &mut self,
        question: Option<&Question>,
        params: &str,
        cx: &mut Cx<'_, S, E>,
    ) {
        let mut entry = Object::parse_or_empty(params);
        if let Some(question) = question {
            entry.set(REQUEST, question.request.as_str());
        }
        let asked = if self.is_without_turn() { Asking::BetweenTurns } else { Asking::InTurn };
        let call = self.told_calls.asked(&entry, asked);
        self.says_here(cx);
        if call.is_some() {
            self.end_held(cx);
        }
        self.recorder.push(Kind::PermissionAsked, cx.now(), &entry.to_json());
        if let Some(call) = call {
            self.calls.feed(&call);
            self.recorder.push(Kind::Update, cx.now(), &format!("{{\"update\":{call}}}"));
            self.note_spoken(cx);
        }
    }

    /// The agent waits for the answer to a question from now on, in a turn or between turns. The connection remembers it too, so
    /// that there are no more than that does; what the agent has asked before by the same id is not to be told from it.
    pub(super) fn remember_question(&mut self, question: Question) {
        let asked = if self.is_without_turn() { AskedWhen::BetweenTurns } else { AskedWhen::InTurn };
        self.questions.retain(|earlier| earlier.request != question.request);
        self.questions.push(Question { asked, ..question });
    }

    /// It was asked by this request before the session was open.
    pub(super) fn mark_asked_early(&mut self, request: Option<&str>) {
        let question = self.questions.iter_mut().find(|question| Some(question.request.as_str()) == request);
        if let Some(question) = question.filter(|question| question.asked == AskedWhen::BetweenTurns) {
            question.asked = AskedWhen::Early;
        }
    }

    /// Whether it was, and no turn has begun since that its tool call would end with.
    fn is_early_and_in_no_turn(&mut self, request: &Id) -> bool {
        let is_it = |question: &Question| question.asked == AskedWhen::Early && question.request == request.as_json();
        self.is_without_turn() && self.questions.iter().any(is_it)
    }

    /// What is being done in it.
    pub(super) fn activity_state(&self) -> ActivityState {
        match &self.phase {
            Phase::Open { .. } | Phase::Opening(_) if self.awaits_user() => ActivityState::RequiresAction,
            Phase::Open { turns, .. } if !turns.is_empty() => ActivityState::Running,
            Phase::Open { .. } | Phase::Opening(_) if self.unsent.is_any() => ActivityState::Running,
            Phase::Closing(closing) if !closing.turns.is_empty() => ActivityState::Running,
            _ => ActivityState::Idle,
        }
    }

    /// Whether its agent waits for the user, or one of its sub-agents, whose sessions lists do not show.
    pub(in crate::connection) fn awaits_user(&self) -> bool {
        let (is_in_turn, is_asked) = match &self.phase {
            Phase::Open { turns, .. } => (!turns.is_empty(), false),
            Phase::Opening(opening) => (false, opening.awaits_user()),
            Phase::Closing(_) | Phase::Deleted { .. } | Phase::Gone => return false,
        };
        let is_awaited = |question: &Question| question.asked != AskedWhen::InTurn || is_in_turn;
        is_asked || self.awaited.by_subagents || self.questions.iter().any(is_awaited)
    }

    /// Whether its parent is to be told that it waits for the user, or does so no more. It counts as told then.
    pub(in crate::connection) fn take_news_for_parent(&mut self) -> bool {
        let awaits_user = self.awaits_user();
        std::mem::replace(&mut self.awaited.parent_knows, awaits_user) != awaits_user
    }

    /// Whether one of its sub-agents waits for the user: lists say so of it at once.
    pub(in crate::connection) fn subagents_await_user<S: Storage, E: Environment>(
        &mut self,
        is_awaited: bool,
        cx: &mut Cx<'_, S, E>,
    ) {
        if std::mem::replace(&mut self.awaited.by_subagents, is_awaited) != is_awaited {
            self.awaited.is_unwritten = true;
            self.write_if_due(cx, false);
        }
    }

    /// Whether other windows cannot know yet whether its sub-agents wait for the user.
    pub(super) fn is_awaited_unwritten(&self) -> bool {
        self.awaited.is_unwritten && self.is_open()
    }

    /// Other windows can know it.
    pub(super) fn awaited_written(&mut self) {
        self.awaited.is_unwritten = false;
    }

    /// Whether something is being done in it here.
    pub(in crate::connection) fn is_at_work(&self) -> bool {
        self.activity_state() != ActivityState::Idle
    }

    /// The client has answered this request, which was about a tool call, and calls itself so.
    pub(in crate::connection) fn permission_answered<S: Storage, E: Environment>(
        &mut self,
        (request, outcome): (&Id, Outcome<'_>),
        tool_call: Option<&str>,
        client: Option<&str>,
        cx: &mut Cx<'_, S, E>,
    ) {
        let ends_its_call = self.is_early_and_in_no_turn(request);
        self.questions.retain(|question| question.request != request.as_json());
        // Its agent has waited for that.
        self.alive(cx.running());
        self.permission_answered_meanwhile((request, outcome), tool_call, client);
        self.look_at_state(cx);
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
        let option = entry.get_object("outcome").get_string("optionId");
        let ended = tool_call.and_then(|call| {
            let failed = self.told_calls.answered(call, option.as_deref());
            failed.or_else(|| ends_its_call.then(|| self.told_calls.end_allowed(call)).flatten())
        });
        self.says_here(cx);
        self.recorder.push(Kind::PermissionAnswered, cx.now(), &entry.to_json());
        if let Some(ended) = ended {
            self.calls.feed(&ended);
            self.recorder.push(Kind::Update, cx.now(), &format!("{{\"update\":{ended}}}"));
        }
    }

    /// It is being closed, or was deleted: nobody is to answer any more what the agent has asked permission for, which learns so
    /// at once.
    pub(super) fn take_back_questions<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let asked = cx.requests.of_agent.matters_in(&self.key).into_iter();
        let asked: Vec<(Id, Matter)> = asked.filter(|(_, matter)| *matter != Matter::Elicitation).collect();
        if asked.is_empty() {
            return;
        }
        for (request, matter) in &asked {
            if let Matter::Permission { tool_call } = matter {
                self.permission_not_answered(request, tool_call.as_deref(), cx);
            }
        }
        cx.push(Effect::TakeBack(asked));
        // Lists say at once that nobody is waited for.
        self.write_if_due(cx, false);
    }

    /// The agent waits for the answer to this request no more.
    pub(in crate::connection) fn question_withdrawn<S: Storage, E: Environment>(
        &mut self,
        request: &Id,
        matter: &Matter,
        cx: &mut Cx<'_, S, E>,
    ) {
        match matter {
            Matter::Permission { tool_call } => {
                self.permission_not_answered(request, tool_call.as_deref(), cx);
                self.write_if_due(cx, false);
            }
            Matter::Elicitation => self.elicitation_over(request, cx),
        }
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

    /// What was asked in turns of which none is under way any more. Unless the last of them was cut off or cancelled the agent
    /// still waits for the answers.
    pub(in crate::connection) fn questions_without_turn(&mut self, is_awaited: bool) {
        if !self.is_without_turn() {
            return;
        }
        self.questions.retain(|question| is_awaited || question.asked != AskedWhen::InTurn);
        for question in self.questions.iter_mut().filter(|question| question.asked == AskedWhen::InTurn) {
            question.asked = AskedWhen::InEndedTurn;
        }
    }

    /// There is another prompt: what was asked in an ended turn is not waited for any more. An answer is noted all the same.
    pub(super) fn forget_questions_of_ended_turns(&mut self) {
        self.questions.retain(|question| question.asked != AskedWhen::InEndedTurn);
    }

    /// How many questions there are, and how many of them were asked in a turn under way: what is kept of them changes with
    /// that.
    pub(super) fn questions_stamp(&self) -> (usize, usize) {
        let in_turn = self.questions.iter().filter(|question| question.asked == AskedWhen::InTurn);
        (self.questions.len(), in_turn.count())
    }

    /// The agent has ended: it waits for nothing. What it has asked in a turn ends with that.
    pub(super) fn forget_questions<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        self.forget_held_questions();
        for question in std::mem::take(&mut self.questions) {
            if question.is_elicitation {
                self.awaited.is_unwritten = true;
            } else if let Some(request) = Id::parse(&question.request).filter(|_| question.asked != AskedWhen::InTurn) {
                self.permission_not_answered(&request, question.tool_call.as_deref(), cx);
            }
        }
        self.told_calls = ToldCalls::default();
    }
}
