//! Putting back what was in force in a session: its mode, its model, its options.

use serde_json::json;
use serde_json::value::RawValue;

use crate::rpc::Object;
use crate::store::{State, in_force};

/// Something to be asked of the agent.
#[derive(Debug)]
pub(super) struct RestoreRequest {
    pub(super) method: &'static str,
    pub(super) params: String,
    pub(super) restores: Restored,
}

/// What is put back.
#[derive(Debug)]
pub(super) enum Restored {
    Mode,
    Model,
    /// An option, to this value (JSON).
    Option(String, Box<RawValue>),
}

/// What was in force and is not any more: the agent does not offer it, or has refused it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NotPutBack {
    pub(super) mode: bool,
    pub(super) model: bool,
}

impl NotPutBack {
    /// What an option's value is its agent's complete list says.
    pub(super) fn note(&mut self, what: &Restored) {
        match what {
            Restored::Mode => self.mode = true,
            Restored::Model => self.model = true,
            Restored::Option(..) => {}
        }
    }
}

/// The state that an agent's answer to new, load, resume or fork gives, over what was known.
pub(super) fn state_given(answer: &Object<'_>, mut state: State) -> State {
    let raw = |json: &str| RawValue::from_string(json.to_owned()).ok();
    if let Some(modes) = answer.get_some("modes") {
        state.modes = raw(modes);
        // What was reported before is older.
        state.mode = None;
    }
    if let Some(options) = answer.get_some("configOptions") {
        state.options = raw(options);
    }
    state
}

/// Remembers what else an agent's answer gives. What it leaves out is as it said before, unless it is another agent, or
/// has begun afresh.
pub(super) fn note_beside(answer: &Object<'_>, state: &mut State, agent: &str, is_afresh: bool) {
    if is_afresh || state.beside_of != agent {
        state.beside.clear();
        agent.clone_into(&mut state.beside_of);
    }
    let beside = answer.iter().filter(|(name, _)| !matches!(*name, "sessionId" | "modes" | "configOptions"));
    for (name, value) in beside {
        if let Ok(value) = RawValue::from_string(value.to_owned()) {
            state.beside.insert(name.to_owned(), value);
        }
    }
}

/// What has to be asked of the agent so that the session is as `wanted`, given its answer to opening it; and what need not
/// be asked, since the agent does not offer it.
pub(super) fn restore_requests(wanted: &State, answer: &str, agent_id: &str) -> (Vec<RestoreRequest>, NotPutBack) {
    let answer = Object::parse_or_empty(answer);
    let given = state_given(&answer, State::default());
    let mut requests = Vec::new();
    let mut not_put_back = NotPutBack::default();
    if let Some(mode) = &wanted.mode {
        let modes: serde_json::Value = parse(given.modes.as_deref().or(wanted.modes.as_deref()));
        if given.modes.is_some() && modes["currentModeId"] == mode.as_str() {
            // It is in force.
        } else if offers(&modes["availableModes"], "id", mode) {
            let params = json!({ "sessionId": agent_id, "modeId": mode }).to_string();
            requests.push(RestoreRequest { method: "session/set_mode", params, restores: Restored::Mode });
        } else {
            not_put_back.note(&Restored::Mode);
        }
    }
    if let Some(model) = &wanted.model {
        let models: serde_json::Value = parse_text(answer.get_some("models"));
        if models["currentModelId"] == model.as_str() {
            // It is in force.
        } else if offers(&models["availableModels"], "modelId", model) {
            let params = json!({ "sessionId": agent_id, "modelId": model }).to_string();
            requests.push(RestoreRequest { method: "session/set_model", params, restores: Restored::Model });
        } else {
            not_put_back.note(&Restored::Model);
        }
    }
    let options: serde_json::Value = parse(given.options.as_deref());
    let known = |id: &str| options.as_array().and_then(|options| options.iter().find(|known| known["id"] == id));
    let mut all: Vec<_> = wanted.chosen.iter().map(|(option, value)| (known(option), option, value)).collect();
    // Another model, or mode, may change what else is in force.
    all.sort_by_key(|(current, ..)| match current.and_then(|current| current["category"].as_str()) {
        Some("mode") => 0,
        Some("model") => 1,
        _ => 2,
    });
    for (current, option, value) in all {
        let chosen: serde_json::Value = parse(Some(value));
        let is_in_force = current.is_some_and(|current| current["currentValue"] == chosen);
        // With another mode or model there may be others.
        let is_list_final = requests.is_empty();
        if is_in_force || (is_list_final && !may_be_set(&options, current, &chosen)) {
            continue;
        }
        // A value of an option to choose from is the only one that has no type (protocol v1).
        let kind = current.and_then(|current| current["type"].as_str()).filter(|kind| *kind != "select");
        let kind = kind.or(chosen.is_boolean().then_some("boolean"));
        let kind = kind.map(|kind| format!(",\"type\":{}", json!(kind))).unwrap_or_default();
        // Numbers keep all of their digits only as they stand.
        let (session, option_id) = (json!(agent_id), json!(option));
        let params = format!("{{\"sessionId\":{session},\"configId\":{option_id},\"value\":{value}{kind}}}");
        requests.push(RestoreRequest {
            method: "session/set_config_option",
            params,
            restores: Restored::Option(option.clone(), value.clone()),
        });
    }
    (requests, not_put_back)
}

