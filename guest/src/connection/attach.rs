//! Making the agent open a session that it may or may not remember.
//!
//! In order: its own `session/resume`, its `session/load` (replay dropped), a new session of its own mapped to the
//! same client-visible id. A fork goes the same way, beginning with the agent's `session/fork`. Then the mode, model
//! and options that were in force are put back.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};
use serde_json::json;
use serde_json::value::RawValue;

use super::Handling;
use super::agent::{DONE, agent_error};
use super::awaiting::Awaiting;
use super::new::state_given;
use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::{Code, Id, Object, Outcome, RpcError};
use crate::storage::Storage;
use crate::store::State;

/// Error code of an agent that wants its user logged in first: no other way of opening would fare better.
const AUTH_REQUIRED: i64 = -32000;

const SET_MODE: &str = "session/set_mode";

/// Who is being opened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Owner {
    /// An open session.
    Session(String),
    /// A fork that has no id yet: the client's request, as JSON.
    Fork(String),
}

impl Owner {
    pub(super) fn fork(request: &Id) -> Self {
        Self::Fork(request.as_json().to_owned())
    }
}

/// One way to open a session at the agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Step {
    Resume,
    Load,
    Fork,
    New,
}

impl Step {
    fn method(self) -> &'static str {
        match self {
            Self::Resume => "session/resume",
            Self::Load => "session/load",
            Self::Fork => "session/fork",
            Self::New => "session/new",
        }
    }

    /// As said in `_meta`.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Resume => "resume",
            Self::Load => "load",
            Self::Fork => "fork",
            Self::New => "new",
        }
    }
}

/// An attempt to open a session at the agent.
#[derive(Debug)]
pub(super) struct Attach {
    /// The agent's id of the session, or of the one to fork.
    agent_id: Option<String>,
    /// The client's params but for the session's id.
    rest: String,
    plan: VecDeque<Step>,
    /// The step under way, and when it is given up.
    current: Option<(Id, Step, i64)>,
    restoring: BTreeSet<Id>,
    restore_until: i64,
    /// Why an earlier step did not do.
    reason: Option<RpcError>,
    pub(super) outcome: Option<Result<Attached, RpcError>>,
    /// What the agent replays is new to the layer: recorded and shown.
    pub(super) adopts: bool,
}

/// How it went.
#[derive(Debug)]
pub(super) struct Attached {
    pub(super) step: Step,
    /// The agent's id of the session, where it made a new one.
    pub(super) agent_id: Option<String>,
    /// The agent's answer.
    pub(super) answer: String,
    /// Whether the wanted mode could not be put back.
    pub(super) mode_refused: bool,
}

impl Attach {
    pub(super) fn new(agent_id: Option<String>, rest: String, plan: impl IntoIterator<Item = Step>) -> Self {
        let plan = plan.into_iter().filter(|step| agent_id.is_some() || *step == Step::New).collect();
        Self {
            agent_id,
            rest,
            plan,
            current: None,
            restoring: BTreeSet::new(),
            restore_until: 0,
            reason: None,
            outcome: None,
            adopts: false,
        }
    }

    pub(super) fn is_done(&self) -> bool {
        self.outcome.is_some() && self.restoring.is_empty()
    }

    /// Why the agent's own way did not do, where it did not.
    pub(super) fn reason(&self) -> Option<&str> {
        self.reason.as_ref().map(|error| error.message.as_str())
    }

    pub(super) fn note(&mut self, reason: &str) {
        self.reason = Some(RpcError::new(Code::InternalError, reason));
    }

    fn params(&self, step: Step) -> String {
        let mut rest = Object::parse_or_empty(&self.rest);
        if step == Step::New || step == Step::Load {
            // Required there, optional on resume and fork (protocol v1).
            let servers = rest.get_some("mcpServers").unwrap_or("[]").to_owned();
            rest.set("mcpServers", servers);
        }
        if step == Step::New {
            return rest.to_json();
        }
        let id = serde_json::Value::from(self.agent_id.as_deref().unwrap_or_default());
        let rest = rest.to_json();
        let comma = if rest == "{}" { "" } else { "," };
        format!("{{\"sessionId\":{id}{comma}{}", &rest[1..])
    }
}

