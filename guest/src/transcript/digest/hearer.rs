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
    /// Of the window's turns those that were begun since the agent opened the session, where it may have forgotten the others:
    /// what it went on with then may lack them. None where it has heard all of them.
    pub since: Option<&'a BTreeSet<String>>,
}

impl Hearer<'_> {
    /// Whether the turn that this prompt is of went to it.
    pub(super) fn took_part(&self, prompt: &Entry<'_>) -> bool {
        prompt.turn.is_some_and(|tag| self.is_its_window(tag))
            && prompt.with().is_some_and(|(agent, id)| self.names.contains(&agent.as_str()) && self.ids.contains(&id))
    }

    /// Whether the turn of this tag was had in its window, and it has not forgotten it since.
    pub(super) fn is_its_window(&self, tag: &str) -> bool {
        self.window.is_none_or(|window| tag.starts_with(window)) && self.since.is_none_or(|tags| tags.contains(tag))
    }

    fn speaks_as(&self, said_by: &str) -> bool {
        self.names.iter().any(|name| self.ids.iter().any(|id| speaker(name, id) == said_by))
    }

    /// Whether it has said this by itself, between turns.
    pub(super) fn has_said(&self, entry: &Entry<'_>) -> bool {
        self.since.is_none()
            && self.window.is_none_or(|window| entry.may_be_of(window))
            && entry.speaker.is_some_and(|said_by| self.speaks_as(said_by))
    }
}
