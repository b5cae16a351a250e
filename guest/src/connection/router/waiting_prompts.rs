//! Which prompts of a connection wait and are kept in the store, whatever becomes of the sessions that they wait for.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::connection::client_request::ClientRequest;
use crate::connection::key::Key;
use crate::connection::live::WaitingPrompt;

/// The prompts of a connection that wait and are kept in the store.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct ConnectionsPrompts {
    /// What each waits for.
    #[serde(skip)]
    pub(super) waiting: BTreeMap<ClientRequest, Key>,
    /// Those that have waited in a session that is over, and are to be handled once more.
    #[serde(skip)]
    pub(super) left: Vec<(Key, WaitingPrompt)>,
    /// Where some are kept that nothing comes of: the store has not taken that yet.
    #[serde(skip)]
    pub(super) over: BTreeSet<String>,
    /// The names of its instances that were lost.
    pub(super) lost: BTreeSet<String>,
}

impl ConnectionsPrompts {
    /// Whether any wait, or are to be taken out of the store.
    pub(super) fn is_any(&self) -> bool {
        !(self.waiting.is_empty() && self.left.is_empty() && self.over.is_empty())
    }

    /// They have waited in a session that is over.
    pub(super) fn left(&mut self, key: &Key, left: Vec<WaitingPrompt>) {
        self.left.extend(left.into_iter().map(|unsent| (key.clone(), unsent)));
    }

    /// The turn of this prompt has begun.
    pub(super) fn note_begun(&mut self, request: &ClientRequest) {
        self.waiting.remove(request);
    }

    /// Instances of these names were lost.
    pub(super) fn note_lost(&mut self, names: BTreeSet<String>) {
        self.lost.extend(names);
    }

    /// Takes one of those.
    pub(super) fn take_left(&mut self, request: &ClientRequest) -> Option<(Key, WaitingPrompt)> {
        let at = self.left.iter().position(|(_, unsent)| unsent.request == *request)?;
        Some(self.left.remove(at))
    }
}
