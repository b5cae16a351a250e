//! The steps of an opening, one after the other, and what was in force being put back.

use serde_json::value::RawValue;

use super::telling::Meanwhile;
use super::{Attached, Opening, Others, StateOfParent, Target};
use crate::connection::answer::AUTH_REQUIRED;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::live::agents_copy::AgentsCopy;
use crate::connection::live::{Busy, LiveSession, OpenedWith, Phase};
use crate::connection::requests::{Outgoing, OwnId};
use crate::connection::restore::{NotPutBack, Restored, note_beside, restore_requests, state_given};
use crate::connection::step::Step;
use crate::environment::Environment;
use crate::rpc::{Code, Object, Outcome, RpcError};
use crate::sessions::vanish;
use crate::storage::{Storage, Write, if_possible};
use crate::store::{Decision, keys};

/// How long the agent may say nothing of a session that it has open before an earlier request that nobody waits for is no
/// longer waited for, in milliseconds.
const LONGEST_WAIT_FOR_EARLIER: i64 = 5000;

/// What became of an answer to a step.
enum Answered {
    Opened(Attached),
    Refused(RpcError),
}

fn read(step: Step, outcome: Outcome<'_>) -> Answered {
    match outcome {
        Outcome::Error(error) => Answered::Refused(RpcError::read(error)),
        Outcome::Result(result) => {
            let answer = Object::parse_or_empty(result);
            if step.makes() && answer.get_string("sessionId").is_none_or(|id| id.is_empty()) {
                let message = format!("Internal error: the agent's answer to `{}` names no session", step.method());
                return Answered::Refused(RpcError::new(Code::InternalError, message));
            }
            let answer = answer.to_json();
            Answered::Opened(Attached { step, answer, not_put_back: NotPutBack::default(), adopted: false })
        }
    }
}

