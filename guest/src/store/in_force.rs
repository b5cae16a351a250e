//! What is in force of a session's mode, model and options. Agents may tell the mode and the model twice: as such, and as options
//! of these categories (protocol v1, session config options). What is said of one of the two holds for the other.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::State;

/// How an option is told that is the mode or the model.
const MODE: &str = "mode";
const MODEL: &str = "model";

impl State {
    /// What is in force, alone.
    #[must_use]
    pub fn in_force(&self) -> Self {
        Self {
            mode: self.mode.clone(),
            model: self.model.clone(),
            options: self.options.clone(),
            chosen: self.chosen.clone(),
            ..Self::default()
        }
    }

    /// Adds to these changes what is in force now and was not before.
    pub fn add_changes(&self, before: &Self, changes: &mut Self) {
        let text = |json: &Option<Box<RawValue>>| json.as_deref().map(|json| json.get().to_owned());
        if self.mode != before.mode {
            changes.mode.clone_from(&self.mode);
        }
        if self.model != before.model {
            changes.model.clone_from(&self.model);
        }
        if text(&self.options) != text(&before.options) {
            changes.options.clone_from(&self.options);
        }
        let is_new = |id: &str, value: &RawValue| before.chosen.get(id).is_none_or(|known| known.get() != value.get());
        let chosen = self.chosen.iter().filter(|(id, value)| is_new(id, value));
        changes.chosen.extend(chosen.map(|(id, value)| (id.clone(), value.clone())));
    }

    /// This mode is in force: it was set, or reported.
    pub fn mode_is(&mut self, mode: &str) {
        self.mode = Some(mode.to_owned());
        self.option_of_category_is(MODE, mode);
    }

    /// This model is in force: it was set.
    pub fn model_is(&mut self, model: &str) {
        self.model = Some(model.to_owned());
        self.option_of_category_is(MODEL, model);
    }

    /// The client has set an option to this value (JSON), and the agent has agreed; its answer has the complete list, or none.
    pub fn option_is(&mut self, id: &str, value: &RawValue, list: Option<Box<RawValue>>) {
        self.chosen.insert(id.to_owned(), value.to_owned());
        if let Some(list) = list.or_else(|| self.with_option(id, value)) {
            self.options_are(list);
        }
    }

    /// An option is put back to this value (JSON); the agent's answer has the complete list, or none. What else is to be put
    /// back need not be in force yet.
    pub fn option_is_back(&mut self, id: &str, value: &RawValue, list: Option<Box<RawValue>>) {
        self.options = list.or_else(|| self.with_option(id, value)).or_else(|| self.options.take());
    }

    /// The list with this value of an option; none where it has no such option.
    fn with_option(&self, id: &str, value: &RawValue) -> Option<Box<RawValue>> {
        let mut options = self.options();
        let changed = options.iter_mut().find(|option| option["id"] == id)?;
        changed["currentValue"] = parse(value).unwrap_or_default();
        Some(raw(&options))
    }

    /// These options are in force, all that there are: what the client has set may be so no more.
    pub fn options_are(&mut self, list: Box<RawValue>) {
        // Numbers keep all of their digits only as they stand.
        for option in serde_json::from_str::<Vec<Current<'_>>>(list.get()).unwrap_or_default() {
            if let Some(chosen) = self.chosen.get_mut(&*option.id) {
                *chosen = option.value.map_or_else(|| raw(&Value::Null), RawValue::to_owned);
            }
        }
        self.options = Some(list);
        for option in self.options() {
            let Some(current) = option["currentValue"].as_str() else { continue };
            match option["category"].as_str() {
                Some(MODE) if is_another(self.mode.as_deref(), self.modes.as_deref(), MODES, current) => {
                    self.mode = Some(current.to_owned());
                }
                Some(MODEL) if is_another(self.model.as_deref(), models(self), MODELS, current) => {
                    self.model = Some(current.to_owned());
                }
                _ => {}
            }
        }
    }

    /// The same of an option that is the mode or the model.
    fn option_of_category_is(&mut self, category: &str, value: &str) {
        let mut options = self.options();
        let mut is_any_changed = false;
        for option in options.iter_mut().filter(|option| option["category"] == category && offers(option, value)) {
            option["currentValue"] = value.into();
            is_any_changed = true;
            let id = option["id"].as_str().unwrap_or_default();
            if let Some(chosen) = self.chosen.get_mut(id) {
                *chosen = raw(&value);
            }
        }
        if is_any_changed {
            self.options = Some(raw(&options));
        }
    }

    fn options(&self) -> Vec<Value> {
        self.options.as_deref().and_then(|options| serde_json::from_str(options.get()).ok()).unwrap_or_default()
    }
}

/// What of an option says which value is in force.
#[derive(Debug, Deserialize)]
struct Current<'a> {
    #[serde(borrow, default)]
    id: Cow<'a, str>,
    #[serde(borrow, default, rename = "currentValue")]
    value: Option<&'a RawValue>,
}

/// How modes and models are told: the one in force, all of them, and the id of each.
const MODES: [&str; 3] = ["currentModeId", "availableModes", "id"];
const MODELS: [&str; 3] = ["currentModelId", "availableModels", "modelId"];

