//! Whom an account is for, where it was there for a part of what was said.

use std::collections::BTreeSet;

use crate::transcript::entry::{Entry, speaker};

/// An agent's session that is open in a window. Another program of that agent's may have it open in another window, and
/// knows nothing of what is said in this one.
#[derive(Debug, Clone, Copy)]
pub struct Hearer<'a> {
    /// The agent's name, and others that it goes by.
    pub names: &'a [&'a str],
    /// The agent's ids for its session and, if it is a fork that the agent has made, for those that it was forked from.
    pub ids: &'a [String],
    /// What the tags of the window's turns begin with; none where it has heard what was said in any window.
    pub window: Option<&'a str>,
    /// The tags of the turns that it has heard, where it may have forgotten others of the window's: what it went on with as it opened
    /// the session may lack them. None where it has heard all of the window's.
    pub heard: Option<&'a BTreeSet<String>>,
}

impl Hearer<'_> {
    /// Whether the turn that this prompt is of went to it.
    pub(super) fn took_part(&self, prompt: &Entry<'_>) -> bool {
        prompt.turn.is_some_and(|tag| self.has_heard(tag))
            && prompt.with().is_some_and(|(agent, id)| self.names.contains(&agent.as_str()) && self.ids.contains(&id))
    }

    /// Whether it has heard the turn of this tag, if that went to it.
    pub(super) fn has_heard(&self, tag: &str) -> bool {
        let is_its_window = || self.window.is_none_or(|window| tag.starts_with(window));
        self.heard.map_or_else(is_its_window, |heard| heard.contains(tag))
    }

    fn speaks_as(&self, said_by: &str) -> bool {
        self.names.iter().any(|name| self.ids.iter().any(|id| speaker(name, id) == said_by))
    }

    /// Whether it has said this by itself, between turns.
    pub(super) fn has_said(&self, entry: &Entry<'_>) -> bool {
        self.heard.is_none()
            && self.window.is_none_or(|window| entry.may_be_of(window))
            && entry.speaker.is_some_and(|said_by| self.speaks_as(said_by))
    }
}