impl<S: Storage, E: Environment> Engine<S, E> {
    pub(super) fn attach_mut(&mut self, owner: &Owner) -> Option<&mut Attach> {
        match owner {
            Owner::Session(id) => self.connection.sessions.get_mut(id)?.attach.as_mut(),
            Owner::Fork(request) => {
                let request = Id::parse(request)?;
                Some(&mut self.connection.forking.get_mut(&request)?.attach)
            }
        }
    }

    /// The state of what is being opened, to be stored once it is.
    fn state_mut(&mut self, owner: &Owner) -> Option<&mut State> {
        match owner {
            Owner::Session(id) => {
                let open = self.connection.sessions.get_mut(id)?;
                open.state_dirty = true;
                Some(&mut open.state)
            }
            Owner::Fork(request) => Some(&mut self.connection.forking.get_mut(&Id::parse(request)?)?.state),
        }
    }

    /// Tries the next way; when none is left, that is the outcome.
    pub(super) fn attach_next(&mut self, owner: &Owner) {
        let until = self.now() + i64::from(self.settings.agent_timeout_ms);
        let Some(attach) = self.attach_mut(owner) else { return };
        let Some(step) = attach.plan.pop_front() else {
            let error = attach.reason.take().unwrap_or_else(|| {
                RpcError::new(Code::InternalError, "Internal error: the agent has no way to open this session")
            });
            attach.outcome = Some(Err(error));
            self.attach_finished(owner);
            return;
        };
        let params = attach.params(step);
        let id = self.ask_agent(step.method(), &params, Awaiting::Attach { owner: owner.clone(), step });
        if let Some(attach) = self.attach_mut(owner) {
            attach.current = Some((id, step, until));
        }
    }

    pub(super) fn attach_answered(&mut self, owner: &Owner, step: Step, outcome: Outcome<'_>) -> Handling {
        let Some(attach) = self.attach_mut(owner) else { return DONE };
        attach.current = None;
        match outcome {
            Outcome::Error(error) => {
                let error = agent_error(error);
                if error.code == AUTH_REQUIRED {
                    attach.plan.clear();
                }
                attach.reason = Some(error);
                self.attach_next(owner);
            }
            Outcome::Result(result) => {
                let answer = Object::parse_or_empty(result);
                let agent_id = match step {
                    Step::New | Step::Fork => answer.get_string("sessionId"),
                    Step::Resume | Step::Load => None,
                };
                let attached = Attached { step, agent_id, answer: answer.to_json(), mode_refused: false };
                self.attached(owner, attached);
            }
        }
        DONE
    }

    /// The agent has the session open; its settings are put back.
    fn attached(&mut self, owner: &Owner, attached: Attached) {
        let until = self.now() + i64::from(self.settings.agent_timeout_ms);
        let agent_id = match owner {
            Owner::Session(id) => {
                if let Some(agent_id) = attached.agent_id.clone() {
                    self.rename_for_agent(id, agent_id);
                }
                self.connection.sessions.get(id).map(|open| open.agent_id.clone())
            }
            Owner::Fork(_) => attached.agent_id.clone(),
        };
        let Some((agent_id, state)) = agent_id.zip(self.state_mut(owner)) else { return };
        let wishes = wishes(state, &attached, &agent_id);
        *state = state_given(&Object::parse_or_empty(&attached.answer), std::mem::take(state));
        let Some(attach) = self.attach_mut(owner) else { return };
        attach.outcome = Some(Ok(attached));
        attach.restore_until = until;
        for (method, params) in wishes {
            let is_mode = method == SET_MODE;
            let id = self.ask_agent(method, &params, Awaiting::Restore { owner: owner.clone(), is_mode });
            if let Some(attach) = self.attach_mut(owner) {
                attach.restoring.insert(id);
            }
        }
        self.attach_finished(owner);
    }

