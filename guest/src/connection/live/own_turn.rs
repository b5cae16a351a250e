//! The turn that a window is at, or was last, as far as it may still be written.

use crate::storage::{Result, Storage};
use crate::store::Session;
use crate::transcript::{Recorder, TakenOver};

/// A turn of this window's.
#[derive(Debug)]
pub(super) struct OwnTurn {
    /// What its entries are marked with.
    tag: String,
    /// The number of its prompt's entry in the session's own log.
    prompt: u32,
    /// What of it others have taken over from its agent.
    taken_over: Option<TakenOver>,
}

impl OwnTurn {
    /// The turn of this tag begins with this entry.
    pub(super) fn begins(tag: &str, prompt: u32) -> Self {
        Self { tag: tag.to_owned(), prompt, taken_over: None }
    }

    /// Whether it is the turn of this tag.
    pub(super) fn is(&self, tag: &str) -> bool {
        self.tag == tag
    }

    /// Whether it is known that others have taken over some of it.
    pub(super) fn is_taken_over(&self) -> bool {
        self.taken_over.is_some()
    }

    /// Looks what of it others have taken over into the session, as it is now.
    pub(super) fn look<S: Storage>(&mut self, storage: &S, session: &Session) -> Result<Option<&TakenOver>> {
        self.taken_over = TakenOver::of(storage, session, &self.tag, self.prompt)?;
        Ok(self.taken_over.as_ref())
    }

    /// What others have taken over of it is not written once more.
    pub(super) fn leave_out_taken_over(&mut self, recorder: &mut Recorder) {
        if let Some(taken_over) = &mut self.taken_over {
            recorder.reduce(|entry| taken_over.new_of(entry).map(Into::into));
        }
    }
}
