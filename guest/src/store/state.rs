//! A session's state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::Cost;
use super::unreadable::unreadable;
use crate::checksum;
use crate::rpc::Object;
use crate::storage::Result;

/// The most that is kept of a session's state, in bytes of its values: it is read and written as a whole.
const MOST: usize = 4 * 1024 * 1024;

/// The update that tells what a session uses.
pub const USAGE: &str = "usage_update";

/// What is state rather than history: each kind of it as it last was.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct State {
    /// `modes` as the agent last gave them on new, load or resume.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modes: Option<Box<RawValue>>,
    /// The current mode, where it was set or reported after that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mode: Option<String>,
    /// The model set by `session/set_model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// The complete configuration options as last seen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub options: Option<Box<RawValue>>,
    /// What the client has set: option id to value.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub chosen: BTreeMap<String, Box<RawValue>>,
    /// What the agent last answered to new, load, resume or fork beside modes and options, by member.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub beside: BTreeMap<String, Box<RawValue>>,
    /// The name of the agent that answered so, whose all of this is but the plan.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub beside_of: String,
    /// What was last in force with other agents, by their names; see [`State::with_agent`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub others: BTreeMap<String, State>,
    /// The last update of each other kind of state (plan, commands, usage), by its `sessionUpdate`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub updates: BTreeMap<String, Box<RawValue>>,
    /// Which session of which agent has told the usage among them; see [`crate::transcript::speaker`].
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub usage_of: String,
    /// The connection to which it was told; earlier versions did not say.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub usage_by: String,
}

/// One of a state's values that may be long.
#[derive(Debug)]
enum Value {
    Mode,
    Model,
    Modes,
    Options,
    Chosen(String),
    Beside(String),
    Update(String),
    /// One that is in force with another agent.
    Other(String, Box<Value>),
}

impl State {
    /// This over what was in force before it.
    #[must_use]
    pub fn over(self, mut earlier: Self) -> Self {
        earlier.chosen.extend(self.chosen);
        earlier.updates.extend(self.updates);
        earlier.others.extend(self.others);
        if self.beside_of != earlier.beside_of && !self.beside_of.is_empty() {
            earlier.beside.clear();
            earlier.beside_of = self.beside_of;
        }
        earlier.beside.extend(self.beside);
        if !self.usage_of.is_empty() {
            earlier.usage_of = self.usage_of;
            earlier.usage_by = self.usage_by;
        }
        Self {
            modes: self.modes.or(earlier.modes),
            mode: self.mode.or(earlier.mode),
            model: self.model.or(earlier.model),
            options: self.options.or(earlier.options),
            chosen: earlier.chosen,
            beside: earlier.beside,
            beside_of: earlier.beside_of,
            others: earlier.others,
            updates: earlier.updates,
            usage_of: earlier.usage_of,
            usage_by: earlier.usage_by,
        }
    }

    /// Drops the largest of its values while all together are more than is kept. Returns what they were of.
    pub fn bound(&mut self) -> Vec<String> {
        let mut dropped = Vec::new();
        let mut values = self.values();
        let mut bytes: usize = values.iter().map(|(_, bytes)| bytes).sum();
        if bytes <= MOST {
            return dropped;
        }
        values.sort_by_key(|(_, bytes)| *bytes);
        while bytes > MOST
            && let Some((value, length)) = values.pop()
        {
            bytes -= length;
            dropped.push(self.remove(value));
        }
        dropped
    }

    /// All of its values that may be long, and their lengths.
    fn values(&self) -> Vec<(Value, usize)> {
        let length = |json: &RawValue| json.get().len();
        let one = |value, json: &Option<Box<RawValue>>| json.as_deref().map(|json| (value, length(json)));
        let many = |value: fn(String) -> Value, map: &BTreeMap<String, Box<RawValue>>| {
            map.iter().map(|(name, json)| (value(name.clone()), name.len() + length(json))).collect::<Vec<_>>()
        };
        let mut values = many(Value::Chosen, &self.chosen);
        values.extend(many(Value::Beside, &self.beside));
        values.extend(many(Value::Update, &self.updates));
        for (agent, other) in &self.others {
            let of_other = |(value, bytes)| (Value::Other(agent.clone(), Box::new(value)), agent.len() + bytes);
            values.extend(other.values().into_iter().map(of_other));
        }
        let named = |value, name: &Option<String>| name.as_ref().map(|name| (value, name.len()));
        values.extend(named(Value::Mode, &self.mode));
        values.extend(named(Value::Model, &self.model));
        values.extend(one(Value::Modes, &self.modes));
        values.extend(one(Value::Options, &self.options));
        values
    }

    /// Removes one of them; what it is called in the protocol.
    fn remove(&mut self, value: Value) -> String {
        match value {
            Value::Mode => {
                self.mode = None;
                "currentModeId".to_owned()
            }
            Value::Model => {
                self.model = None;
                "currentModelId".to_owned()
            }
            Value::Modes => {
                self.modes = None;
                "modes".to_owned()
            }
            Value::Options => {
                self.options = None;
                "configOptions".to_owned()
            }
            Value::Chosen(name) => {
                self.chosen.remove(&name);
                name
            }
            Value::Beside(name) => {
                self.beside.remove(&name);
                name
            }
            Value::Update(name) => {
                self.updates.remove(&name);
                name
            }
            Value::Other(agent, value) => {
                let name = self.others.get_mut(&agent).map(|other| other.remove(*value)).unwrap_or_default();
                self.others.retain(|_, other| !other.says_nothing());
                name
            }
        }
    }

    /// What this one of the agents' sessions was last said to have cost, if it is the one that has told the usage.
    pub fn told_cost(&self, of: &str) -> Option<Cost> {
        let last = self.updates.get(USAGE).filter(|_| self.usage_of == of)?;
        Cost::told(last.get())
    }

    /// The state of a fork, which has not cost what its parent has.
    #[must_use]
    pub fn without_cost(mut self) -> Self {
        self.others = self.others.into_iter().map(|(agent, other)| (agent, other.without_cost())).collect();
        let told = self
            .updates
            .get(USAGE)
            .and_then(|told| Object::parse(told.get()).filter(|told| told.get("cost").is_some()));
        let without = told.and_then(|mut told| {
            told.remove("cost");
            RawValue::from_string(told.to_json()).ok()
        });
        if let Some(without) = without {
            self.updates.insert(USAGE.to_owned(), without);
        }
        self
    }

    /// Reads a record.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| unreadable("a session's state", &error))
    }

    /// The record's text, with its checksum.
    pub fn to_text(&self) -> String {
        checksum::seal(serde_json::to_string(self).unwrap_or_default())
    }
}
