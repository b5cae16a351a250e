//! What is in force of a session's mode, model and options. Agents may tell the mode and the model twice: as such, and as options
//! of these categories (protocol v1, session config options). What is said of one of the two holds for the other.

use std::borrow::Cow;

use serde_json::json;
use serde_json::value::RawValue;

use super::State;
use crate::rpc::{Object, elements};

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
    pub fn set_mode(&mut self, mode: &str) {
        self.mode = Some(mode.to_owned());
        self.set_option_of_category(MODE, mode);
    }

    /// This model is in force: it was set.
    pub fn set_model(&mut self, model: &str) {
        self.model = Some(model.to_owned());
        self.set_option_of_category(MODEL, model);
    }

    /// The client has set an option to this value (JSON), and the agent has agreed; its answer has the complete list, or none.
    pub fn set_option(&mut self, id: &str, value: &RawValue, list: Option<Box<RawValue>>) {
        self.chosen.insert(id.to_owned(), value.to_owned());
        if let Some(list) = list.or_else(|| self.with_option(id, value)) {
            self.set_options(list);
        }
    }

    /// An option is put back to this value (JSON); the agent's answer has the complete list, or none. What else is to be put
    /// back need not be in force yet.
    pub fn restore_option(&mut self, id: &str, value: &RawValue, list: Option<Box<RawValue>>) {
        self.options = list.or_else(|| self.with_option(id, value)).or_else(|| self.options.take());
    }

    /// The list with this value of an option; none where it has no such option.
    fn with_option(&self, id: &str, value: &RawValue) -> Option<Box<RawValue>> {
        let mut value = Some(value.get());
        self.with_values(|option| value.take_if(|_| option.get_string("id").as_deref() == Some(id)).map(str::to_owned))
    }

    /// The list with another value (JSON) of the options that are given one; none where no option is. All else stays as it was
    /// sent.
    fn with_values(&self, mut value_of: impl FnMut(&Object<'_>) -> Option<String>) -> Option<Box<RawValue>> {
        let mut with_value = |option: &str| {
            let option = Object::parse(option)?;
            value_of(&option).map(|value| option.with("currentValue", &value))
        };
        let options = elements(self.options.as_deref()?.get())?;
        let options = options.into_iter().map(|option| with_value(option).map_or(Cow::Borrowed(option), Cow::Owned));
        let options: Vec<Cow<'_, str>> = options.collect();
        let is_any_changed = options.iter().any(|option| matches!(option, Cow::Owned(_)));
        is_any_changed.then(|| RawValue::from_string(format!("[{}]", options.join(","))).ok()).flatten()
    }

    /// These options are in force, all that there are: what the client has set may be so no more.
    pub fn set_options(&mut self, list: Box<RawValue>) {
        for option in elements(list.get()).unwrap_or_default().into_iter().filter_map(Object::parse) {
            let chosen = option.get_string("id").and_then(|id| self.chosen.get_mut(&id));
            let value = option.get("currentValue").unwrap_or("null").to_owned();
            if let (Some(chosen), Ok(value)) = (chosen, RawValue::from_string(value)) {
                *chosen = value;
            }
            let Some(current) = option.get_string("currentValue") else { continue };
            match option.get_string("category").as_deref() {
                Some(MODE) if is_another(self.mode.as_deref(), self.modes.as_deref(), MODES, &current) => {
                    self.mode = Some(current);
                }
                Some(MODEL) if is_another(self.model.as_deref(), models(self), MODELS, &current) => {
                    self.model = Some(current);
                }
                _ => {}
            }
        }
        self.options = Some(list);
    }

    /// This value of an option that is the mode or the model is in force.
    fn set_option_of_category(&mut self, category: &str, value: &str) {
        let mut ids = Vec::new();
        let list = self.with_values(|option| {
            let is_such = option.get_string("category").as_deref() == Some(category) && offers(option, value);
            is_such.then(|| {
                ids.extend(option.get_string("id"));
                json!(value).to_string()
            })
        });
        self.options = list.or_else(|| self.options.take());
        for id in ids {
            if let Some(chosen) = self.chosen.get_mut(&id) {
                *chosen = raw(&value);
            }
        }
    }
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
    let all = all.map(|all| Object::parse_or_empty(all.get())).unwrap_or_default();
    let is_among = all.get_array(available).is_some_and(|all| all.into_iter().any(|one| is_named(one, id, now)));
    is_among && known.map(str::to_owned).or_else(|| all.get_string(current)).as_deref() != Some(now)
}

/// Whether one of the modes or models (JSON) has this id.
pub fn is_named(one: &str, member: &str, id: &str) -> bool {
    Object::parse(one).and_then(|one| one.get_string(member)).as_deref() == Some(id)
}