/// Whether an option may be asked to have this value: of an agent that gives none it is not known.
fn may_be_set(options: &serde_json::Value, option: Option<&serde_json::Value>, value: &serde_json::Value) -> bool {
    match (option, value.as_str()) {
        (None, _) => !options.is_array(),
        (Some(option), Some(value)) if option["type"] == "select" => in_force::offers(option, value),
        (Some(_), _) => true,
    }
}

/// Whether the one of this id is among those that an agent has; of one that names none it is not known.
fn offers(all: &serde_json::Value, id: &str, wanted: &str) -> bool {
    all.as_array().is_none_or(|all| all.iter().any(|one| one[id] == wanted))
}

fn parse(json: Option<&RawValue>) -> serde_json::Value {
    parse_text(json.map(RawValue::get))
}

fn parse_text(json: Option<&str>) -> serde_json::Value {
    json.and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_put_back_as_it_was_set() {
        for value in ["0.10000000000000000001", "18446744073709551617", "-0", "1E5", "1e400", r#"{"b":1,"a":[1.0]}"#] {
            let mut wanted = State::default();
            wanted.chosen.insert("o".to_owned(), RawValue::from_string(value.to_owned()).unwrap());
            let (requests, _) = restore_requests(&wanted, "{}", "s");
            assert!(requests[0].params.contains(&format!("\"value\":{value}")), "{}", requests[0].params);
        }
    }

    #[test]
    fn what_is_not_offered_is_not_asked_for_unless_another_model_may_have_it() {
        let choices = |values: &[&str]| values.iter().map(|value| json!({ "value": value })).collect::<Vec<_>>();
        let options =
            json!([{"id": "effort", "type": "select", "currentValue": "low", "options": choices(&["low", "mid"])}]);
        let answer = json!({"configOptions": options, "models": {"currentModelId": "m1"}}).to_string();
        for (model, chosen, expected) in [
            (None, ("effort", "mid"), &["session/set_config_option"][..]),
            (None, ("effort", "high"), &[]),
            (None, ("gone", "x"), &[]),
            (Some("m1"), ("effort", "high"), &[]),
            (Some("m2"), ("effort", "high"), &["session/set_model", "session/set_config_option"]),
        ] {
            let mut wanted = State { model: model.map(str::to_owned), ..State::default() };
            let value = RawValue::from_string(json!(chosen.1).to_string()).unwrap();
            wanted.chosen.insert(chosen.0.to_owned(), value);
            let (requests, _) = restore_requests(&wanted, &answer, "s");
            let methods: Vec<&str> = requests.iter().map(|request| request.method).collect();
            assert_eq!(methods, expected, "{model:?} {chosen:?}");
        }
    }
}
