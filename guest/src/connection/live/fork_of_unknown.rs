//! A fork that the agent has made of a session which the layer does not know. It begins with what the agent has told of it
//! before it has named it; where that is nothing, only the agent has what it begins with, and is asked when it is opened again.

use super::opening::Opening;
use super::staging::{Comparison, Staging};
use super::{LiveSession, Target};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::environment::Environment;
use crate::rpc::RpcError;
use crate::sessions::create;
use crate::storage::Storage;
use crate::store::{Origin, Session};

impl LiveSession {
    /// Stores the fork with what was told of it.
    pub(super) fn commit_fork_of_unknown<S: Storage, E: Environment>(
        &mut self,
        opening: &mut Opening,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Session, RpcError> {
        let (is_guessed, forked) = (self.is_guessed(cx), opening.target.session());
        let wanted_id = if is_guessed { String::new() } else { self.agent_id.to_string() };
        let mut session = Session::new(wanted_id, forked.cwd.clone(), cx.now());
        session.directories.clone_from(&forked.directories);
        session.give_to(&cx.agent.name, &self.agent_id, 0);
        session.origin = Origin::Agent;
        let asked_at = opening.asked_at().filter(|_| !is_guessed);
        let session = create::create_with(cx.store, cx.environment, &session, asked_at, |_| Ok(Vec::new()))?;
        self.set_id(&session.id);
        let Some(told) = opening.take_told() else { return Ok(session) };
        match self.take_over_told(told, &session, cx) {
            Ok(Some((session, heard))) => {
                opening.heard = heard;
                Ok(session)
            }
            Ok(None) => Ok(session),
            // Its agent tells it again when it is opened again.
            Err(error) => {
                cx.push(Effect::NotRecorded(error.message));
                Ok(session)
            }
        }
    }

    /// Makes what was told the beginning of the session. None where it is not all there any more.
    fn take_over_told<S: Storage, E: Environment>(
        &self,
        mut told: Staging,
        session: &Session,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<Option<(Session, u64)>, RpcError> {
        if told.is_cut(cx).unwrap_or(true) {
            told.discard(cx);
            return Ok(None);
        }
        let heard = session.heard_by(&cx.agent.name, &self.agent_id);
        match told.adopt(&Target::Known(session.clone()), heard, &self.agent_id, false, cx)? {
            Comparison::Made(taken) => Ok(Some((taken.session, taken.heard))),
            Comparison::TooEarly(told) => {
                told.discard(cx);
                Ok(None)
            }
        }
    }
}
