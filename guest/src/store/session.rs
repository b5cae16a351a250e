//! The session's record, and its state.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::row::Shelf;
use crate::storage::{Result, StorageError};

/// Where a session's title comes from.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Title {
    /// It has none.
    #[default]
    None,
    /// Made from the first prompt.
    Auto(String),
    /// Set by a client or the agent; never overwritten by an automatic one.
    Set(String),
    /// Cleared by the agent (`title: null`): stays empty until somebody sets one.
    Cleared,
}

impl Title {
    /// The title as shown.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Auto(text) | Self::Set(text) => Some(text),
            Self::None | Self::Cleared => None,
        }
    }
}

/// How the layer came to know a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// It went through the layer from its beginning.
    #[default]
    Layer,
    /// Read from the agent's own list; its history is still with the agent only.
    Agent,
}

/// A part of another session's log that this one begins with.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Segment {
    /// The log.
    pub log: String,
    /// Its last entry that counts.
    pub until: u64,
}

/// All that is known about a session but its state and its transcript. Times are milliseconds since 1970, UTC.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Session {
    /// The id its clients know it by; also the name of its log.
    pub id: String,
    /// The working directory, as the client gave it.
    pub cwd: String,
    /// When it was created.
    pub created: i64,
    /// Its last activity.
    pub updated: i64,
    /// Whether the agent took back the time of last activity: it then only orders, and is not shown.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub undated: bool,
    /// The revision that last changed it; see [`super::Store::revision`].
    #[serde(default)]
    pub revision: u64,
    /// The revision that created it.
    #[serde(default)]
    pub born: u64,
    /// The title.
    #[serde(default)]
    pub title: Title,
    /// What `session_info_update` left in `_meta`, by key.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub meta: BTreeMap<String, Box<RawValue>>,
    /// Whether it is put away.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// The session that started it, for a sub-agent's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The name of the agent it was made with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<String>,
    /// The id its agent knows it by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// How the layer came to know it.
    #[serde(default)]
    pub origin: Origin,
    /// How many prompts it got.
    #[serde(default)]
    pub prompts: u64,
    /// What it shares with the sessions it was forked from, oldest first; its own log follows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inherited: Vec<Segment>,
}

impl Session {
    /// A session without a title, a prompt or a past.
    pub fn new(id: String, cwd: String, now: i64) -> Self {
        Self {
            id,
            cwd,
            created: now,
            updated: now,
            undated: false,
            revision: 0,
            born: 0,
            title: Title::None,
            meta: BTreeMap::new(),
            archived: false,
            parent: None,
            agent: None,
            agent_id: None,
            origin: Origin::Layer,
            prompts: 0,
            inherited: Vec::new(),
        }
    }

    /// Reads a record.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| StorageError::Corrupt(format!("a session's record: {error}")))
    }

    /// The record's text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Where in the list it belongs.
    pub fn shelf(&self) -> Shelf {
        Shelf { archived: self.archived, subagent: self.parent.is_some() }
    }

    /// Notes activity at this time; never before the session was created, so that a bound on creation is one on
    /// activity too.
    pub fn touch(&mut self, at: i64) {
        self.updated = at.clamp(self.created, crate::time::LAST);
        self.undated = false;
    }

    /// Whether it never got a prompt, here or where it was forked from.
    pub fn is_unprompted(&self) -> bool {
        self.prompts == 0 && self.origin == Origin::Layer && self.inherited.is_empty()
    }
}

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
    /// The last update of each other kind of state (plan, commands, usage), by its `sessionUpdate`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub updates: BTreeMap<String, Box<RawValue>>,
}

impl State {
    /// Reads a record.
    pub fn parse(text: &str) -> Result<Self> {
        serde_json::from_str(text).map_err(|error| StorageError::Corrupt(format!("a session's state: {error}")))
    }

    /// The record's text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }
}
