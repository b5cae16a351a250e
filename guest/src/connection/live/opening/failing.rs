//! The end of an opening that does not succeed: nothing of it stays, and nobody is left without an answer.

use super::{Before, Opening, Target, Wanted};
use crate::connection::answer::{cancelled, failed_with};
use crate::connection::client_request::ClientRequest;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::live::{Busy, LiveSession, OpenedWith, Phase};
use crate::connection::step::Step;
use crate::environment::Environment;
use crate::rpc::{self, Code, RpcError};
use crate::sessions::vanish;
use crate::storage::Storage;

impl Opening {
    /// Whether the agent is telling the history of a session that it has open.
    fn is_told_while_open(&self) -> bool {
        self.was_open()
            && !self.is_detached()
            && self.staging.is_some()
            && matches!(self.current, Some((_, Step::Load)))
    }

    /// The client no longer waits: the agent is told, and what it tells until it answers is taken over for nobody.
    fn withdraw<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let Some(request) = self.request.take() else { return };
        self.before = Before::OpenForNobody;
        self.wanted = Wanted::Nothing;
        self.shows_telling = false;
        if let Some((id, _)) = self.current {
            let params = format!("{{\"requestId\":{}}}", cx.ids.wire(id).as_json());
            cx.push(Effect::ToAgent(rpc::notification("$/cancel_request", &params)));
        }
        cx.finish(&request, Err(cancelled()));
    }
}

impl LiveSession {
    /// The session could not be opened: the request fails, and what waited for it is handled without it.
    pub(in crate::connection) fn fail<S: Storage, E: Environment>(&mut self, error: RpcError, cx: &mut Cx<'_, S, E>) {
        if self.opening().is_some_and(Opening::is_behind_answer) {
            self.end_late_replay(cx);
        }
        let phase = std::mem::replace(&mut self.phase, Phase::Gone);
        let mut opening = match phase {
            Phase::Opening(opening) => opening,
            other => {
                self.phase = other;
                return;
            }
        };
        if let Some(staging) = opening.staging.take() {
            staging.discard(cx);
        }
        if opening.is_otherwise() {
            self.opened_with = OpenedWith::Other;
        }
        // What the agent said of its state when it had it open is not that of a session that was opened.
        self.state_dirty &= opening.was_open();
        let agent_id = Some(self.agent_id.to_string()).filter(|id| !id.is_empty());
        if let Some((id, _)) = opening.current.take() {
            cx.push(Effect::Abandon(id));
        }
        if !opening.was_open() || opening.is_detached() {
            self.take_back_all_questions(cx);
        }
        if opening.was_open() {
            self.phase = Phase::Open { turns: Vec::new(), busy: None };
            if !opening.is_detached() {
                self.take_in_questions(opening.take_questions(), cx);
            }
            self.say_held(opening.take_held(cx), cx);
        } else {
            self.keep_held(&mut opening, cx);
        }
        if opening.is_detached() {
            self.agent_id = "".into();
        }
        if let (Some(attached), Some(agent_id)) = (&opening.attached, agent_id)
            && (!opening.was_open() || opening.is_detached())
        {
            cx.push(Effect::LetGo { agent_id, made: attached.step.makes() });
        }
        // Nothing is forgotten that somebody has open, and this connection has it open no more.
        self.unmark_unless_open(cx);
        // An agent that was only asked for a new one says nothing of the one that it has.
        let is_about_it = opening.asks_as.is_none() || cx.agent.reopens();
        let is_not_found = error.code == Code::ResourceNotFound as i64 && is_about_it;
        if let (Target::Known(session), true, false) = (&opening.target, is_not_found, opening.was_open())
            && let Err(error) = vanish::forget(cx.store, &session.id, &cx.agent.name, cx.now())
        {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
        match opening.request.take() {
            Some(request) => cx.finish(&request, Err(error)),
            None if opening.before == Before::OpenForNobody => {}
            // Whoever waited for the history cannot have it.
            None => {
                let end = failed_with(&error);
                for waiting in std::mem::take(&mut self.waiting) {
                    self.end_waiting(&waiting, &end, &error, cx);
                }
            }
        }
        self.look_at_state(cx);
        self.release(cx);
    }

    /// The client no longer wants it opened, or shown; says whether this request was the one.
    pub(in crate::connection) fn cancel_opening<S: Storage, E: Environment>(
        &mut self,
        request: &ClientRequest,
        cx: &mut Cx<'_, S, E>,
    ) -> bool {
        match &mut self.phase {
            Phase::Opening(opening) if opening.request.as_ref() == Some(request) => {
                if opening.is_told_while_open() {
                    if opening.is_otherwise() {
                        self.opened_with = OpenedWith::Other;
                    }
                    opening.withdraw(cx);
                } else {
                    self.fail(cancelled(), cx);
                }
                true
            }
            Phase::Open { busy, .. } if busy.as_ref().and_then(Busy::request) == Some(request) => {
                *busy = None;
                cx.finish(request, Err(cancelled()));
                self.release(cx);
                true
            }
            _ => false,
        }
    }
}
