//! What of a history is shown when its session is opened.

use crate::rpc::RpcError;
use crate::store::Session;
use crate::transcript::{Part, Start};

/// What the client wants to see of the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::connection) enum Wanted {
    /// All of it, or a part. A place in it holds for one layout of the transcript.
    History { part: Part, start: Start, layout: Option<u64> },
    /// Nothing (protocol v1, `session/resume`).
    Nothing,
}

impl Wanted {
    pub(in crate::connection) fn is_history(&self) -> bool {
        matches!(self, Self::History { .. })
    }

    /// Whether that is the conversation, which an agent that opens the session may tell itself.
    pub(super) fn is_conversation(&self) -> bool {
        matches!(self, Self::History { part: Part::Conversation, .. })
    }

    /// Refuses a place in a history that has been laid out anew since.
    pub(in crate::connection) fn check_layout(&self, session: &Session) -> Result<(), RpcError> {
        match self {
            Self::History { layout: Some(layout), .. } if *layout != session.layout => Err(RpcError::invalid_params(
                "_meta.acp-sessions.replay",
                "names a place in a history that has changed since: load the whole",
            )),
            _ => Ok(()),
        }
    }
}
