//! What an agent replays as the user's, without the layer's own words.

use serde::{Deserialize, Serialize};

use super::session_update::{Update, message_of};
use crate::rpc::Object;
use crate::transcript::own_words::Parted;
use crate::transcript::{UpdateKind, own_words};

/// Keeps the layer's own words out of what the agent replays as the user's, also where they come in several chunks.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct AccountFilter {
    stream: own_words::Stream,
    /// The message that is being told.
    message: Option<String>,
    /// The last chunk of it (its params) of which something is held back.
    chunk: Option<String>,
}

impl AccountFilter {
    /// Whether the message that is being told is at its end when this comes. An image in the midst of an account does not
    /// end it.
    pub(super) fn ends_with(&self, update: &Update<'_>) -> bool {
        if update.kind != UpdateKind::UserChunk {
            return true;
        }
        message_of(update) != self.message || update.text().is_none() && !self.stream.is_inside()
    }

    /// What may be shown of the text of the next chunk.
    pub(super) fn feed(&mut self, update: &Update<'_>, text: &str) -> Parted {
        self.message = message_of(update);
        let shown = self.stream.feed_parted(text);
        self.chunk = (!self.stream.undecided().is_empty()).then(|| update.kept(None));
        shown
    }

    /// Something that is no text is told of the message.
    pub(super) fn pass(&mut self, update: &Update<'_>) {
        self.message = message_of(update);
    }

    /// Whether something is held back that may be shown after all.
    pub(super) fn holds(&self) -> bool {
        self.chunk.is_some()
    }

    /// What was held back and is shown after all, as an `update` member.
    pub(super) fn finish(&mut self) -> Option<String> {
        let rest = self.stream.finish();
        self.message = None;
        let chunk = self.chunk.take().filter(|_| !rest.is_empty())?;
        let params = Object::parse(&chunk)?;
        Some(Update::read(&chunk, &params)?.with_text(&rest))
    }
}
