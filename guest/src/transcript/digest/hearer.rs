//! Whom an account is for, where it was there for a part of what was said.

use crate::transcript::entry::{Entry, speaker};

/// An agent's session that is open in a window. Another program of that agent's may have it open in another window, and
/// knows nothing of what is said in this one.
#[derive(Debug, Clone, Copy)]
pub struct Hearer<'a> {
    /// The agent's name.
    pub agent: &'a str,
    /// The agent's id for its session.
    pub id: &'a str,
    /// What the tags of the window's turns begin with.
    pub window: &'a str,
}

impl Hearer<'_> {
    /// Whether the turn that this prompt is of went to it.
    pub(super) fn took_part(&self, prompt: &Entry<'_>) -> bool {
        prompt.turn.is_some_and(|tag| tag.starts_with(self.window))
            && prompt.with().is_some_and(|(agent, id)| agent == self.agent && id == self.id)
    }

    /// Whether it has said this by itself, between turns.
    pub(super) fn has_said(&self, entry: &Entry<'_>) -> bool {
        entry.may_be_of(self.window) && entry.speaker.is_some_and(|said_by| speaker(self.agent, self.id) == said_by)
    }
}
