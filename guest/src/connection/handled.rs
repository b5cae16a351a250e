//! What a handler made of a line.

use serde_json::json;

use crate::rpc::{self, Object, RpcError};

use super::key::Key;

/// What is to become of a line.
#[derive(Debug)]
pub(super) enum Handled {
    /// Nothing is left to do with it.
    Done,
    /// It passes as it is.
    Pass,
    /// This passes instead.
    PassAs(String),
    /// It waits until this session's phase ends.
    Wait(Key),
}

/// What a handler of a request returns: an error is answered to it.
pub(super) type Handling = Result<Handled, RpcError>;

impl Handled {
    /// The line passes with the id that this member of its params has replaced, where it is another. `params` must come from
    /// `line`.
    pub(super) fn named(line: &str, params: &Object<'_>, member: &str, id: &str) -> Self {
        let wanted = json!(id).to_string();
        match params.get(member) {
            Some(given) if given != wanted => Self::PassAs(rpc::splice(line, given, &wanted)),
            _ => Self::Pass,
        }
    }
}
