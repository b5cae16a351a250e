//! Follows one side of a conversation and judges each message it says.

use std::collections::HashMap;

use serde_json::Value;

use super::{Schema, Shape};

/// The part a peer plays.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It is a client, to an agent.
    Client,
    /// It is an agent, to a client.
    Agent,
}

impl Role {
    fn side(self) -> &'static str {
        match self {
            Self::Client => "client",
            Self::Agent => "agent",
        }
    }

    fn peer(self) -> Self {
        match self {
            Self::Client => Self::Agent,
            Self::Agent => Self::Client,
        }
    }
}

/// The fields of the draft that came before `session/list` was stable. Whoever sends one knows `createdAt` in a row.
const DRAFT_FIELDS: [&str; 5] = ["createdAfter", "createdBefore", "updatedAfter", "limit", "search"];

/// The fields of the draft of list extensions, and of the archive's. Whoever sends one, there or under the layer's own
/// metadata, knows the members that the former adds to a row.
const EXTENDING_FIELDS: [&str; 2] = ["archived", "includeWorktrees"];

/// A member by its name, and whether a value can be its.
type Member = (&'static str, fn(&Value) -> bool);

/// These members: what they are is told in the draft, which no schema has yet.
const EXTENSION: [Member; 5] = [
    ("lastPromptAt", Value::is_string),
    ("lastTurnEndedAt", Value::is_string),
    ("model", Value::is_string),
    ("forkedFrom", Value::is_string),
    ("cost", |cost| cost["amount"].is_number() && cost["currency"].is_string()),
];

/// Which drafts a request used.
#[derive(Debug, Clone, Copy, Default)]
struct Dialect {
    draft: bool,
    extensions: bool,
}

impl Dialect {
    fn of(params: &Value) -> Self {
        let own = &params["_meta"]["acp-sessions"];
        let has = |of: &Value, fields: &[&str]| fields.iter().any(|field| of.get(field).is_some());
        let draft = has(params, &DRAFT_FIELDS);
        let extensions =
            draft || own.get("limit").is_some() || [params, own].iter().any(|of| has(of, &EXTENDING_FIELDS));
        Self { draft, extensions }
    }
}

/// The judge of one peer in one conversation.
pub struct Checker {
    role: Role,
    /// What the peer was asked and has not answered: by id, the method and the drafts whose fields it used.
    asked: HashMap<String, (String, Dialect)>,
}

impl Checker {
    /// Judges a peer in this role.
    pub fn new(role: Role) -> Self {
        Self { role, asked: HashMap::new() }
    }

    /// Something was said to the peer.
    pub fn heard(&mut self, message: &Value) {
        if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
            self.asked.insert(id.to_string(), (method.to_owned(), Dialect::of(&message["params"])));
        }
    }

    /// The peer said something.
    pub fn said(&mut self, message: &Value) {
        let violations = self.violations(message);
        assert!(violations.is_empty(), "against the schema: {violations:#?}\n{message:#}");
    }

    /// What is wrong with a message of the peer.
    pub fn violations(&mut self, message: &Value) -> Vec<String> {
        let mut found = envelope(message);
        let schema = Schema::official();
        if let Some(method) = message["method"].as_str() {
            let shape = if message.get("id").is_some() { Shape::Request } else { Shape::Notification };
            match schema.definition(self.role.peer().side(), method, shape) {
                Some(definition) => found.extend(schema.violations(definition, &message["params"])),
                None if method.starts_with('_') => {}
                None => found.push(format!("{method}: no such method on that side")),
            }
        } else if let Some(error) = message.get("error") {
            self.asked.remove(&message["id"].to_string());
            found.extend(schema.violations("Error", error));
        } else if let Some(result) = message.get("result") {
            match self.asked.remove(&message["id"].to_string()) {
                None => found.push("the response to a request that nobody made".into()),
                Some((method, dialect)) => found.extend(self.result_violations(&method, dialect, result)),
            }
        }
        found
    }

    fn result_violations(&self, method: &str, dialect: Dialect, result: &Value) -> Vec<String> {
        let schema = Schema::official();
        // Methods that are no longer, or not, in the protocol may be answered with anything.
        let Some(definition) = schema.definition(self.role.side(), method, Shape::Response) else { return Vec::new() };
        let mut found = schema.violations(definition, result);
        if dialect.draft {
            found.retain(|violation| !(violation.starts_with("/sessions/") && violation.contains("/createdAt:")));
        }
        if dialect.extensions {
            for (name, is_right) in EXTENSION {
                let rows = result["sessions"].as_array().into_iter().flatten();
                if rows.filter_map(|row| row.get(name)).all(is_right) {
                    let member = format!("/{name}: no schema knows this key");
                    found.retain(|violation| !(violation.starts_with("/sessions/") && violation.ends_with(&member)));
                }
            }
        }
        found
    }
}

fn envelope(message: &Value) -> Vec<String> {
    let mut found = Vec::new();
    if message["jsonrpc"] != "2.0" {
        found.push("jsonrpc is not \"2.0\"".into());
    }
    let Some(fields) = message.as_object() else { return found };
    let is_call = fields.contains_key("method");
    let allowed: &[&str] =
        if is_call { &["jsonrpc", "id", "method", "params"] } else { &["jsonrpc", "id", "result", "error"] };
    found.extend(fields.keys().filter(|key| !allowed.contains(&key.as_str())).map(|key| format!("envelope: {key}")));
    if !is_call && fields.contains_key("result") == fields.contains_key("error") {
        found.push("a response has a result or an error".into());
    }
    if !is_call && !fields.contains_key("id") {
        found.push("a response has an id".into());
    }
    found
}
