//! Putting back what was in force in a session: its mode, its model, its options.

use serde_json::json;
use serde_json::value::RawValue;

use crate::rpc::{Object, elements, is_same};
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
    /// Notes what could not be put back. Options are left out: the agent's complete list says what they are.
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
    let mut put_back = |request: RestoreRequest, is_in_force, is_offered| match (is_in_force, is_offered) {
        (true, _) => {}
        (false, true) => requests.push(request),
        (false, false) => not_put_back.note(&request.restores),
    };
    if let Some(mode) = &wanted.mode {
        let modes = given.modes.as_deref().or(wanted.modes.as_deref());
        let modes = modes.map(|modes| Object::parse_or_empty(modes.get())).unwrap_or_default();
        let is_in_force = given.modes.is_some() && modes.get_string("currentModeId").as_ref() == Some(mode);
        let params = json!({ "sessionId": agent_id, "modeId": mode }).to_string();
        let request = RestoreRequest { method: "session/set_mode", params, restores: Restored::Mode };
        put_back(request, is_in_force, offers(&modes, "availableModes", "id", mode));
    }
    if let Some(model) = &wanted.model {
        let models = answer.get_object("models");
        let is_in_force = models.get_string("currentModelId").as_ref() == Some(model);
        let params = json!({ "sessionId": agent_id, "modelId": model }).to_string();
        let request = RestoreRequest { method: "session/set_model", params, restores: Restored::Model };
        put_back(request, is_in_force, offers(&models, "availableModels", "modelId", model));
    }
    let options = given.options.as_deref().and_then(|options| elements(options.get()));
    let is_list = options.is_some();
    let options: Vec<_> = options.into_iter().flatten().filter_map(Object::parse).collect();
    let known = |id: &str| options.iter().find(|known| known.get_string("id").as_deref() == Some(id));
    let mut all: Vec<_> = wanted.chosen.iter().map(|(option, value)| (known(option), option, value)).collect();
    // Another model, or mode, may change what else is in force.
    all.sort_by_key(|(current, ..)| match current.and_then(|current| current.get_string("category")).as_deref() {
        Some("mode") => 0,
        Some("model") => 1,
        _ => 2,
    });
    for (current, option, value) in all {
        let is_in_force =
            current.is_some_and(|current| is_same(current.get("currentValue").unwrap_or("null"), value.get()));
        // With another mode or model there may be others.
        let is_list_final = requests.is_empty();
        if is_in_force || (is_list_final && !may_be_set(is_list, current, value)) {
            continue;
        }
        // A value of an option to choose from is the only one that has no type (protocol v1).
        let kind = current.and_then(|current| current.get_string("type")).filter(|kind| kind != "select");
        let is_boolean = matches!(value.get(), "true" | "false");
        let kind = kind.or_else(|| is_boolean.then(|| "boolean".to_owned()));
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
fn may_be_set(is_list: bool, option: Option<&Object<'_>>, value: &RawValue) -> bool {
    let Some(option) = option else { return !is_list };
    let is_select = option.get_string("type").as_deref() == Some("select");
    let value: Option<String> = serde_json::from_str(value.get()).ok().filter(|_| is_select);
    value.is_none_or(|value| in_force::offers(option, &value))
}

/// Whether the one of this id is among those that an agent has; of one that names none it is not known.
fn offers(all: &Object<'_>, available: &str, id: &str, wanted: &str) -> bool {
    all.get_array(available).is_none_or(|all| all.into_iter().any(|one| in_force::is_named(one, id, wanted)))
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
