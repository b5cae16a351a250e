//! An agent that may be telling the history for a request that nobody waits for any more.

use super::{Busy, LiveSession, Phase};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::running::RunningAt;
use crate::environment::Environment;
use crate::storage::Storage;

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
}
