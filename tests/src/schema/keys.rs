//! Looks for keys that no schema knows, on every object that the schema describes.

use serde_json::Value;

/// Walks the value beside its definition and reports each key that the definition does not name.
pub(super) fn find_unknown(definitions: &Value, definition: &str, value: &Value, found: &mut Vec<String>) {
    let walk = Walk { definitions };
    walk.visit(&[&definitions[definition]], value, "", found);
}

struct Walk<'a> {
    definitions: &'a Value,
}

impl<'a> Walk<'a> {
    fn visit(&self, schemas: &[&'a Value], value: &Value, path: &str, found: &mut Vec<String>) {
        let mut parts = Vec::new();
        for schema in schemas {
            self.flatten(schema, value, &mut parts);
        }
        match value {
            Value::Object(fields) => {
                let is_described = parts.iter().any(|part| part["properties"].is_object());
                let is_open = parts.iter().any(|part| part["additionalProperties"] == true);
                for (name, field) in fields {
                    let known: Vec<&Value> = parts.iter().filter_map(|part| part["properties"].get(name)).collect();
                    if known.is_empty() && is_described && !is_open {
                        found.push(format!("{path}/{name}: no schema knows this key"));
                    }
                    self.visit(&known, field, &format!("{path}/{name}"), found);
                }
            }
            Value::Array(items) => {
                let known: Vec<&Value> = parts.iter().filter_map(|part| part.get("items")).collect();
                for (index, item) in items.iter().enumerate() {
                    self.visit(&known, item, &format!("{path}/{index}"), found);
                }
            }
            _ => {}
        }
    }

    /// The schema and everything it refers to that applies to the value, as one list.
    fn flatten(&self, schema: &'a Value, value: &Value, parts: &mut Vec<&'a Value>) {
        if let Some(name) = schema["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/")) {
            self.flatten(&self.definitions[name], value, parts);
        }
        for branch in schema["allOf"].as_array().into_iter().flatten() {
            self.flatten(branch, value, parts);
        }
        for choice in ["anyOf", "oneOf"] {
            for branch in schema[choice].as_array().into_iter().flatten().filter(|branch| self.is_for(branch, value)) {
                self.flatten(branch, value, parts);
            }
        }
        parts.push(schema);
    }

    /// Whether a branch of a choice can be meant: the tag is right and what it demands is there.
    fn is_for(&self, branch: &Value, value: &Value) -> bool {
        let demands = branch["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        let has_demanded = demands.into_iter().all(|name| value.get(name).is_some());
        let mut tags = branch["properties"].as_object().into_iter().flatten();
        let has_tags = tags.all(|(name, schema)| {
            schema.get("const").is_none_or(|tag| value.get(name).is_none_or(|actual| actual == tag))
        });
        let referred = branch["$ref"].as_str().and_then(|reference| reference.strip_prefix("#/$defs/"));
        let is_right_type = match branch["type"].as_str() {
            Some("object") => value.is_object(),
            Some("array") => value.is_array(),
            Some("null") => value.is_null(),
            _ => true,
        };
        has_demanded
            && has_tags
            && is_right_type
            && referred.is_none_or(|name| self.is_for(&self.definitions[name], value))
    }
}
