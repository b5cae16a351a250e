//! What an agent says without a prompt, which its replay may have as well.

use super::exchanges::{Exchange, Exchanges};
use super::said::Said;
use crate::storage::{Result, Storage};
use crate::store::Session;

/// What an agent has said without a prompt, and how much of that was said again.
#[derive(Debug, Default)]
pub struct Unprompted(Exchange);

impl Unprompted {
    /// What stands before its user's first words in what the session's transcript holds now of what this agent took part in. A
    /// replay begins with that.
    pub fn before_all<S: Storage>(storage: &S, session: &Session, agent: &str) -> Result<Self> {
        let first = Exchanges::of(storage, session, agent, None)?.next(storage)?;
        Ok(if first.is_without_prompt() { Self(first) } else { Self::default() })
    }

    /// It says this `update` as well.
    pub fn add(&mut self, update: &str) {
        self.0.add(Said::read(update));
    }

    /// Whether any of it is a message.
    pub fn has_words(&self) -> bool {
        !self.0.agent.left().is_empty()
    }

    /// Whether this `update` says again what comes next of it.
    pub fn repeats(&mut self, update: &str) -> bool {
        match Said::read(update) {
            Said::Agent(text) => !self.0.agent.left().is_empty() && self.0.agent.pass(&text),
            Said::Thought(text) => !self.0.thoughts.left().is_empty() && self.0.thoughts.pass(&text),
            Said::Call { id, .. } => self.0.calls.contains_key(&id),
            Said::Other(print) => self.0.others.pass(print),
            Said::User(_) | Said::ForAgent(_) | Said::Attached(_) => false,
        }
    }
}
