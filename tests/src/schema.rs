//! The official JSON schema of the protocol, per method.
//!
//! Its root accepts nearly anything (extension methods have the empty schema), so every message is held against the
//! definition of its own method. The schema allows unknown keys everywhere, though the protocol does not; they are
//! looked for separately.

mod checker;
mod draft;
mod keys;

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock};

use jsonschema::Validator;
use serde_json::{Value, json};

pub use checker::{Checker, Role};

/// Which of a method's definitions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// The params of a request.
    Request,
    /// The result of a request.
    Response,
    /// The params of a notification.
    Notification,
}

/// The definitions of `schema.unstable.json` and of the draft of list extensions, found by method.
pub struct Schema {
    definitions: Value,
    by_method: HashMap<(String, String, Shape), String>,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Schema {
    /// The schema that comes with the official TypeScript SDK.
    pub fn official() -> &'static Self {
        static SCHEMA: OnceLock<Schema> = OnceLock::new();
        SCHEMA.get_or_init(|| {
            let package = "clients/ts/node_modules/@agentclientprotocol/sdk/schema/v1/schema.unstable.json";
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(package);
            let text = std::fs::read_to_string(&path);
            let text = text.unwrap_or_else(|error| panic!("{}: {error}; run `cargo xtask test`", path.display()));
            Self::parse(&text)
        })
    }

    fn parse(text: &str) -> Self {
        let mut root: Value = serde_json::from_str(text).expect("the official schema is JSON");
        let mut definitions = root["$defs"].take();
        draft::extend(definitions.as_object_mut().expect("definitions"));
        let mut by_method = HashMap::new();
        for (name, definition) in definitions.as_object().expect("definitions") {
            let (Some(method), Some(side)) = (definition["x-method"].as_str(), definition["x-side"].as_str()) else {
                continue;
            };
            let shape = match name {
                name if name.ends_with("Request") => Shape::Request,
                name if name.ends_with("Response") => Shape::Response,
                _ => Shape::Notification,
            };
            by_method.insert((side.to_owned(), method.to_owned(), shape), name.clone());
        }
        Self { definitions, by_method, validators: Mutex::default() }
    }

    /// The name of the definition of a method that this side handles.
    pub fn definition(&self, handler: &str, method: &str, shape: Shape) -> Option<&str> {
        let find = |side: &str| self.by_method.get(&(side.to_owned(), method.to_owned(), shape));
        find(handler).or_else(|| find("protocol")).map(String::as_str)
    }

    /// What is wrong with a value by this definition: an empty list if nothing is.
    pub fn violations(&self, definition: &str, value: &Value) -> Vec<String> {
        let validator = self.validator(definition);
        let mut found: Vec<String> =
            validator.iter_errors(value).map(|error| format!("{}: {error}", error.instance_path())).collect();
        keys::find_unknown(&self.definitions, definition, value, &mut found);
        found
    }

    fn validator(&self, definition: &str) -> Arc<Validator> {
        let mut validators = self.validators.lock().expect("no validation panics");
        let validator = validators.entry(definition.to_owned()).or_insert_with(|| {
            let schema = json!({"$schema": "https://json-schema.org/draft/2020-12/schema",
                "$ref": format!("#/$defs/{definition}"), "$defs": self.definitions});
            Arc::new(jsonschema::validator_for(&schema).expect("the official schema compiles"))
        });
        Arc::clone(validator)
    }
}
