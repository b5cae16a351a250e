//! Which model a session has, of all that its agent says of it.

use serde::Deserialize;
use serde_json::value::RawValue;

use super::State;

/// The longest name of a model that is shown, in characters.
const LONGEST: usize = 200;

/// A configuration option (protocol v1, `SessionConfigOption`) as far as it tells.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ConfigOption<'a> {
    category: Option<String>,
    #[serde(borrow)]
    current_value: Option<&'a RawValue>,
}

/// `models` as agents gave it beside the schema.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Models {
    current_model_id: String,
}

impl State {
    /// The model as the agent names it: the value of the option for it or, of agents that have none, what
    /// `session/set_model` has set or they said last.
    pub fn current_model(&self) -> Option<String> {
        let of_option = self.options.as_deref().and_then(|options| {
            let options: Vec<&RawValue> = serde_json::from_str(options.get()).ok()?;
            let mut options = options.iter().filter_map(|option| serde_json::from_str(option.get()).ok());
            let model = options.find(|option: &ConfigOption<'_>| option.category.as_deref() == Some("model"))?;
            serde_json::from_str(model.current_value?.get()).ok()
        });
        let said = || {
            let models: Models = serde_json::from_str(self.beside.get("models")?.get()).ok()?;
            Some(models.current_model_id)
        };
        let model: String = of_option.or_else(|| self.model.clone()).or_else(said)?;
        Some(model.chars().take(LONGEST).collect()).filter(|model: &String| !model.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_told_in_whichever_way_its_agent_has() {
        let options =
            r#"[5,{"id":"x","category":"mode","currentValue":"a"},{"id":"m","category":"model","currentValue":"gpt"}]"#;
        let other = r#"[{"id":"m","category":"model","currentValue":true}]"#;
        let models = r#"{"currentModelId":"old","availableModels":[]}"#;
        for (options, set, models, expected) in [
            (None, None, None, None),
            (Some(options), Some("set"), Some(models), Some("gpt")),
            (Some(other), Some("set"), Some(models), Some("set")),
            (Some("{}"), None, Some(models), Some("old")),
            (None, Some(""), None, None),
            (None, None, Some("5"), None),
        ] {
            let raw = |json: &str| RawValue::from_string(json.to_owned()).unwrap();
            let mut state = State { options: options.map(raw), model: set.map(str::to_owned), ..State::default() };
            state.beside.extend(models.map(|models| ("models".to_owned(), raw(models))));
            assert_eq!(state.current_model().as_deref(), expected, "{options:?} {set:?} {models:?}");
        }
    }
}
