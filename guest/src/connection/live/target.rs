//! Which session is opened.

use std::collections::BTreeSet;

use super::spending::ParentsCount;
use crate::store::Session;

/// What is being opened.
#[derive(Debug)]
pub(in crate::connection) enum Target {
    /// A session of the store, as its record was.
    Known(Session),
    /// One that the agent may know and the layer does not; the record it will have.
    Unknown(Session),
    /// A fork of this session.
    Fork(Parent),
    /// A fork of a session that the agent may know and the layer does not: the record which that one would have, in the
    /// directories of the fork.
    ForkOfUnknown(Session),
}

/// What is forked, as it was when the agent was asked for that.
#[derive(Debug)]
pub(in crate::connection) struct Parent {
    /// Its record.
    pub(in crate::connection) session: Session,
    /// The directory of the fork.
    pub(in crate::connection) cwd: String,
    /// And the further ones.
    pub(in crate::connection) directories: Vec<String>,
    /// What it was said to have cost, if it was open here: the fork's count may begin at that.
    pub(in crate::connection) count: Option<ParentsCount>,
    /// The tags of turns that its agent has heard, and the fork's so, wherever they stand.
    pub(in crate::connection) turns_heard: BTreeSet<String>,
}

impl Target {
    /// The record that it begins with.
    pub(in crate::connection) fn session(&self) -> &Session {
        match self {
            Self::Known(session) | Self::Unknown(session) | Self::ForkOfUnknown(session) => session,
            Self::Fork(parent) => &parent.session,
        }
    }

    /// Whether it is a fork, which has no id before its agent has named it.
    pub(in crate::connection) fn is_fork(&self) -> bool {
        matches!(self, Self::Fork(..) | Self::ForkOfUnknown(_))
    }
}
