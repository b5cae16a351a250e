//! `session/set_mode`, `session/set_config_option` and the old `session/set_model`: passed to the agent, and
//! remembered once it has agreed.

use serde_json::value::RawValue;

use super::awaiting::Awaiting;
use super::client::with_session_id;
use super::params::Params;
use super::{Handled, Handling};
use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::{Id, Object, Outcome, RpcError};
use crate::storage::Storage;
use crate::store::State;

impl<S: Storage, E: Environment> Engine<S, E> {
    pub(super) fn set_mode(&mut self, line: &str, id: &Id, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        let mode = params.string("modeId")?;
        self.configure(line, id, params, session.clone(), Awaiting::Mode { session, mode })
    }

    pub(super) fn set_model(&mut self, line: &str, id: &Id, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        let model = params.string("modelId")?;
        self.configure(line, id, params, session.clone(), Awaiting::Model { session, model })
    }

    pub(super) fn set_config_option(&mut self, line: &str, id: &Id, params: &Params<'_>) -> Handling {
        let session = params.session_id()?;
        let option = params.string("configId")?;
        let value = params.object().get_some("value").ok_or_else(|| RpcError::invalid_params("value", "is missing"))?;
        if !(value.starts_with('"') || value == "true" || value == "false") {
            return Err(RpcError::invalid_params("value", "must be a string or a boolean"));
        }
        let value = value.to_owned();
        self.configure(line, id, params, session.clone(), Awaiting::Option { session, option, value })
    }

    fn configure(&mut self, line: &str, id: &Id, params: &Params<'_>, session: String, awaiting: Awaiting) -> Handling {
        let Some(open) = self.talkable(&session)? else { return Ok(Handled::Hold(session)) };
        let agent_id = open.agent_id.clone();
        self.expect_answer(id, awaiting)?;
        Ok(with_session_id(line, params.object(), &agent_id))
    }

    pub(super) fn mode_set(&mut self, session: &str, mode: String, outcome: Outcome<'_>) -> Handled {
        self.remember(session, outcome, |state, _| state.mode = Some(mode))
    }

    pub(super) fn model_set(&mut self, session: &str, model: String, outcome: Outcome<'_>) -> Handled {
        self.remember(session, outcome, |state, _| state.model = Some(model))
    }

    pub(super) fn option_set(&mut self, session: &str, option: String, value: &str, outcome: Outcome<'_>) -> Handled {
        let raw = |json: &str| RawValue::from_string(json.to_owned()).ok();
        self.remember(session, outcome, |state, answer| {
            if let Some(value) = raw(value) {
                state.chosen.insert(option, value);
            }
            // The answer holds the complete list (protocol v1).
            if let Some(options) = answer.get_some("configOptions") {
                state.options = raw(options);
            }
        })
    }

    fn remember(&mut self, session: &str, outcome: Outcome<'_>, note: impl FnOnce(&mut State, &Object<'_>)) -> Handled {
        if let (Outcome::Result(answer), Some(open)) = (outcome, self.connection.sessions.get_mut(session)) {
            note(&mut open.state, &Object::parse_or_empty(answer));
            open.state_dirty = true;
            // The agent has agreed already, so its answer passes even where it cannot be stored; the log says so.
            let _ = self.write_session(session, false);
        }
        Handled::Pass
    }
}
