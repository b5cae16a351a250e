//! What an agent says without a prompt, which its replay may have as well.

use super::exchanges::{Exchange, Exchanges};
use super::said::{Print, Said};
use crate::storage::{Result, Storage};
use crate::store::Session;

/// What an agent has said without a prompt, and how much of that was said again.
#[derive(Debug, Default)]
pub struct Unprompted {
    all: Exchange,
    /// What each of the updates has said by which it was said.
    updates: Vec<Begins>,
    /// How many of these come up to the last of which some was said again.
    again: usize,
}

/// What an update has said.
#[derive(Debug)]
enum Begins {
    /// Words from here on, in bytes of all of them.
    Words(usize),
    Thoughts(usize),
    /// Something of the tool call of this id.
    Call(String),
    Other(Print),
    /// Nothing of the agent's.
    Nothing,
}

impl Unprompted {
    /// What stands before its user's first words in what the session's transcript holds now of what this agent took part in. A
    /// replay begins with that.
    pub fn before_all<S: Storage>(storage: &S, session: &Session, agent: &str) -> Result<Self> {
        let first = Exchanges::of(storage, session, agent, None)?.next(storage)?;
        let all = if first.is_without_prompt() { first } else { Exchange::default() };
        Ok(Self { all, ..Self::default() })
    }

    /// It says this `update` as well.
    pub fn add(&mut self, update: &str) {
        let said = Said::read(update);
        self.updates.push(match &said {
            Said::Agent(_) => Begins::Words(self.all.agent.length()),
            Said::Thought(_) => Begins::Thoughts(self.all.thoughts.length()),
            Said::Call { id, .. } => Begins::Call(id.clone()),
            Said::Other(print) => Begins::Other(*print),
            Said::User(_) | Said::ForAgent(_) | Said::Attached(_) => Begins::Nothing,
        });
        self.all.add(said);
    }

    /// Whether any of it is a message.
    pub fn has_words(&self) -> bool {
        !self.all.agent.left().is_empty()
    }

    /// By how many updates it was said.
    pub fn count(&self) -> usize {
        self.updates.len()
    }

    /// How many of these come up to the last of which some was said again.
    pub fn again(&self) -> usize {
        self.again
    }

    /// Whether this `update` says again what comes next of it.
    pub fn repeats(&mut self, update: &str) -> bool {
        let said = Said::read(update);
        let repeats = match &said {
            Said::Agent(text) => !self.all.agent.left().is_empty() && self.all.agent.pass(text),
            Said::Thought(text) => !self.all.thoughts.left().is_empty() && self.all.thoughts.pass(text),
            Said::Call { id, .. } => self.all.calls.contains_key(id),
            Said::Other(print) => self.all.others.pass(*print),
            Said::User(_) | Said::ForAgent(_) | Said::Attached(_) => false,
        };
        if repeats {
            let (words, thoughts) = (self.all.agent.told(), self.all.thoughts.told());
            let last = self.updates.iter().rposition(|begins| match (begins, &said) {
                (Begins::Words(at), Said::Agent(_)) => *at < words,
                (Begins::Thoughts(at), Said::Thought(_)) => *at < thoughts,
                (Begins::Call(own), Said::Call { id, .. }) => own == id,
                (Begins::Other(own), Said::Other(print)) => own == print,
                _ => false,
            });
            self.again = self.again.max(last.map_or(0, |last| last + 1));
        }
        repeats
    }
}