impl LiveSession {
    /// The first step, and the history, where it need not wait for the agent.
    pub(in crate::connection::live) fn set_out<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        self.next_step(cx);
        let key = self.key.clone();
        if self.opening_mut().is_some_and(|opening| opening.showing.is_some()) {
            cx.push(Effect::Show(key));
        }
    }

    /// Tries the next way; when none is left, that is the outcome.
    pub(super) fn next_step<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let key = self.key.clone();
        let Some(opening) = self.opening_mut() else { return };
        let Some(step) = opening.plan.pop_front() else {
            if opening.has_history_anyway() {
                return self.go_on_uncompared(cx);
            }
            if opening.is_open_anyway(cx.agent) {
                return self.go_on_as_before(cx);
            }
            let error = opening.reason.clone().unwrap_or_else(|| {
                RpcError::new(Code::InternalError, "Internal error: the agent has no way to open this session")
            });
            // To the layer a session that its agent does not have either is none.
            let is_unknown = matches!(opening.target, Target::Unknown(_)) && error.code != AUTH_REQUIRED;
            let error = if is_unknown { RpcError::session_not_found(key.id().unwrap_or_default()) } else { error };
            return self.fail(error, cx);
        };
        if step != Step::Load
            && let Some(staging) = opening.staging.take()
        {
            staging.discard(cx);
        }
        opening.made_behind = if opening.may_be_listed_before(step) { cx.store.revision().ok() } else { None };
        let params = opening.params(step);
        let agent_id = opening.asks_as.clone().filter(|_| !step.makes());
        let id = cx.ask(Outgoing::Step { of: key, step, agent_id }, step.method(), params);
        opening.current = Some((id, step));
        opening.meanwhile = Meanwhile::default();
        opening.alive = cx.running();
        if !step.makes() {
            opening.opened_within.get_or_insert((cx.now(), cx.now()));
        }
    }

    /// The session was open before, and is again without what it was being opened for.
    fn stay_open(&mut self) -> Option<Box<Opening>> {
        match std::mem::replace(&mut self.phase, Phase::Open { turns: Vec::new(), busy: None }) {
            Phase::Opening(opening) => Some(opening),
            phase => {
                self.phase = phase;
                None
            }
        }
    }

    /// The agent does not tell the history of a session that it has open: the client is shown what is in the log.
    fn go_on_uncompared<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let Some(mut opening) = self.stay_open() else { return };
        if let Some(staging) = opening.staging.take() {
            staging.discard(cx);
        }
        self.copy = AgentsCopy::NotReplayedWhileOpen;
        let (held, questions) = (opening.take_held(cx), opening.take_questions());
        if let Some(request) = opening.request.take()
            && let Err(error) = self.show_again(&request, opening.wanted, cx)
        {
            cx.finish(&request, Err(error));
        }
        self.take_in_questions(questions, cx);
        // While a history is shown it is a part of that.
        self.say_held(held, cx);
        self.release(cx);
    }

    /// The agent, which has it open, does not open it with something else: that holds when it is next opened.
    fn go_on_as_before<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let Some(mut opening) = self.stay_open() else { return };
        if let Some(staging) = opening.staging.take() {
            staging.discard(cx);
            self.copy = AgentsCopy::NotReplayedWhileOpen;
        }
        let reason = opening.reason.as_ref().map(|reason| reason.message.clone());
        let kept = self.keep_for_later(opening.given(), OpenedWith::Before(reason), cx);
        let (request, showing) = (opening.request.take(), opening.showing.take());
        let shown = match (request, showing) {
            (None, _) => Ok(()),
            (Some(request), Some(showing)) => {
                self.phase = Phase::Open { turns: Vec::new(), busy: Some(Busy::Showing(request, Box::new(showing))) };
                cx.push(Effect::Show(self.key.clone()));
                Ok(())
            }
            (Some(request), None) => {
                let shown = self.show_again(&request, opening.wanted.clone(), cx);
                shown.map_err(|error| (request, error))
            }
        };
        if let Err((request, error)) = shown {
            cx.finish(&request, Err(error));
        }
        if let Err(error) = kept {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
        self.take_in_questions(opening.take_questions(), cx);
        self.say_held(opening.take_held(cx), cx);
        self.release(cx);
    }

    /// The agent has answered a step. An answer to any but the one under way comes too late.
    pub(in crate::connection) fn step_answered<S: Storage, E: Environment>(
        &mut self,
        id: OwnId,
        outcome: Outcome<'_>,
        cx: &mut Cx<'_, S, E>,
    ) {
        let Some(opening) = self.opening_mut() else { return };
        let Some((_, step)) = opening.current.take_if(|(current, _)| *current == id) else { return };
        match read(step, outcome) {
            Answered::Refused(error) if opening.attached.is_some() => {
                // What it has told meanwhile is not all.
                if let Some(staging) = opening.staging.take() {
                    staging.discard(cx);
                }
                self.go_on_unasked(error, cx);
            }
            Answered::Refused(error) => {
                if error.code == AUTH_REQUIRED {
                    // No other way would fare better.
                    opening.plan.clear();
                }
                opening.reason = Some(error);
                self.next_step(cx);
            }
            Answered::Opened(attached) => {
                let tells_behind = opening.may_tell_all_behind(&attached, cx);
                match opening.answered_in_full(attached, tells_behind, cx.now()) {
                    Some(attached) => self.attached(attached, cx),
                    None => opening.current = Some((id, step)),
                }
            }
        }
    }

    /// The agent has the session open: what it told is taken over, the history begins, and its settings are put back.
    pub(super) fn attached<S: Storage, E: Environment>(&mut self, attached: Attached, cx: &mut Cx<'_, S, E>) {
        let answer = attached.answer.clone();
        if attached.step.makes() {
            self.agent_id = Object::parse_or_empty(&answer).get_string("sessionId").unwrap_or_default().into();
            self.recorder.forget_speaker();
        }
        if attached.step == Step::New {
            self.begins_count(cx);
        }
        let given = Object::parse_or_empty(&answer);
        self.take_what_parent_has(&given, cx);
        self.change_state(|state| {
            *state = state_given(&given, std::mem::take(state));
            note_beside(&given, state, &cx.agent.name, attached.step.makes());
        });
        self.state_changed(cx);
        let agent_id = self.agent_id.clone();
        let Some(opening) = self.opening_mut() else { return };
        if attached.step == Step::New {
            opening.heard = 0;
        }
        opening.awaits_earlier = !attached.step.makes() && cx.requests.is_worth_waiting(&agent_id);
        let late_replay = opening.late_replay(attached.step, cx.now());
        opening.attached = Some(attached);
        opening.opened_within = opening.opened_within.map(|(asked, _)| (asked, cx.now()));
        self.late_replay = late_replay;
        if let Err(error) = self.take_over(cx) {
            return self.fail(error, cx);
        }
        if self.is_to_ask_again() {
            return self.ask_again(cx);
        }
        self.go_on_attached(cx);
    }

    /// What the agent has agreed to of the session that is forked, while it was being asked to fork it, holds for the fork as well:
    /// what it says in its answer, where it says that, since it may have agreed to something else behind the fork.
    fn take_what_parent_has<S: Storage, E: Environment>(&mut self, given: &Object<'_>, cx: &Cx<'_, S, E>) {
        let name = &cx.agent.name;
        let Some(opening) = self.opening_mut().filter(|opening| opening.state_of_parent == StateOfParent::AsAnswered)
        else {
            return;
        };
        // Where it cannot be read, it is what it was as the fork was asked for.
        let Ok(state) = cx.store.state(&opening.target.session().id) else { return };
        let state = state_given(given, state.without_cost().with_agent(name));
        opening.put_back = state.clone();
        self.change_state(|own| own.clone_from(&state));
    }

    /// What it told is settled: its settings are put back.
    pub(super) fn go_on_attached<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let (key, agent_id) = (self.key.clone(), self.agent_id.clone());
        // Found before this one takes its id.
        let stands_in = self.opening().filter(|opening| !opening.target.is_fork());
        let made_behind = stands_in.and_then(|opening| opening.made_behind);
        let twin = made_behind.and_then(|behind| self.twin_since(behind, cx));
        let Some(opening) = self.opening_mut() else { return };
        opening.alive = cx.running();
        let answer = opening.attached.as_ref().map(|attached| attached.answer.clone()).unwrap_or_default();
        let (requests, not_put_back) = restore_requests(&opening.put_back, &answer, &agent_id);
        if let Some(attached) = &mut opening.attached {
            attached.not_put_back = not_put_back;
        }
        for request in requests {
            let id = cx.ask(Outgoing::Restore { of: key.clone() }, request.method, request.params);
            opening.restoring.insert(id, request.restores);
        }
        self.advance(cx);
        self.note_stand_in(cx);
        if let Some(twin) = twin
            && let Err(error) = vanish::forget(cx.store, &twin, &cx.agent.name, cx.now())
        {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
    }

    /// What another window has made of the agent's list where that has told of the session which the agent has begun for this
    /// one, since the store was at this revision.
    fn twin_since<S: Storage, E: Environment>(&self, revision: u64, cx: &mut Cx<'_, S, E>) -> Option<String> {
        let own = self.key.id()?;
        // Where it cannot be read, both are listed.
        let row = vanish::listed_since(cx.store, (&cx.agent.name, &self.agent_id), revision).unwrap_or_default();
        row.map(|row| row.id).filter(|id| id != own)
    }

    /// Where the agent has begun a session in the place of its own, or of another agent's, and it takes a while until all of
    /// the history is out: that it is this session's is noted before somebody finds it in the agent's list, and takes it for
    /// one more.
    fn note_stand_in<S: Storage, E: Environment>(&self, cx: &mut Cx<'_, S, E>) {
        let Phase::Opening(opening) = &self.phase else { return };
        let Target::Known(session) = &opening.target else { return };
        if opening.attached.as_ref().is_none_or(|attached| attached.step != Step::New) {
            return;
        }
        let noted = cx.store.change(&session.id).commit(|before, _, writes| {
            let Some(mut changed) = before.cloned() else { return Ok(Decision::Keep) };
            match changed.agents.get_mut(&cx.agent.name) {
                Some(known) if known.ids().all(|id| *id != *self.agent_id) => known.forget(self.agent_id.to_string()),
                Some(_) => return Ok(Decision::Keep),
                None => changed.know_as(&cx.agent.name, &self.agent_id, 0),
            }
            let key = keys::agent_session(&cx.agent.name, &self.agent_id);
            writes.push(Write::Put { key, value: session.id.clone() });
            Ok(Decision::put(changed))
        });
        if let Err(error) = if_possible(noted) {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
    }

    /// The agent has answered a request to put something back.
    pub(in crate::connection) fn restore_answered<S: Storage, E: Environment>(
        &mut self,
        id: OwnId,
        outcome: Outcome<'_>,
        cx: &mut Cx<'_, S, E>,
    ) {
        let Some(opening) = self.opening_mut() else { return };
        let Some(restored) = opening.restoring.remove(&id) else { return };
        opening.alive = cx.running();
        match outcome {
            Outcome::Error(_) => {
                if let Some(attached) = &mut opening.attached {
                    attached.not_put_back.note(&restored);
                }
            }
            Outcome::Result(result) => {
                if let Restored::Option(option, value) = restored {
                    let list = Object::parse_or_empty(result).get_some("configOptions").map(str::to_owned);
                    let list = list.and_then(|list| RawValue::from_string(list).ok());
                    self.state.restore_option(&option, &value, list);
                    self.state_changes.options.clone_from(&self.state.options);
                }
            }
        }
        self.advance(cx);
    }

    /// The agent has answered a request for the session that nobody waited for any more.
    pub(in crate::connection) fn earlier_answered<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        self.told_to_its_end(cx);
        self.tell_anew(cx);
        let is_left = cx.requests.is_worth_waiting(&self.agent_id);
        let Some(opening) = self.opening_mut() else { return };
        if opening.awaits_earlier && !is_left {
            opening.awaits_earlier = false;
            if self.is_to_ask_again() {
                return self.ask_again(cx);
            }
            self.advance(cx);
        }
    }

    /// Goes on as far as it can: when the agent has the session open and the history is out, it is open.
    pub(in crate::connection) fn advance<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let Phase::Opening(opening) = &self.phase else { return };
        if !opening.is_attached() {
            return;
        }
        if opening.showing.as_ref().is_some_and(|showing| !showing.is_over()) {
            cx.push(Effect::Show(self.key.clone()));
            return;
        }
        self.opened(cx);
    }

    /// Whether the agent has done its part, so that the end of the history may follow.
    pub(in crate::connection::live) fn may_end_history(&self) -> bool {
        match &self.phase {
            Phase::Opening(opening) => opening.is_attached(),
            _ => true,
        }
    }

    /// Whether its record was in the store when what it is at began.
    pub(in crate::connection::live) fn is_stored(&self) -> bool {
        match &self.phase {
            Phase::Opening(opening) => matches!(opening.target, Target::Known(_)),
            _ => true,
        }
    }

    /// Whether it waits for others to write.
    pub(in crate::connection) fn awaits_others(&self) -> bool {
        matches!(&self.phase, Phase::Opening(opening) if opening.others.are_awaited())
    }

    /// Compares what the agent has told with the history once others have had the time to write.
    pub(in crate::connection) fn others_have_written<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let (now, running, flush_ms) = (cx.now(), cx.running(), cx.settings.flush_ms);
        let Some(opening) = self.opening_mut().filter(|opening| opening.others.have_had_time(now, flush_ms)) else {
            return;
        };
        opening.others = Others::HaveWritten;
        opening.alive = running;
        match self.take_over(cx) {
            Ok(()) => self.advance(cx),
            Err(error) => self.fail(error, cx),
        }
    }

    /// Gives up on an agent that has been silent for too long. While its user has something to answer that it has asked meanwhile, it
    /// may be waiting for that.
    pub(in crate::connection) fn opening_overdue<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let running = cx.running();
        let limit = i64::from(cx.settings.agent_timeout_ms);
        let agent_id = self.agent_id.to_string();
        let Some(opening) = self.opening_mut() else { return };
        if opening.questions.is_any_open() {
            opening.alive = running;
            return;
        }
        let limit = if opening.awaits_earlier { limit.min(LONGEST_WAIT_FOR_EARLIER) } else { limit };
        if opening.alive.until(running) < limit {
            return;
        }
        if let Some((_, step)) = &opening.current {
            let error = Opening::silent(step.method());
            self.fail(error, cx);
            cx.push(Effect::GiveUp(agent_id));
        } else if opening.awaits_earlier || !opening.restoring.is_empty() {
            opening.awaits_earlier = false;
            opening.restoring.clear();
            cx.push(Effect::GiveUp(agent_id));
            if self.is_to_ask_again() {
                return self.go_on_unasked(Opening::silent(Step::Load.method()), cx);
            }
            self.advance(cx);
        }
    }
}
