//! Mode, model and options: remembered once the agent has agreed to them.

use serde_json::value::RawValue;

use super::{LiveSession, Phase};
use crate::connection::client_request::ClientRequest;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::handled::Handled;
use crate::connection::restore::NotPutBack;
use crate::environment::Environment;
use crate::rpc::{Object, Outcome};
use crate::sessions::agreed;
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

impl Setting {
    /// The agent has agreed to it, with this answer.
    fn apply_to(&self, state: &mut State, answer: &str) {
        match self {
            Self::Mode(mode) => state.set_mode(mode),
            Self::Model(model) => state.set_model(model),
            Self::Option(option, value) => {
                let Some(value) = raw(value) else { return };
                // The answer holds the complete list (protocol v1).
                let list = Object::parse_or_empty(answer).get_some("configOptions").and_then(raw);
                state.set_option(option, &value, list);
            }
        }
    }

    /// It is new whatever was in force before.
    fn record_in(&self, changes: &mut State) {
        match self {
            Self::Mode(mode) => changes.mode = Some(mode.clone()),
            Self::Model(model) => changes.model = Some(model.clone()),
            Self::Option(option, value) => changes.chosen.extend(raw(value).map(|value| (option.clone(), value))),
        }
    }

    /// The agent has agreed to it, with this answer, and the session of this id is not open: it comes back with it.
    pub(in crate::connection) fn agreed_late<S: Storage, E: Environment>(
        &self,
        id: &str,
        answer: &str,
        cx: &mut Cx<'_, S, E>,
    ) {
        if let Err(error) = agreed::note(cx.store, id, &cx.agent.name, |state| self.apply_to(state, answer)) {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
    }
}

impl LiveSession {
    /// The mode and the model that were in force before the session was opened are so again, but for what could not be put
    /// back.
    pub(super) fn settings_put_back(&mut self, before: &State, not_put_back: NotPutBack) {
        let given = self.state.in_force();
        if not_put_back.mode {
            self.state.mode = None;
        } else if let Some(mode) = &before.mode {
            self.state.set_mode(mode);
        }
        if not_put_back.model {
            self.state.model = None;
        } else if let Some(model) = &before.model {
            self.state.set_model(model);
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
        self.state.set_mode(mode);
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
        self.state.set_options(options);
        self.note_in_force(&before, cx);
    }

    /// Something of what was in force before has changed, and something else may have with it.
    fn note_in_force<S: Storage, E: Environment>(&mut self, before: &State, cx: &mut Cx<'_, S, E>) {
        self.state.add_changes(before, &mut self.state_changes);
        self.state_changed(cx);
    }

    /// The agent has answered something that a client has set.
    pub(in crate::connection) fn setting_answered<S: Storage, E: Environment>(
        &mut self,
        line: &str,
        request: &ClientRequest,
        setting: &Setting,
        outcome: Outcome<'_>,
        cx: &mut Cx<'_, S, E>,
    ) -> Handled {
        match outcome {
            Outcome::Result(answer) => self.setting_agreed(setting, answer, cx),
            Outcome::Error(error) => self.refused_by_agent(error, cx),
        }
        if !self.is_closing() {
            return Handled::Pass;
        }
        // Whoever closes the session is answered behind what was set before.
        cx.push(Effect::ToClientOf(request.clone(), vec![line.to_owned()]));
        self.advance_closing(cx);
        Handled::Done
    }

    /// The agent has agreed, with this answer.
    fn setting_agreed<S: Storage, E: Environment>(&mut self, setting: &Setting, answer: &str, cx: &mut Cx<'_, S, E>) {
        self.read_state(cx);
        let before = self.state.in_force();
        // It is what the session is to be put back to as well, where the agent is just opening it once more.
        let (put_back, was_open) = match &mut self.phase {
            Phase::Opening(opening) => {
                let was_open = opening.was_open();
                (Some(opening.in_force_soon()), was_open)
            }
            _ => (None, true),
        };
        for state in [&mut self.state].into_iter().chain(put_back) {
            setting.apply_to(state, answer);
        }
        setting.record_in(&mut self.state_changes);
        self.note_in_force(&before, cx);
        if let (Some(id), false) = (self.key.id(), was_open) {
            // It was set before the session was closed, and counts whether it is opened again or not.
            setting.agreed_late(id, answer, cx);
        }
        // The agent has agreed already, so its answer passes even where it cannot be stored; the host is told.
        self.write_if_due(cx, false);
    }
}

fn raw(json: &str) -> Option<Box<RawValue>> {
    RawValue::from_string(json.to_owned()).ok()
}
