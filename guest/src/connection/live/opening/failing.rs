//! The end of an opening that does not succeed: nothing of it stays, and nobody is left without an answer.

use super::{LiveSession, Phase, Target};
use crate::connection::answer::cancelled;
use crate::connection::client_request::ClientRequest;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::environment::Environment;
use crate::rpc::{Code, RpcError};
use crate::sessions::vanish;
use crate::storage::Storage;

impl LiveSession {
    /// The session could not be opened: the request fails, and what waited for it is handled without it.
    pub(in crate::connection) fn fail<S: Storage, E: Environment>(&mut self, error: RpcError, cx: &mut Cx<'_, S, E>) {
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
        // What the agent said of its state when it had it open is not that of a session that was opened.
        self.state_dirty &= opening.was_open;
        let agent_id = Some(self.agent_id.to_string()).filter(|id| !id.is_empty());
        if let Some((id, _)) = opening.current.take() {
            cx.push(Effect::Abandon(id));
        }
        if opening.was_open {
            self.phase = Phase::Open { turns: Vec::new(), showing: None };
        } else if let (Some(attached), Some(agent_id)) = (&opening.attached, agent_id) {
            cx.push(Effect::LetGo { agent_id, made: attached.step.makes() });
        }
        // Nothing is forgotten that somebody has open, and this connection has it open no more.
        self.unmark_unless_open(cx);
        let is_not_found = error.code == Code::ResourceNotFound as i64;
        if let (Target::Known(session), true, false) = (&opening.target, is_not_found, opening.was_open)
            && let Err(error) = vanish::forget(cx.store, &session.id, &cx.agent.name, cx.now())
        {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
        match opening.request.take() {
            Some(request) => cx.finish(&request, Err(error)),
            // Whoever waited for the history cannot have it.
            None => {
                for request in self.waiting.drain(..).filter_map(|waiting| waiting.request) {
                    cx.finish(&request, Err(error.clone()));
                }
            }
        }
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
                self.fail(cancelled(), cx);
                true
            }
            Phase::Open { showing, .. } if showing.as_ref().is_some_and(|(of, _)| of == request) => {
                *showing = None;
                cx.finish(request, Err(cancelled()));
                self.release(cx);
                true
            }
            _ => false,
        }
    }
}
