//! Which session is opened.

use super::spending::ParentsCount;
use crate::store::Session;

/// What is being opened.
#[derive(Debug)]
pub(in crate::connection) enum Target {
    /// A session of the store, as its record was.
    Known(Session),
    /// One that the agent may know and the layer does not; the record it will have.
    Unknown(Session),
    /// A fork of this session, in this directory and with these further ones. What the session was said to have cost, if that was
    /// open here when the agent was asked for the fork: the fork's count may begin at that.
    Fork(Session, String, Vec<String>, Option<ParentsCount>),
    /// A fork of a session that the agent may know and the layer does not: the record which that one would have, in the
    /// directories of the fork.
    ForkOfUnknown(Session),
}

impl Target {
    /// The record that it begins with.
    pub(in crate::connection) fn session(&self) -> &Session {
        match self {
            Self::Known(session) | Self::Unknown(session) | Self::Fork(session, ..) | Self::ForkOfUnknown(session) => {
                session
            }
        }
    }

    /// Whether it is a fork, which has no id before its agent has named it.
    pub(in crate::connection) fn is_fork(&self) -> bool {
        matches!(self, Self::Fork(..) | Self::ForkOfUnknown(_))
    }
}
