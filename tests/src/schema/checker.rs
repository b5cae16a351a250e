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

/// The judge of one peer in one conversation.
pub struct Checker {
    role: Role,
    /// What the peer was asked and has not answered: by id, the method and whether it used the draft's fields.
    asked: HashMap<String, (String, bool)>,
}

impl Checker {
    /// Judges a peer in this role.
    pub fn new(role: Role) -> Self {
        Self { role, asked: HashMap::new() }
    }

    /// Something was said to the peer.
    pub fn heard(&mut self, message: &Value) {
        if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
            let draft = DRAFT_FIELDS.iter().any(|field| message["params"].get(field).is_some());
            self.asked.insert(id.to_string(), (method.to_owned(), draft));
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
                Some((method, draft)) => found.extend(self.result_violations(&method, draft, result)),
            }
        }
        found
    }

    fn result_violations(&self, method: &str, draft: bool, result: &Value) -> Vec<String> {
        let schema = Schema::official();
        // Methods that are no longer, or not, in the protocol may be answered with anything.
        let Some(definition) = schema.definition(self.role.side(), method, Shape::Response) else { return Vec::new() };
        let mut found = schema.violations(definition, result);
        if draft {
            found.retain(|violation| !(violation.starts_with("/sessions/") && violation.contains("/createdAt:")));
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
