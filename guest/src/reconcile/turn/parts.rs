//! What a turn is known to be made of.

use super::sum::Sum;

/// Halves of turns, and messages. Mostly there are none, which takes the room of a pointer.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Parts<H>(Option<Box<Lists<H>>>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Lists<H> {
    halves: Box<[H]>,
    messages: Box<[Sum]>,
    begins: Box<[Sum]>,
}

impl<H: Clone> Parts<H> {
    /// These.
    pub(in crate::reconcile) fn of(halves: Vec<H>, messages: Vec<Sum>, begins: Vec<Sum>) -> Self {
        let is_any = !halves.is_empty() || !messages.is_empty() || !begins.is_empty();
        let lists = || Lists { halves: halves.into(), messages: messages.into(), begins: begins.into() };
        Self(is_any.then(|| Box::new(lists())))
    }

    /// What the turn is known to hold of turns of the other side; of rests of their answers, what it ends with. What was put
    /// together holds the prompts of all that it was put together of.
    pub fn halves(&self) -> &[H] {
        self.0.as_ref().map_or(&[], |lists| &lists.halves)
    }

    /// The messages that the answer is made of, where there are several.
    pub(in crate::reconcile) fn messages(&self) -> &[Sum] {
        self.0.as_ref().map_or(&[], |lists| &lists.messages)
    }

    /// The prompts of the other side that the user's words begin with, and go on.
    pub(in crate::reconcile) fn begins(&self) -> &[Sum] {
        self.0.as_ref().map_or(&[], |lists| &lists.begins)
    }

    /// It holds these instead.
    pub(in crate::reconcile) fn set_halves(&mut self, halves: Vec<H>) {
        *self = Self::of(halves, self.messages().to_vec(), self.begins().to_vec());
    }

    /// Its answer is made of these instead.
    pub(in crate::reconcile) fn set_messages(&mut self, messages: Vec<Sum>) {
        *self = Self::of(self.halves().to_vec(), messages, self.begins().to_vec());
    }
}
