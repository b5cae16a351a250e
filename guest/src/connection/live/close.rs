//! The way to being closed: the turns end, the agent lets go, and only then the session is put away.

use std::collections::BTreeSet;

use serde_json::json;

use super::turn_end::DELETED_ELSEWHERE;
use super::{Busy, Closing, LiveSession, Phase};
use crate::connection::answer::{CANCELLED, cancelled, not_stored, result_of};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::key::Key;
use crate::connection::put_away::{PutAway, Then, put_away};
use crate::connection::requests::{Outgoing, OwnId};
use crate::environment::Environment;
use crate::rpc::{self, Code, Object, Outcome, RpcError};
use crate::storage::Storage;

/// Why nothing is stored of what was said in a session that was deleted with its parent.
const DELETED: &str = "the session was deleted with the one on behalf of which its agent had started it";

/// What whoever waits for a session to open is told whose parent is closed meanwhile.
const CLOSED_WITH_PARENT: &str =
    "Request cancelled: the session on behalf of which the agent had started this one was closed meanwhile";

impl LiveSession {
    /// Closes it, for a request; `behind`: whose prompts are answered first.
    pub(in crate::connection) fn close<S: Storage, E: Environment>(
        &mut self,
        away: PutAway,
        behind: BTreeSet<Key>,
        cx: &mut Cx<'_, S, E>,
    ) {
        if let Phase::Opening(_) = self.phase {
            self.cancel(cx);
            // Whoever waits for it to open learns that it will not; a session that was open before stays so.
            self.fail(RpcError::new(Code::RequestCancelled, "Request cancelled: the session was closed meanwhile"), cx);
        }
        match &mut self.phase {
            Phase::Closing(closing) => {
                closing.requests.push(away);
                closing.behind.extend(behind);
                // What is deleted waits for less.
                self.advance_closing(cx);
            }
            Phase::Open { .. } | Phase::Deleted { .. } => self.begin_closing(vec![away], behind, cx),
            // It was only being opened. What waited for that is handled behind this.
            Phase::Opening(_) | Phase::Gone => {
                let result = put_away(self.key.id().unwrap_or_default(), None, &away, cx);
                cx.finish(&away.request, result);
            }
        }
    }