    pub(super) fn restore_answered(&mut self, owner: &Owner, id: &Id, is_mode: bool, outcome: Outcome<'_>) -> Handling {
        let Some(attach) = self.attach_mut(owner) else { return DONE };
        attach.restoring.remove(id);
        match outcome {
            Outcome::Error(_) if is_mode => {
                if let Some(Ok(attached)) = &mut attach.outcome {
                    attached.mode_refused = true;
                }
            }
            Outcome::Result(result) => {
                let answer = Object::parse_or_empty(result);
                if let (Some(options), Some(state)) = (answer.get_some("configOptions"), self.state_mut(owner)) {
                    state.options = RawValue::from_string(options.to_owned()).ok();
                }
            }
            Outcome::Error(_) => {}
        }
        self.attach_finished(owner);
        DONE
    }

    fn attach_finished(&mut self, owner: &Owner) {
        if !self.attach_mut(owner).is_some_and(|attach| attach.is_done()) {
            return;
        }
        match owner {
            Owner::Session(id) => self.try_finish_opening(&id.clone()),
            Owner::Fork(request) => {
                if let Some(request) = Id::parse(request) {
                    self.finish_fork(&request);
                }
            }
        }
    }

    /// Gives up what the agent has not answered in time.
    pub(super) fn attach_overdue(&mut self, now: i64) {
        let sessions = self.connection.sessions.iter().filter(|(_, open)| open.attach.is_some());
        let owners: Vec<Owner> = sessions
            .map(|(id, _)| Owner::Session(id.clone()))
            .chain(self.connection.forking.keys().map(Owner::fork))
            .collect();
        for owner in owners {
            let Some(attach) = self.attach_mut(&owner) else { continue };
            if let Some((id, step, _)) = attach.current.take_if(|(_, _, until)| *until <= now) {
                attach.note(&format!("Internal error: the agent did not answer `{}` in time", step.method()));
                self.connection.awaiting.insert(id, Awaiting::Ignored);
                self.attach_next(&owner);
            } else if !attach.restoring.is_empty() && attach.restore_until <= now {
                attach.restoring.clear();
                self.attach_finished(&owner);
            }
        }
    }
}

/// What has to be asked of the agent so that the session is as it was: methods and params.
fn wishes(state: &State, attached: &Attached, agent_id: &str) -> Vec<(&'static str, String)> {
    let answer = Object::parse_or_empty(&attached.answer);
    let given = state_given(&answer, State::default());
    let mut wishes = Vec::new();
    if let Some(mode) = &state.mode {
        let modes: serde_json::Value = parse(given.modes.as_deref().or(state.modes.as_deref()));
        let is_current = given.modes.is_some() && modes["currentModeId"] == mode.as_str();
        let known = modes["availableModes"].as_array();
        if !is_current && known.is_none_or(|known| known.iter().any(|known| known["id"] == mode.as_str())) {
            let params = json!({ "sessionId": agent_id, "modeId": mode });
            wishes.push((SET_MODE, params.to_string()));
        }
    }
    if let Some(model) = &state.model {
        let models: serde_json::Value = parse_text(answer.get_some("models"));
        if models["currentModelId"] != model.as_str() {
            wishes.push(("session/set_model", json!({ "sessionId": agent_id, "modelId": model }).to_string()));
        }
    }
    let options: serde_json::Value = parse(given.options.as_deref());
    for (option, value) in &state.chosen {
        let chosen: serde_json::Value = parse(Some(value));
        let current =
            options.as_array().and_then(|options| options.iter().find(|known| known["id"] == option.as_str()));
        if current.is_some_and(|current| current["currentValue"] == chosen) {
            continue;
        }
        let mut params = json!({ "sessionId": agent_id, "configId": option, "value": chosen });
        if chosen.is_boolean() {
            params["type"] = "boolean".into();
        }
        wishes.push(("session/set_config_option", params.to_string()));
    }
    wishes
}

fn parse(json: Option<&RawValue>) -> serde_json::Value {
    parse_text(json.map(RawValue::get))
}

fn parse_text(json: Option<&str>) -> serde_json::Value {
    json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}
