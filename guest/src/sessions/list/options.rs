//! What a list is like where its request does not say.

use crate::sessions::filter::Agents;

/// What a list goes by besides the request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Options {
    /// The rows in a page of a plain request.
    pub page_size: u32,
    /// Whose sessions are shown where the request does not say.
    pub agents: Agents,
    /// The agent behind the list, which a request may ask for also where [`Self::agents`] says all.
    pub agent: Option<String>,
    /// Whether every request is one of the draft that preceded the stable protocol, whatever fields it has.
    pub draft: bool,
    /// Whether rows show what the draft of list extensions adds, whatever the request asks for.
    pub extended: bool,
    /// The present, in milliseconds since 1970: who has said when that it is there tells what is being done in sessions.
    pub now: i64,
}