    /// Closes it though nobody asked: it was opened for its history alone.
    pub(super) fn close_for_nobody<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        self.begin_closing(Vec::new(), BTreeSet::new(), cx);
    }

    /// The session on behalf of which its agent started it is being closed: what goes on in it ends first. Where nothing
    /// does, it stays until that one is over, and what the agent still says in it is kept. Returns whether a prompt is
    /// still to be answered.
    pub(in crate::connection) fn close_before_parent<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
    ) -> bool {
        match &self.phase {
            Phase::Open { turns, busy: None } if turns.is_empty() => self.take_back_questions(cx),
            Phase::Open { .. } => self.close_for_nobody(cx),
            Phase::Deleted { turns } if !turns.is_empty() => self.close_for_nobody(cx),
            // Somebody waits for it to open, but not for what was to come then.
            Phase::Opening(_) => self.cancel(cx),
            Phase::Closing(_) | Phase::Deleted { .. } | Phase::Gone => {}
        }
        !self.is_without_turn()
    }

    /// No prompt is open any more in a session that its agent started on its behalf.
    pub(in crate::connection) fn prompts_answered_in<S: Storage, E: Environment>(
        &mut self,
        other: &Key,
        cx: &mut Cx<'_, S, E>,
    ) {
        if let Phase::Closing(closing) = &mut self.phase
            && closing.behind.remove(other)
        {
            self.advance_closing(cx);
        }
    }

    /// Whether it is being closed, and not before the prompts in this one are answered.
    pub(in crate::connection) fn is_behind_prompts_of(&self, other: &Key) -> bool {
        matches!(&self.phase, Phase::Closing(closing) if closing.behind.contains(other))
    }

    /// Closes it because its agent started it on behalf of a session that is over.
    pub(in crate::connection) fn close_with_parent<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        if let Phase::Opening(_) = self.phase {
            // Whoever waits for it to open learns that it will not; one that was open before is closed as it then is.
            self.cancel(cx);
            self.fail(RpcError::new(Code::RequestCancelled, CLOSED_WITH_PARENT), cx);
        }
        match &self.phase {
            Phase::Open { turns, busy: None } | Phase::Deleted { turns } if turns.is_empty() => {
                // A failure has been reported. What could not be written waits for room.
                if self.write(cx, true).is_ok() || self.is_deleted() {
                    self.leave(cx);
                }
            }
            Phase::Open { .. } => self.close_for_nobody(cx),
            // Somebody waits for these to close, or for the turns to end.
            Phase::Opening(_) | Phase::Closing(_) | Phase::Deleted { .. } | Phase::Gone => {}
        }
    }

    /// It was deleted with the session on behalf of which its agent started it: whoever waits for it is told.
    pub(in crate::connection) fn deleted_with_parent<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        self.take_back_questions(cx);
        self.end_deleted_turns(cx);
        match &self.phase {
            Phase::Opening(_) => self.fail(RpcError::session_deleted_meanwhile(self.key.id().unwrap_or_default()), cx),
            Phase::Closing(_) => self.closed(cx),
            Phase::Open { .. } | Phase::Deleted { .. } | Phase::Gone => {}
        }
        self.deleted(cx);
        if !self.is_gone() {
            self.leave(cx);
        }
    }

    /// Nothing of its turns is kept, and nobody waits for their ends.
    fn end_deleted_turns<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let turns = self.turns_mut().map(std::mem::take).unwrap_or_default();
        if turns.is_empty() {
            return;
        }
        if !self.is_closing() {
            self.cancel_at_agent(cx);
        }
        for turn in turns {
            cx.finish(&turn.request, Ok(not_stored(CANCELLED, DELETED)));
        }
    }

    pub(super) fn cancel_at_agent<S: Storage, E: Environment>(&self, cx: &mut Cx<'_, S, E>) {
        let params = json!({ "sessionId": &*self.agent_id }).to_string();
        cx.push(Effect::ToAgent(rpc::notification("session/cancel", &params)));
    }

    fn begin_closing<S: Storage, E: Environment>(
        &mut self,
        requests: Vec<PutAway>,
        behind: BTreeSet<Key>,
        cx: &mut Cx<'_, S, E>,
    ) {
        let deleted = self.is_deleted();
        self.end_late_replay(cx);
        if self.is_without_turn() {
            self.end_held(cx);
        }
        // It is cancelled as if the client had asked for that: prompts that still wait are answered first.
        self.cancel(cx);
        let (turns, busy) = match std::mem::replace(&mut self.phase, Phase::Gone) {
            Phase::Open { turns, busy } => (turns, busy),
            Phase::Deleted { turns } => (turns, None),
            Phase::Closing(closing) => (closing.turns, None),
            Phase::Opening(_) | Phase::Gone => (Vec::new(), None),
        };
        if let Some(request) = busy.as_ref().and_then(Busy::request) {
            cx.finish(request, Err(cancelled()));
        }
        if !turns.is_empty() {
            self.cancel_at_agent(cx);
        }
        self.phase = Phase::Closing(Closing {
            turns,
            requests,
            behind,
            deleted,
            asked: None,
            answer: None,
            alive: cx.running(),
        });
        self.take_back_questions(cx);
        self.advance_closing(cx);
    }

    /// Goes on with closing as far as it can.
    pub(super) fn advance_closing<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let key = self.key.clone();
        let Phase::Closing(closing) = &mut self.phase else { return };
        if !closing.turns.is_empty() || closing.asked.is_some() {
            return;
        }
        if self.parent.is_some() {
            cx.push(Effect::PromptsAnswered(key.clone()));
        }
        if !closing.behind.is_empty() {
            return;
        }
        // What was set before comes back with the session once the agent has agreed to it.
        if closing.keeps_session() && key.id().is_some_and(|id| cx.requests.is_being_set(id)) {
            return;
        }
        if !cx.agent.close || self.agent_id.is_empty() {
            return self.closed(cx);
        }
        // What a client that deletes or archives it says besides is not about this.
        let asked_for = closing.requests.iter().find(|away| away.then == Then::Nothing);
        let rest = asked_for.map(|away| away.rest.clone()).unwrap_or_default();
        let params = rest.naming(&self.agent_id);
        closing.asked = Some(cx.ask(Outgoing::Close { of: key }, "session/close", params));
        closing.alive = cx.running();
    }

    /// The agent has let go, or cannot.
    pub(in crate::connection) fn close_answered<S: Storage, E: Environment>(
        &mut self,
        id: OwnId,
        outcome: Outcome<'_>,
        cx: &mut Cx<'_, S, E>,
    ) {
        let Phase::Closing(closing) = &mut self.phase else { return };
        if closing.asked == Some(id) {
            let result = result_of(&outcome).ok().filter(|result| Object::parse(result).is_some());
            closing.answer = result.map(str::to_owned);
            self.closed(cx);
        }
    }

    /// The end of it: what was said is written, and each request does with the session what it was for. Where the store does not
    /// take what was said, the session stays, unless it is deleted: what waits is written as soon as there is room.
    pub(super) fn closed<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let written = self.write(cx, true);
        let Phase::Closing(closing) = std::mem::replace(&mut self.phase, Phase::Gone) else { return };
        if self.parent.is_some() {
            cx.push(Effect::PromptsAnswered(self.key.clone()));
        }
        let has_let_go = closing.is_asked();
        let mut stays = written.is_err() && !closing.deleted;
        if !stays || closing.is_to_be_deleted() {
            self.unmark_unless_open(cx);
        }
        let id = self.key.id().unwrap_or_default().to_owned();
        let open_as = Some(self.agent_id.clone()).filter(|id| !id.is_empty());
        for away in closing.requests {
            let result = match (&written, away.then) {
                (Err(error), Then::Nothing | Then::Archive) => Err(RpcError::from(error.clone())),
                // It was open here, and is no more, whoever has deleted it meanwhile.
                (Ok(()), Then::Nothing) => Ok("{}".to_owned()),
                (Ok(()), Then::Archive) => put_away(&id, open_as.as_deref(), &away, cx),
                (_, Then::Delete) => {
                    let deleted = put_away(&id, open_as.as_deref(), &away, cx);
                    stays &= deleted.is_err();
                    deleted
                }
            };
            // Who closes it gets what the agent has answered to that, whole.
            let answer = closing.answer.as_ref().filter(|_| away.then == Then::Nothing);
            let result = result.map(|own| answer.cloned().unwrap_or(own));
            cx.finish(&away.request, result);
        }
        if stays {
            self.stays_open(has_let_go, cx);
        }
        self.release(cx);
    }

    /// It was to be closed, and what was said in it could not be written: it is open as before, though its agent may have let go
    /// of it.
    fn stays_open<S: Storage, E: Environment>(&mut self, has_let_go: bool, cx: &mut Cx<'_, S, E>) {
        self.phase = Phase::Open { turns: Vec::new(), busy: None };
        if has_let_go {
            self.detach(cx);
        }
    }

    /// Ends the wait for an agent that does not let go.
    pub(in crate::connection) fn closing_overdue<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let Phase::Closing(closing) = &self.phase else { return };
        // Those are not waited for without end either.
        if !closing.behind.is_empty() {
            return;
        }
        if closing.alive.until(cx.running()) < i64::from(cx.settings.agent_timeout_ms) {
            return;
        }
        self.cancel_closing(cx);
        self.closed(cx);
    }

    /// The agent has ended. Of a sub-agent's session that is being closed the turns are over before those that wait for them.
    pub(in crate::connection) fn end_turns_waited_for<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        if self.is_closing() && self.parent.is_some() {
            self.end_held(cx);
            self.cancel_closing(cx);
        }
    }

    /// Ends the turns of a session that is being closed: its agent will not.
    pub(super) fn cancel_closing<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let Phase::Closing(closing) = &mut self.phase else { return };
        let turns = std::mem::take(&mut closing.turns);
        if turns.is_empty() {
            return;
        }
        for turn in &turns {
            self.end_turn_with(turn, CANCELLED, cx.now());
        }
        let answer = match self.write(cx, true) {
            Ok(()) if self.is_deleted_elsewhere() => not_stored(CANCELLED, DELETED_ELSEWHERE),
            Ok(()) => CANCELLED.to_owned(),
            Err(error) => not_stored(CANCELLED, &RpcError::from(error).message),
        };
        for turn in turns {
            cx.finish(&turn.request, Ok(answer.clone()));
        }
    }
}
