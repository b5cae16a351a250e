//! How a session is found that is open or being opened on a connection.

use super::client_request::ClientRequest;

/// A session's id, or the request that makes one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Key {
    /// The id that clients know.
    Session(String),
    /// A fork that has no id yet: the request for it.
    Fork(ClientRequest),
}

impl Key {
    /// No session's.
    pub(super) fn nobodys() -> Self {
        Self::Session(String::new())
    }

    /// The session's id, where it has one.
    pub(super) fn id(&self) -> Option<&str> {
        match self {
            Self::Session(id) => Some(id),
            Self::Fork(_) => None,
        }
    }
}
