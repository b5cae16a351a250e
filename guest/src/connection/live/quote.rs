//! Keeping the layer's own words out of what an agent says as its own, where it repeats what it was told.

use serde::{Deserialize, Serialize};

use super::session_update::{Update, message_of};
use crate::rpc::Object;
use crate::transcript::own_words::Quoted;

/// What of an agent's message is held back, because it may be an account that the agent was told.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Quote {
    stream: Quoted,
    /// The last chunk (its params) of which something is held back.
    chunk: Option<String>,
}

impl Quote {
    /// Whether something is held back.
    pub(super) fn holds(&self) -> bool {
        self.chunk.is_some()
    }

    /// Whether what is held back is at its end when this comes: something else, or another message.
    pub(super) fn ends_with(&self, update: &Update<'_>) -> bool {
        let is_other = |held: &Update<'_>| held.name != update.name || message_of(held) != message_of(update);
        let held = |chunk: &str| Update::read(chunk, &Object::parse_or_empty(chunk)).is_none_or(|held| is_other(&held));
        self.chunk.as_deref().is_some_and(|chunk| held(chunk) || update.text().is_none())
    }

    /// Takes a chunk of what the agent says; gives what of it is shown and recorded, as its `update` member. None: nothing,
    /// yet or ever.
    pub(super) fn feed(&mut self, update: &Update<'_>) -> Option<String> {
        let Some(text) = update.text() else { return Some(update.update.to_owned()) };
        let shown = self.stream.feed(&text);
        self.chunk = self.stream.holds().then(|| update.kept(None));
        if shown == text {
            return Some(update.update.to_owned());
        }
        (!shown.is_empty()).then(|| update.with_text(&shown))
    }

    /// The message is at its end: what was held back is the agent's own after all, as an `update` member.
    pub(super) fn finish(&mut self) -> Option<String> {
        let rest = self.stream.finish();
        let chunk = self.chunk.take().filter(|_| !rest.is_empty())?;
        let params = Object::parse(&chunk)?;
        Some(Update::read(&chunk, &params)?.with_text(&rest))
    }
}
