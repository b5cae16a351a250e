//! Which prompts wait in a session, and where each is kept meanwhile.

use crate::connection::client_request::ClientRequest;
use crate::storage::Write;
use crate::store::ActivityState;

/// A prompt that waits, and is kept in the store meanwhile.
#[derive(Debug)]
pub(in crate::connection) struct WaitingPrompt {
    pub(in crate::connection) request: ClientRequest,
    /// What the entries of its turn are going to be marked with.
    pub(super) tag: String,
    /// The id of its message, as JSON.
    pub(super) message_id: String,
    /// Where it is kept.
    pub(in crate::connection) key: String,
}

/// One whose turn has begun, and which the log has not taken yet.
#[derive(Debug)]
pub(super) struct BegunPrompt {
    pub(super) message_id: String,
    pub(super) key: String,
}

/// All that wait in a session.
#[derive(Debug, Default)]
pub(super) struct WaitingPrompts {
    pub(super) waiting: Vec<WaitingPrompt>,
    /// They go with what is written next.
    pub(super) begun: Vec<BegunPrompt>,
    /// What the open mark says is being done, where it was written for what waits.
    pub(super) said: ActivityState,
}

impl WaitingPrompts {
    pub(super) fn is_any(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Whether something is to be taken out of the store.
    pub(super) fn is_any_begun(&self) -> bool {
        !self.begun.is_empty()
    }

    /// What takes those out of the store whose turns have begun.
    pub(super) fn writes(&self) -> impl Iterator<Item = Write> {
        self.begun.iter().map(|begun| Write::Remove { key: begun.key.clone() })
    }

    /// These writes were made.
    pub(super) fn clear_begun(&mut self) {
        self.begun.clear();
    }

    pub(super) fn take(&mut self, request: &ClientRequest) -> Option<WaitingPrompt> {
        let at = self.waiting.iter().position(|unsent| unsent.request == *request)?;
        Some(self.waiting.remove(at))
    }
}
