//! Prompts that are such as some agent tells in its user's name: a user brings along the summary of a compaction from another session,
//! or asks what some text is. The same told by the agent is what the user has said, unless it stands for what was said before.

use std::borrow::Cow;

use serde_json::value::RawValue;

use super::event::{Event, text_of};
use super::typed::without_elements;
use crate::reconcile::turn::sum::Sum;
use crate::reconcile::turn::{Outcome, Turn};
use crate::storage::{Result, Storage};
use crate::store::Session;
use crate::transcript::{Entry, Kind, Remark, Replay};

/// Such prompts of a transcript.
#[derive(Debug, Clone, Default)]
pub struct Brought {
    /// How each may be told, all of it or a block of it, and the prompt itself.
    prompts: Vec<(Sum, Sum)>,
    /// The one that the agent's session begins with, if it does.
    first: Option<Sum>,
}

impl Brought {
    /// Those of a session's transcript, its own log up to the entry `own_end`.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    pub fn of_transcript<S: Storage>(storage: &S, session: &Session, own_end: u32) -> Result<Self> {
        let mut brought = Self::default();
        Replay::up_to(session, own_end).each(storage, |_, text| {
            if Entry::parse(text).is_some_and(|entry| entry.kind == Kind::Prompt)
                && let Event::Prompt { blocks, .. } = Event::parse(text)
            {
                brought.note(&blocks);
            }
        })?;
        Ok(brought)
    }

    /// Whether a user has said what this content block (JSON) says.
    pub fn has_said(&self, block: &str) -> bool {
        serde_json::from_str(block).is_ok_and(|block| self.has(Some(block), false))
    }

    /// Notes a prompt of these blocks, if it is one.
    pub(in crate::reconcile) fn note(&mut self, blocks: &[&RawValue]) {
        let remarks = blocks.iter().filter(|block| Remark::of(block.get()).is_some());
        let mut told: Vec<Sum> = remarks.filter_map(|block| text_of(block)).map(sum_of).collect();
        if told.is_empty() {
            return;
        }
        let all: String = blocks.iter().filter_map(|block| text_of(block)).collect();
        let prompt = sum_of(all.into());
        told.push(prompt);
        self.prompts.extend(told.into_iter().map(|told| (told, prompt)));
    }

    /// The same of a transcript of these turns. Before one that the agent's session begins with there is nothing that a summary could
    /// stand for: nothing that is sure to be in that session.
    #[must_use]
    pub(in crate::reconcile) fn among(mut self, turns: &[Turn]) -> Self {
        if !self.prompts.is_empty() {
            let is_one = |turn: &Turn| self.prompts.iter().any(|(_, prompt)| *prompt == turn.user);
            let is_kept = |turn: &Turn| !turn.refused && !turn.is_command && turn.outcome != Outcome::Nothing;
            let mut its = turns.iter().filter(|turn| turn.took_part != Some(false) && !turn.is_silent());
            self.first = its.find(|turn| is_one(turn) || is_kept(turn)).map(|turn| turn.user);
        }
        self
    }

    /// Whether a user has said this, which is told in a user's name. `is_first`: before all else.
    pub(in crate::reconcile) fn has(&self, content: Option<&RawValue>, is_first: bool) -> bool {
        if self.prompts.is_empty() {
            return false;
        }
        let told = content.and_then(text_of).map(sum_of);
        let mut prompts = self.prompts.iter().filter(|(may_be_told, _)| told == Some(*may_be_told));
        prompts.any(|(_, prompt)| !is_first || self.first == Some(*prompt))
    }
}

/// Of a user's words, as turns have them.
fn sum_of(text: Cow<'_, str>) -> Sum {
    Sum::of(&without_elements(text))
}
