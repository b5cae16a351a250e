//! Mode, model and options: remembered once the agent has agreed to them.

use serde_json::value::RawValue;

use super::LiveSession;
use crate::connection::cx::Cx;
use crate::connection::restore::NotPutBack;
use crate::environment::Environment;
use crate::rpc::Object;
use crate::storage::Storage;
use crate::store::State;

/// What a client has set.
#[derive(Debug)]
pub(in crate::connection) enum Setting {
    Mode(String),
    Model(String),
    /// An option and its value as JSON.
    Option(String, String),
}

impl LiveSession {
    /// The mode and the model that were in force before the session was opened are so again, but for what could not be put
    /// back.
    pub(super) fn settings_put_back(&mut self, before: &State, not_put_back: NotPutBack) {
        if not_put_back.mode {
            self.state.mode = None;
        } else if let Some(mode) = &before.mode {
            self.change_state(|state| state.mode = Some(mode.clone()));
        }
        if not_put_back.model {
            self.state.model = None;
        } else if let Some(model) = &before.model {
            self.change_state(|state| state.model = Some(model.clone()));
        }
    }

    /// The agent has agreed, with this answer.
    pub(in crate::connection) fn setting_agreed<S: Storage, E: Environment>(
        &mut self,
        setting: Setting,
        answer: &str,
        cx: &mut Cx<'_, S, E>,
    ) {
        let raw = |json: &str| RawValue::from_string(json.to_owned()).ok();
        match setting {
            Setting::Mode(mode) => self.change_state(|state| state.mode = Some(mode.clone())),
            Setting::Model(model) => self.change_state(|state| state.model = Some(model.clone())),
            Setting::Option(option, value) => {
                if let Some(value) = raw(&value) {
                    self.change_state(|state| drop(state.chosen.insert(option.clone(), value.clone())));
                }
                // The answer holds the complete list (protocol v1).
                if let Some(options) = Object::parse_or_empty(answer).get_some("configOptions") {
                    self.change_state(|state| state.options = raw(options));
                }
            }
        }
        self.state_changed(cx);
        // The agent has agreed already, so its answer passes even where it cannot be stored; the host is told.
        self.write_if_due(cx, false);
    }
}
