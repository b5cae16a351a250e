//! A request of a client's, by its id.

use crate::rpc::Id;

/// A request of a client's.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct ClientRequest(Id);

impl ClientRequest {
    pub(super) fn new(id: Id) -> Self {
        Self(id)
    }

    pub(super) fn id(&self) -> &Id {
        &self.0
    }
}
