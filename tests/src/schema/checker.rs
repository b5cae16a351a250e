//! Follows one side of a conversation and judges each message it says.

use std::collections::HashMap;

use serde_json::Value;

use super::{Schema, Shape, draft};

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

    /// Takes out what is no violation for those who know it.
    fn admit(self, found: &mut Vec<String>) {
        if self.draft {
            found.retain(|violation| !(violation.starts_with("/sessions/") && violation.contains("/createdAt:")));
        }
    }
}

/// What the peer was asked and has not answered.
#[derive(Debug)]
struct Asked {
    method: String,
    dialect: Dialect,
    /// The subscription that it names, if it does.
    subscription: Option<String>,
}

/// The judge of one peer in one conversation.
pub struct Checker {
    role: Role,
    /// By id.
    asked: HashMap<String, Asked>,
    /// The subscriptions that it has begun and not ended, with the drafts whose fields they were asked for with.
    subscriptions: HashMap<String, Dialect>,
    /// The other side has asked for hints.
    wants_hints: bool,
}

impl Checker {
    /// Judges a peer in this role.
    pub fn new(role: Role) -> Self {
        Self { role, asked: HashMap::new(), subscriptions: HashMap::new(), wants_hints: false }
    }

    /// Something was said to the peer.
    pub fn heard(&mut self, message: &Value) {
        if let (Some(method), Some(id)) = (message["method"].as_str(), message.get("id")) {
            let params = &message["params"];
            if method == "initialize" {
                self.wants_hints = params["clientCapabilities"]["session"]["listChanged"].is_object();
            }
            let mut dialect = Dialect::of(params);
            dialect.extensions |= self.wants_hints;
            let subscription = params["subscriptionId"].as_str().map(str::to_owned);
            self.asked.insert(id.to_string(), Asked { method: method.to_owned(), dialect, subscription });
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
            found.extend(self.unasked(method, &message["params"]));
            let subscription = message["params"]["subscriptionId"].as_str().and_then(|id| self.subscriptions.get(id));
            subscription.unwrap_or(&Dialect::default()).admit(&mut found);
        } else if let Some(error) = message.get("error") {
            self.asked.remove(&message["id"].to_string());
            found.extend(schema.violations("Error", error));
        } else if let Some(result) = message.get("result") {
            match self.asked.remove(&message["id"].to_string()) {
                None => found.push("the response to a request that nobody made".into()),
                Some(asked) => {
                    found.extend(self.result_violations(&asked, result));
                    self.note_subscription(&asked, result);
                }
            }
        }
        found
    }

    fn result_violations(&self, asked: &Asked, result: &Value) -> Vec<String> {
        let schema = Schema::official();
        let definition = match asked.method.as_str() {
            "session/list" if asked.dialect.extensions => Some(draft::PAGE),
            method => schema.definition(self.role.side(), method, Shape::Response),
        };
        // Methods that are no longer, or not, in the protocol may be answered with anything.
        let Some(definition) = definition else { return Vec::new() };
        let mut found = schema.violations(definition, result);
        asked.dialect.admit(&mut found);
        found
    }

    /// Keeps in mind which subscriptions there are.
    fn note_subscription(&mut self, asked: &Asked, result: &Value) {
        match (asked.method.as_str(), result["subscriptionId"].as_str(), &asked.subscription) {
            ("session/list/subscribe", Some(begun), _) => self.subscriptions.insert(begun.to_owned(), asked.dialect),
            ("session/list/unsubscribe", _, Some(ended)) => self.subscriptions.remove(ended),
            _ => None,
        };
    }

    /// What is wrong with telling of a list, if nobody has asked for it.
    fn unasked(&self, method: &str, params: &Value) -> Option<String> {
        let is_asked = match (method, params["subscriptionId"].as_str()) {
            ("session/list_changed", _) => self.wants_hints,
            ("session/list/changes" | "session/list/resync", Some(id)) => self.subscriptions.contains_key(id),
            _ => true,
        };
        (!is_asked).then(|| format!("{method}: nobody has asked for it"))
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
