//! Which prompts wait in a session, and where each is kept meanwhile.

use crate::connection::client_request::ClientRequest;
use crate::storage::Write;
use crate::store::ActivityState;

/// A prompt that waits, and is kept in the store meanwhile.
#[derive(Debug)]
pub(in crate::connection) struct Unsent {
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
pub(super) struct Begun {
    pub(super) message_id: String,
    pub(super) key: String,
}

/// All that wait in a session.
#[derive(Debug, Default)]
pub(super) struct AllUnsent {
    pub(super) waiting: Vec<Unsent>,
    /// They go with what is written next.
    pub(super) begun: Vec<Begun>,
    /// What the open mark says is being done, where it was written for what waits.
    pub(super) said: ActivityState,
}

impl AllUnsent {
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
    pub(super) fn are_written(&mut self) {
        self.begun.clear();
    }

    pub(super) fn take(&mut self, request: &ClientRequest) -> Option<Unsent> {
        let at = self.waiting.iter().position(|unsent| unsent.request == *request)?;
        Some(self.waiting.remove(at))
    }
}
