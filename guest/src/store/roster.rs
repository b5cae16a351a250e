//! The agents of a store: each that ever knew a session of it has list rows of its own, and a list of all sessions has
//! to know where they are.

use std::collections::BTreeSet;

use super::Session;
use super::unreadable::unreadable;
use crate::storage::Result;

/// The names of the agents that sessions of a store are, or were, known to. Only grows.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Roster {
    names: BTreeSet<String>,
}

impl Roster {
    /// Reads the record; empty where there is none.
    pub fn parse(text: Option<&str>) -> Result<Self> {
        let names = text.map_or(Ok(BTreeSet::new()), serde_json::from_str);
        names.map(|names| Self { names }).map_err(|error| unreadable("the agents' names", &error))
    }

    /// The record's text.
    pub fn to_text(&self) -> String {
        serde_json::to_string(&self.names).unwrap_or_default()
    }

    /// Adds the agents that know a session; says whether one of them was new.
    pub fn add(&mut self, session: &Session) -> bool {
        let before = self.names.len();
        for name in session.agents.keys() {
            if !self.names.contains(name) {
                self.names.insert(name.clone());
            }
        }
        self.names.len() > before
    }

    /// All of them but this one.
    pub fn others<'r>(&'r self, agent: &'r str) -> impl Iterator<Item = &'r str> {
        self.names.iter().map(String::as_str).filter(move |name| *name != agent)
    }

    /// Whose sets of rows there are: that of sessions no agent knows, and one for each agent.
    pub fn row_sets(&self) -> impl Iterator<Item = Option<&str>> {
        std::iter::once(None).chain(self.names.iter().map(|name| Some(name.as_str())))
    }
}

impl Session {
    /// In whose sets of rows the session is: one for each agent that knows it, or the one of those that none knows.
    pub fn row_sets(&self) -> impl Iterator<Item = Option<&str>> {
        let nobodys = self.agents.is_empty().then_some(None);
        nobodys.into_iter().chain(self.agents.keys().map(|name| Some(name.as_str())))
    }
}