/// Whether an option can have this value: one of its choices, which may be in groups, or any where no choices are known.
pub fn offers(option: &Object<'_>, value: &str) -> bool {
    let choices = option.get_array("options").unwrap_or_default().into_iter().filter_map(Object::parse);
    let known = choices.flat_map(|choice| match choice.get_array("options") {
        Some(group) => {
            group.into_iter().filter_map(Object::parse).filter_map(|choice| choice.get_string("value")).collect()
        }
        None => Vec::from_iter(choice.get_string("value")),
    });
    let known: Vec<String> = known.collect();
    known.is_empty() || known.iter().any(|known| known == value)
}

fn raw(value: &impl serde::Serialize) -> Box<RawValue> {
    serde_json::value::to_raw_value(value).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

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
        let options: Vec<Value> = serde_json::from_str(state.options.as_deref().unwrap().get()).unwrap();
        let values = options.iter().map(|option| option["currentValue"].as_str().unwrap().to_owned()).collect();
        (state.mode.as_deref(), state.model.as_deref(), values)
    }

    fn chosen(state: &State) -> Vec<String> {
        state.chosen.iter().map(|(id, value)| format!("{id}={}", value.get())).collect()
    }

    #[test]
    fn what_is_said_of_the_mode_and_of_its_option_is_one_thing() {
        let mut state = state();
        state.set_option("o", &raw(&"plan"), None);
        assert_eq!(in_force(&state), (Some("plan"), None, list_of("plan", "m1", "low")));
        state.set_mode("code");
        assert_eq!(in_force(&state), (Some("code"), None, list_of("code", "m1", "low")));
        assert_eq!(chosen(&state), ["o=\"code\""]);
        // What the option does not have is the mode's alone.
        state.set_mode("own");
        assert_eq!(in_force(&state), (Some("own"), None, list_of("code", "m1", "low")));
        state.set_option("m", &raw(&"m2"), Some(raw(&list("plan", "m2", "low"))));
        assert_eq!(in_force(&state), (Some("plan"), Some("m2"), list_of("plan", "m2", "low")));
        state.set_model("m1");
        assert_eq!(in_force(&state), (Some("plan"), Some("m1"), list_of("plan", "m1", "low")));
        assert_eq!(chosen(&state), ["m=\"m1\"", "o=\"plan\""]);
    }

    #[test]
    fn what_the_agent_says_of_a_value_keeps_its_digits() {
        let mut state = State::default();
        for value in ["18446744073709551617", "0.10000000000000000001", "-0", r#"{"b":1,"a":1.0}"#] {
            state.set_option("e", &raw(&1), None);
            let list = format!("[{{\"id\":\"e\",\"currentValue\":{value}}}]");
            state.set_options(RawValue::from_string(list).unwrap());
            assert_eq!(chosen(&state), [format!("e={value}")]);
        }
    }

    #[test]
    fn an_odd_option_hides_no_other_and_stays_as_it_is() {
        for odd in
            ["5", r#"{"id":5,"currentValue":1e400}"#, r#"{"id":"e","id":"x"}"#, r#"{"options":{}}"#, "[]", "1e400"]
        {
            let list = |effort: &str, mode: &str| {
                let mode =
                    format!("{{\"id\":\"o\",\"category\":\"mode\",\"currentValue\":\"{mode}\",\"z\":1E0,\"a\":1.0}}");
                RawValue::from_string(format!("[{odd},{{\"id\":\"e\",\"currentValue\":\"{effort}\"}},{mode}]")).unwrap()
            };
            let options = |state: &State| state.options.as_deref().map(|options| options.get().to_owned());
            let mut state = state();
            state.set_option("e", &raw(&"high"), None);
            state.set_options(list("low", "plan"));
            assert_eq!((chosen(&state), state.mode.as_deref()), (vec!["e=\"low\"".to_owned()], Some("plan")), "{odd}");
            state.set_option("e", &raw(&"high"), None);
            assert_eq!(options(&state).as_deref(), Some(list("high", "plan").get()));
            state.set_mode("code");
            assert_eq!(options(&state).as_deref(), Some(list("high", "code").get()));
        }
    }

    #[test]
    fn what_the_agent_changes_by_itself_is_no_longer_what_the_client_has_chosen() {
        let mut state = state();
        state.set_option("e", &raw(&"high"), None);
        state.set_options(raw(&list("code", "m2", "low")));
        assert_eq!(chosen(&state), ["e=\"low\""]);
        // An option that is gone may come back.
        state.set_options(raw(&json!([])));
        assert_eq!(chosen(&state), ["e=\"low\""]);
    }

    fn list_of(mode: &str, model: &str, effort: &str) -> Vec<String> {
        [mode, model, effort].map(str::to_owned).to_vec()
    }
}
