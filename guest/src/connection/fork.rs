//! `session/fork` (unstable): by the agent's own fork where it has one; else a session of its own that is told, or
//! shown, what was said before. The fork is stored only when it is ready, with the answer that names it.

use serde_json::json;

use super::agent::DONE;
use super::attach::{Attach, Owner, Step};
use super::awaiting::Awaiting;
use super::open::opened_result;
use super::open_session::OpenSession;
use super::params::Params;
use super::{Handled, Handling};
use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::{Id, Object, RpcError};
use crate::sessions::fork::{Fork, fork};
use crate::storage::Storage;
use crate::store::{Session, State};

/// A fork that waits for the agent.
#[derive(Debug)]
pub(super) struct Forking {
    parent: String,
    cwd: String,
    pub(super) state: State,
    pub(super) attach: Attach,
}

impl<S: Storage, E: Environment> Engine<S, E> {
    pub(super) fn fork(&mut self, id: &Id, params: &Params<'_>) -> Handling {
        let parent = params.session_id()?;
        let cwd = params.cwd()?;
        params.check_mcp_servers(false)?;
        params.check_additional_directories()?;
        if self.connection.sessions.get(&parent).is_some_and(OpenSession::is_busy_opening) {
            return Ok(Handled::Hold(parent));
        }
        self.write_session(&parent, true)?;
        let Some(session) = self.store.session(&parent)? else { return Err(RpcError::session_not_found(&parent)) };
        let same_agent = session.agent.is_none() || session.agent == self.connection.agent.name;
        let name = self.connection.agent.name.clone().unwrap_or_default();
        let agent_id = session.id_at(&name).map(str::to_owned).filter(|_| same_agent && self.connection.agent.fork);
        let state = self.store.state(&parent)?;
        self.expect_answer(id, Awaiting::Own)?;
        let attach = Attach::new(agent_id, params.without_session(), [Step::Fork, Step::New]);
        self.connection.forking.insert(id.clone(), Forking { parent, cwd, state, attach });
        self.attach_next(&Owner::fork(id));
        DONE
    }

    /// The agent has the fork, or has none to give.
    pub(super) fn finish_fork(&mut self, request: &Id) {
        let Some(forking) = self.connection.forking.remove(request) else { return };
        let result = self.forked(forking);
        self.finish(request, result);
    }

    fn forked(&mut self, forking: Forking) -> Result<String, RpcError> {
        let reason = forking.attach.reason().map(str::to_owned);
        let Some(attached) = forking.attach.outcome.transpose()? else {
            return Err(RpcError::session_not_found(&forking.parent));
        };
        let wanted_id = attached.agent_id.clone().unwrap_or_default();
        let wanted = Fork {
            parent: &forking.parent,
            wanted_id: wanted_id.clone(),
            cwd: forking.cwd,
            agent: self.connection.agent.name.clone(),
            agent_id: attached.agent_id,
            heard: u64::MAX,
            now: self.now(),
        };
        let Some(session) = fork(&self.store, &self.environment, &wanted)? else {
            return Err(RpcError::session_not_found(&forking.parent));
        };
        let mut open = OpenSession::new(&session, wanted_id, forking.state);
        open.state_dirty = true;
        if attached.mode_refused {
            open.state.mode = None;
        }
        let mut mark = json!({ "attached": attached.step.name() });
        if attached.step == Step::New && !Session::is_unprompted(&session) {
            open.rehydrate = self.settings.rehydrate;
            mark["rehydrate"] = open.rehydrate.into();
        }
        if let Some(reason) = reason {
            mark["reason"] = reason.into();
        }
        let result = opened_result(&attached.answer, &open.state, &mark);
        let mut result = Object::parse_or_empty(&result);
        result.set("sessionId", json!(session.id).to_string());
        let result = result.to_json();
        self.insert_open(&session.id, open);
        self.renew_mark(&session.id);
        self.write_session(&session.id, false)?;
        Ok(result)
    }
}