fn models(state: &State) -> Option<&RawValue> {
    state.beside.get("models").map(|models| &**models)
}

/// Whether this is one of all that there are, and another than is known to be in force: by what was said of it since, or else as
/// they were told.
fn is_another(known: Option<&str>, all: Option<&RawValue>, [current, available, id]: [&str; 3], now: &str) -> bool {
    let all: Value = all.and_then(parse).unwrap_or_default();
    is_among(&all[available], id, now) && known.or(all[current].as_str()) != Some(now)
}

/// Whether an option can have this value: one of its choices, which may be in groups, or any where no choices are known.
pub fn offers(option: &Value, value: &str) -> bool {
    let choices = option["options"].as_array().into_iter().flatten();
    let in_groups = |choice: &'_ Value| choice["options"].as_array().cloned().unwrap_or_else(|| vec![choice.clone()]);
    let known = choices.flat_map(in_groups).filter_map(|choice| choice["value"].as_str().map(str::to_owned));
    let known: Vec<String> = known.collect();
    known.is_empty() || known.iter().any(|known| known == value)
}

fn is_among(all: &Value, id: &str, wanted: &str) -> bool {
    all.as_array().is_some_and(|all| all.iter().any(|one| one[id] == wanted))
}

fn parse(json: &RawValue) -> Option<Value> {
    serde_json::from_str(json.get()).ok()
}

fn raw(value: &impl serde::Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn list(mode: &str, model: &str, effort: &str) -> Value {
        let choices = |values: &[&str]| values.iter().map(|value| json!({ "value": value })).collect::<Vec<_>>();
        json!([
            {"id": "o", "category": "mode", "type": "select", "currentValue": mode, "options": choices(&["code", "plan"])},
            {"id": "m", "category": "model", "type": "select", "currentValue": model,
             "options": [{"group": "g", "options": choices(&["m1", "m2"])}]},
            {"id": "e", "type": "select", "currentValue": effort, "options": choices(&["low", "high"])},
        ])
    }

    fn state() -> State {
        let mut state = State::default();
        let modes = json!({"currentModeId": "code", "availableModes": [{"id": "code"}, {"id": "plan"}, {"id": "own"}]});
        state.modes = Some(raw(&modes));
        let beside = json!({"currentModelId": "m1", "availableModels": [{"modelId": "m1"}, {"modelId": "m2"}]});
        state.beside.insert("models".to_owned(), raw(&beside));
        state.options = Some(raw(&list("code", "m1", "low")));
        state
    }

    /// Mode, model, and the values of the options.
    fn in_force(state: &State) -> (Option<&str>, Option<&str>, Vec<String>) {
        let values = state.options().iter().map(|option| option["currentValue"].as_str().unwrap().to_owned()).collect();
        (state.mode.as_deref(), state.model.as_deref(), values)
    }

    fn chosen(state: &State) -> Vec<String> {
        state.chosen.iter().map(|(id, value)| format!("{id}={}", value.get())).collect()
    }

    #[test]
    fn what_is_said_of_the_mode_and_of_its_option_is_one_thing() {
        let mut state = state();
        state.option_is("o", &raw(&"plan"), None);
        assert_eq!(in_force(&state), (Some("plan"), None, list_of("plan", "m1", "low")));
        state.mode_is("code");
        assert_eq!(in_force(&state), (Some("code"), None, list_of("code", "m1", "low")));
        assert_eq!(chosen(&state), ["o=\"code\""]);
        // What the option does not have is the mode's alone.
        state.mode_is("own");
        assert_eq!(in_force(&state), (Some("own"), None, list_of("code", "m1", "low")));
        state.option_is("m", &raw(&"m2"), Some(raw(&list("plan", "m2", "low"))));
        assert_eq!(in_force(&state), (Some("plan"), Some("m2"), list_of("plan", "m2", "low")));
        state.model_is("m1");
        assert_eq!(in_force(&state), (Some("plan"), Some("m1"), list_of("plan", "m1", "low")));
        assert_eq!(chosen(&state), ["m=\"m1\"", "o=\"plan\""]);
    }

    #[test]
    fn what_the_agent_says_of_a_value_keeps_its_digits() {
        let mut state = State::default();
        for value in ["18446744073709551617", "0.10000000000000000001", "-0", r#"{"b":1,"a":1.0}"#] {
            state.option_is("e", &raw(&1), None);
            let list = format!("[{{\"id\":\"e\",\"currentValue\":{value}}}]");
            state.options_are(RawValue::from_string(list).unwrap());
            assert_eq!(chosen(&state), [format!("e={value}")]);
        }
    }

    #[test]
    fn what_the_agent_changes_by_itself_is_no_longer_what_the_client_has_chosen() {
        let mut state = state();
        state.option_is("e", &raw(&"high"), None);
        state.options_are(raw(&list("code", "m2", "low")));
        assert_eq!(chosen(&state), ["e=\"low\""]);
        // An option that is gone may come back.
        state.options_are(raw(&json!([])));
        assert_eq!(chosen(&state), ["e=\"low\""]);
    }

    fn list_of(mode: &str, model: &str, effort: &str) -> Vec<String> {
        [mode, model, effort].map(str::to_owned).to_vec()
    }
}
