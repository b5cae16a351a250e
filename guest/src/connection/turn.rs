//! A prompt that the agent is working on.

use super::client_request::ClientRequest;
use crate::transcript::Echo;

/// A turn of the conversation under way.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) request: ClientRequest,
    /// What its entries in the log are marked with.
    pub(super) tag: String,
    /// When; not known where its instance was lost.
    pub(super) began: Option<i64>,
    /// The client has taken it back.
    pub(super) cancelled: bool,
    /// What the agent may repeat of the prompt.
    pub(super) echo: Echo,
    /// The prompt was preceded by an account of what the agent had not heard.
    pub(super) retold: bool,
    /// A title made of the prompt, should the session need one.
    pub(super) title: Option<String>,
}

impl Turn {
    /// A turn of which no more is known than the request and its mark: its instance was lost.
    pub(super) fn taken_up(request: ClientRequest, tag: String) -> Self {
        Self { request, tag, began: None, cancelled: false, echo: Echo::default(), retold: false, title: None }
    }
}
