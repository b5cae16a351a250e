//! Beginning to open a session, and what shows that its agent is at work on it.

use super::{Before, OpenRequest, Opening, Target};
use crate::connection::cx::Cx;
use crate::connection::key::Key;
use crate::connection::live::{Busy, LiveSession, Phase};
use crate::connection::running::RunningAt;
use crate::environment::Environment;
use crate::rpc::RpcError;
use crate::storage::Storage;
use crate::store::State;

impl LiveSession {
    /// Begins to open a session.
    pub(in crate::connection) fn begin<S: Storage, E: Environment>(
        key: Key,
        target: Target,
        asked: OpenRequest,
        state: State,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Self, RpcError> {
        let opening = Opening::planned(&key, target, asked, &state, Before::Closed, cx)?;
        let agent_id = match &opening.target {
            Target::Fork(..) | Target::ForkOfUnknown(_) => String::new(),
            Target::Known(_) | Target::Unknown(_) => opening.asks_as.clone().unwrap_or_default(),
        };
        let parent = match &opening.target {
            Target::Known(session) => session.parent.clone(),
            Target::Unknown(_) | Target::Fork(..) | Target::ForkOfUnknown(_) => None,
        };
        let is_known = matches!(opening.target, Target::Known(_));
        let mut session = Self::new(key, agent_id, state, Phase::Opening(Box::new(opening)));
        session.parent = parent;
        if is_known {
            session.note_log_end(cx);
        }
        session.set_out(cx);
        Ok(session)
    }

    /// Has the agent tell the history of a session that is open, because it is nowhere else.
    pub(in crate::connection) fn open_again<S: Storage, E: Environment>(
        &mut self,
        target: Target,
        asked: OpenRequest,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<(), RpcError> {
        self.read_state(cx);
        let opening = Opening::planned(&self.key, target, asked, &self.state, Before::Open, cx)?;
        self.phase = Phase::Opening(Box::new(opening));
        self.set_out(cx);
        Ok(())
    }

    /// Has the agent open a session that is open with something else, for a request or before the session is used.
    pub(in crate::connection) fn open_otherwise<S: Storage, E: Environment>(
        &mut self,
        asked: OpenRequest,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<(), RpcError> {
        let id = self.key.id().unwrap_or_default();
        let Some(session) = cx.store.session(id)? else { return Err(RpcError::session_not_found(id)) };
        self.read_state(cx);
        let is_asked_by_own = session.id_at(&cx.agent.name) == Some(&*self.agent_id);
        let before = Before::OpenOtherwise;
        let mut opening = Opening::planned(&self.key, Target::Known(session), asked, &self.state, before, cx)?;
        if !is_asked_by_own {
            opening.plan.clear();
        }
        self.phase = Phase::Opening(Box::new(opening));
        self.set_out(cx);
        Ok(())
    }

    pub(super) fn opening(&self) -> Option<&Opening> {
        match &self.phase {
            Phase::Opening(opening) => Some(opening),
            _ => None,
        }
    }

    pub(super) fn opening_mut(&mut self) -> Option<&mut Opening> {
        match &mut self.phase {
            Phase::Opening(opening) => Some(opening),
            _ => None,
        }
    }

    /// The agent has shown that it is at work on this session.
    pub(in crate::connection) fn alive(&mut self, now: RunningAt) {
        match &mut self.phase {
            Phase::Opening(opening) => opening.alive = now,
            Phase::Open { busy: Some(Busy::ToldInVain { alive }), .. } => *alive = now,
            _ => {}
        }
    }
}
