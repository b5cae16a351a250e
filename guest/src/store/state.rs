//! A session's state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::unreadable::unreadable;
use crate::storage::Result;

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
    /// The name of the agent that answered so.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub beside_of: String,
    /// The last update of each other kind of state (plan, commands, usage), by its `sessionUpdate`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub updates: BTreeMap<String, Box<RawValue>>,
}

impl State {
    /// This over what was in force before it.
    #[must_use]
    pub fn over(self, mut earlier: Self) -> Self {
        earlier.chosen.extend(self.chosen);
        earlier.updates.extend(self.updates);
        if self.beside_of != earlier.beside_of && !self.beside_of.is_empty() {
            earlier.beside.clear();
            earlier.beside_of = self.beside_of;
        }
        earlier.beside.extend(self.beside);
        Self {
            modes: self.modes.or(earlier.modes),
            mode: self.mode.or(earlier.mode),
            model: self.model.or(earlier.model),
            options: self.options.or(earlier.options),
            chosen: earlier.chosen,
            beside: earlier.beside,
            beside_of: earlier.beside_of,
            updates: earlier.updates,
        }
    }

    /// Reads a record.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| unreadable("a session's state", &error))
    }

    /// The record's text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
