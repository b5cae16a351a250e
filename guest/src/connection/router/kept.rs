//! What the host keeps of a session.

use std::sync::Arc;

use crate::connection::live::Memo;

/// What the host was last given to keep of a session.
#[derive(Debug)]
pub(super) struct Kept {
    pub(super) memo: Memo,
    /// What it was opened with; apart, because it does not change.
    pub(super) given: Option<Arc<str>>,
}

impl Kept {
    /// What the keys begin with under which the host keeps what sessions were opened with.
    pub(super) const GIVEN: &'static str = "g/";

    pub(super) fn given(&self) -> Option<&Arc<str>> {
        self.given.as_ref()
    }

    pub(super) fn given_key(session: &str) -> String {
        format!("{}{session}", Self::GIVEN)
    }
}
