//! Which session is opened.

use crate::store::Session;

/// What is being opened.
#[derive(Debug)]
pub(in crate::connection) enum Target {
    /// A session of the store, as its record was.
    Known(Session),
    /// One that the agent may know and the layer does not; the record it will have.
    Unknown(Session),
    /// A fork of this session, in this directory and with these further ones.
    Fork(Session, String, Vec<String>),
}

impl Target {
    /// The record that it begins with.
    pub(in crate::connection) fn session(&self) -> &Session {
        match self {
            Self::Known(session) | Self::Unknown(session) | Self::Fork(session, ..) => session,
        }
    }
}
