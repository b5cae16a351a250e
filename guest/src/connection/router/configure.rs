//! `session/set_mode`, `session/set_config_option` and the old `session/set_model`: passed to the agent, and
//! remembered once it has agreed.

use crate::connection::client_request::ClientRequest;
use crate::connection::handled::{Handled, Handling};
use crate::connection::key::Key;
use crate::connection::live::{LiveSession, Setting};
use crate::connection::params::Params;
use crate::connection::requests::Incoming;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{Outcome, RpcError};
use crate::storage::Storage;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Whether a session can be talked to; the error says what the client should do about it.
    pub(super) fn check_open(&self, id: &str) -> Result<Key, RpcError> {
        let key = Key::Session(id.to_owned());
        if self.connection.sessions.get(&key).is_some_and(LiveSession::is_open) {
            return Ok(key);
        }
        let is_deleted = self.connection.sessions.get(&key).is_some_and(LiveSession::is_deleted);
        Err(if is_deleted || self.store.is_deleted(id)? {
            RpcError::session_deleted(id)
        } else if self.store.session(id)?.is_some() {
            RpcError::session_not_open(id)
        } else {
            RpcError::session_not_found(id)
        })
    }

    pub(super) fn set_mode(&mut self, line: &str, request: &ClientRequest, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        let mode = params.string("modeId")?;
        self.configure(line, request, params, Incoming::Mode { session, mode })
    }

    pub(super) fn set_model(&mut self, line: &str, request: &ClientRequest, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        let model = params.string("modelId")?;
        self.configure(line, request, params, Incoming::Model { session, model })
    }

    pub(super) fn set_config_option(&mut self, line: &str, request: &ClientRequest, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        let option = params.string("configId")?;
        // Of what type it may be is for the agent to say.
        let value = params.object().get("value").ok_or_else(|| RpcError::invalid_params("value", "is missing"))?;
        let value = value.to_owned();
        self.configure(line, request, params, Incoming::Option { session, option, value })
    }

    fn configure(&mut self, line: &str, request: &ClientRequest, params: &Params<'_>, what: Incoming) -> Handling {
        let key = self.check_open(&params.session_id()?)?;
        let Some(session) = self.connection.sessions.get(&key) else { return Ok(Handled::Done) };
        let handled = Handled::named(line, params.object(), "sessionId", session.agent_id());
        self.expect(request, what);
        Ok(handled)
    }

    /// The agent has answered something that a client has set.
    pub(super) fn setting_answered(
        &mut self,
        line: &str,
        request: &ClientRequest,
        session: String,
        setting: &Setting,
        outcome: Outcome<'_>,
    ) -> Handled {
        let key = Key::Session(session);
        let handled = self.with(&key, |live, cx| live.setting_answered(line, request, setting, outcome, cx));
        handled.unwrap_or_else(|| {
            // Whoever had it open has left, or did not wait any longer.
            if let (Some(id), Outcome::Result(answer)) = (key.id(), outcome) {
                self.run(|cx| setting.agreed_late(id, answer, cx));
            }
            Handled::Pass
        })
    }

    pub(super) fn prompt(&mut self, line: &str, request: &ClientRequest, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        let key = self.check_open(&session)?;
        if self.is_being_closed(&key) {
            return Err(RpcError::session_not_open(&session));
        }
        self.hand_over_unsent(&key, request);
        let handled = self
            .with(&key, |live, cx| live.prompt(line, request, params, cx))
            .unwrap_or_else(|| Err(RpcError::session_not_open(&session)))?;
        if let Handled::Wait(_) = handled {
            return Ok(handled);
        }
        self.connection.unsent.note_begun(request);
        let open = self.connection.sessions.get(&key);
        let turn = open.and_then(|open| open.turn_memo(request)).unwrap_or_default();
        self.expect(request, Incoming::Prompt { session, turn });
        Ok(handled)
    }
}
