//! Mode, model and options: remembered once the agent has agreed to them.

use serde_json::value::RawValue;

use super::{LiveSession, Phase};
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
        let given = self.state.in_force();
        if not_put_back.mode {
            self.state.mode = None;
        } else if let Some(mode) = &before.mode {
            self.state.mode_is(mode);
        }
        if not_put_back.model {
            self.state.model = None;
        } else if let Some(model) = &before.model {
            self.state.model_is(model);
        }
        self.state.add_changes(&given, &mut self.state_changes);
    }

    /// The agent says that this mode is in force.
    pub(super) fn mode_reported<S: Storage, E: Environment>(&mut self, mode: &str, cx: &mut Cx<'_, S, E>) {
        self.state_changes.mode = Some(mode.to_owned());
        if let Phase::Opening(_) = self.phase {
            // What is to be in force is not so yet.
            self.state.mode = Some(mode.to_owned());
            return self.state_changed(cx);
        }
        self.read_state(cx);
        let before = self.state.in_force();
        self.state.mode_is(mode);
        self.note_in_force(&before, cx);
    }

    /// The agent says which options there are, and which values are in force.
    pub(super) fn options_reported<S: Storage, E: Environment>(
        &mut self,
        options: Box<RawValue>,
        cx: &mut Cx<'_, S, E>,
    ) {
        self.state_changes.options = Some(options.clone());
        if let Phase::Opening(_) = self.phase {
            self.state.options = Some(options);
            return self.state_changed(cx);
        }
        self.read_state(cx);
        let before = self.state.in_force();
        self.state.options_are(options);
        self.note_in_force(&before, cx);
    }

    /// Something of what was in force before has changed, and something else may have with it.
    fn note_in_force<S: Storage, E: Environment>(&mut self, before: &State, cx: &mut Cx<'_, S, E>) {
        self.state.add_changes(before, &mut self.state_changes);
        self.state_changed(cx);
    }

    /// The agent has agreed, with this answer.
    pub(in crate::connection) fn setting_agreed<S: Storage, E: Environment>(
        &mut self,
        setting: &Setting,
        answer: &str,
        cx: &mut Cx<'_, S, E>,
    ) {
        let raw = |json: &str| RawValue::from_string(json.to_owned()).ok();
        self.read_state(cx);
        let before = self.state.in_force();
        // It is what the session is to be put back to as well, where the agent is just opening it once more.
        let put_back = match &mut self.phase {
            Phase::Opening(opening) => Some(opening.in_force_soon()),
            _ => None,
        };
        let changed = &mut self.state_changes;
        for state in [&mut self.state].into_iter().chain(put_back) {
            match setting {
                Setting::Mode(mode) => {
                    changed.mode = Some(mode.clone());
                    state.mode_is(mode);
                }
                Setting::Model(model) => {
                    changed.model = Some(model.clone());
                    state.model_is(model);
                }
                Setting::Option(option, value) => {
                    let Some(value) = raw(value) else { continue };
                    changed.chosen.insert(option.clone(), value.clone());
                    // The answer holds the complete list (protocol v1).
                    let list = Object::parse_or_empty(answer).get_some("configOptions").and_then(raw);
                    state.option_is(option, &value, list);
                }
            }
        }
        self.note_in_force(&before, cx);
        // The agent has agreed already, so its answer passes even where it cannot be stored; the host is told.
        self.write_if_due(cx, false);
    }
}
