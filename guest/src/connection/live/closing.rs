//! What a session that is being closed waits for, and who waits for it.

use std::collections::BTreeSet;

use crate::connection::key::Key;
use crate::connection::put_away::{PutAway, Then};
use crate::connection::requests::OwnId;
use crate::connection::running::RunningAt;
use crate::connection::turn::Turn;

/// A session on its way to being closed.
#[derive(Debug)]
pub(super) struct Closing {
    pub(super) turns: Vec<Turn>,
    pub(super) requests: Vec<PutAway>,
    /// Sessions that its agent started on its behalf, and those of theirs, whose prompts are answered first.
    pub(super) behind: BTreeSet<Key>,
    /// Somebody else has deleted it.
    pub(super) deleted: bool,
    /// The agent was asked to close it.
    pub(super) asked: Option<OwnId>,
    /// What the agent has answered to that.
    pub(super) answer: Option<String>,
    /// When the agent last gave a sign of life.
    pub(super) alive: RunningAt,
}

impl Closing {
    /// Whether there is a session to be opened again when it is closed.
    pub(super) fn keeps_session(&self) -> bool {
        !self.deleted && !self.is_to_be_deleted()
    }

    /// Whether somebody here deletes it.
    pub(super) fn is_to_be_deleted(&self) -> bool {
        self.requests.iter().any(|away| away.then == Then::Delete)
    }

    /// Whether the agent was asked to let go.
    pub(super) fn is_asked(&self) -> bool {
        self.asked.is_some()
    }
}
