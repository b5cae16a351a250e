//! An agent that may be telling the history for a request that nobody waits for any more.

use super::{Busy, LiveSession, Phase, Update};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::running::RunningAt;
use crate::environment::Environment;
use crate::storage::{Storage, StorageError};
use crate::transcript::{Repeats, Retold, UpdateKind};

impl LiveSession {
    /// An instance was lost that had the agent tell the history. In the midst of a turn there is nothing to wait for.
    pub(in crate::connection) fn await_what_is_told(&mut self, now: RunningAt) {
        match &mut self.phase {
            Phase::Open { turns, busy } if turns.is_empty() => *busy = Some(Busy::ToldInVain { alive: now }),
            _ => {}
        }
    }

    /// The agent has answered a request for the history that nobody waited for any more.
    pub(super) fn told_to_its_end<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        if !cx.requests.is_worth_waiting(&self.agent_id) {
            self.go_on_untold(cx);
        }
    }

    /// Gives up on an agent that has been silent for too long.
    pub(in crate::connection) fn telling_overdue<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let Phase::Open { busy: Some(Busy::ToldInVain { alive }), .. } = &self.phase else { return };
        if alive.until(cx.running()) >= i64::from(cx.settings.agent_timeout_ms) {
            cx.push(Effect::GiveUp(self.agent_id.to_string()));
            self.go_on_untold(cx);
        }
    }

    pub(super) fn go_on_untold<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        if let Phase::Open { busy, .. } = &mut self.phase
            && busy.take_if(|busy| matches!(busy, Busy::ToldInVain { .. })).is_some()
        {
            self.release(cx);
        }
    }

    /// Whether the agent tells what it was asked for by a request that nobody waits for any more: it has the session open
    /// by another one, and is at work on nothing new, or says again what was said before.
    pub(super) fn is_told_in_vain<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> bool {
        let Some(turns) = self.turns_mut() else { return false };
        let is_idle = turns.is_empty();
        if !cx.requests.is_told_in_vain(&self.agent_id) {
            self.retold = None;
            return false;
        }
        match self.is_retold(update, cx) {
            Ok(is_retold) => is_idle || is_retold,
            Err(error) => {
                cx.push(Effect::Warn(format!("a late replay could not be told from what is said now: {error}")));
                is_idle
            }
        }
    }

    /// Whether it says again what comes next in the transcript, as a replay does.
    fn is_retold<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &Cx<'_, S, E>,
    ) -> Result<bool, StorageError> {
        // It begins with the user's words; until it has, the transcript may go on.
        let may_begin =
            update.kind == UpdateKind::UserChunk && self.retold.as_ref().is_none_or(|told| !told.has_begun());
        if may_begin && let Some(session) = cx.store.session(self.key.id().unwrap_or_default())? {
            self.retold = Some(Box::new(Retold::of(cx.store.storage(), &session, &cx.agent.name)?));
        }
        let Some(retold) = &mut self.retold else { return Ok(false) };
        Ok(retold.repeats(cx.store.storage(), update.update, false)? == Repeats::Yes)
    }
}
