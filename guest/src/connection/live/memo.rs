//! What the host keeps of an open session for a lost instance: derived from the session, here and nowhere else.

use serde::{Deserialize, Serialize};

use super::{LiveSession, Phase};
use crate::connection::client_request::ClientRequest;
use crate::connection::turn::Turn;

/// What a fresh instance needs to carry on with an open session, besides what is in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::connection) struct Memo {
    pub(in crate::connection) agent_id: String,
    /// The agent has heard all that was said.
    #[serde(default)]
    pub(in crate::connection) told: bool,
    /// The session on behalf of which its agent started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(in crate::connection) parent: Option<String>,
}

impl Memo {
    /// The key that the host keeps it under.
    pub(in crate::connection) fn key(session: &str) -> String {
        format!("s/{session}")
    }
}

impl LiveSession {
    /// `None` unless the agent has it open for sure: a session that is only being opened is opened anew.
    pub(in crate::connection) fn memo(&self) -> Option<Memo> {
        let is_open = match &self.phase {
            Phase::Open { .. } | Phase::Deleted { .. } => true,
            // An agent that was asked to let go may have done so.
            Phase::Closing(closing) => !closing.is_asked(),
            Phase::Opening(opening) => opening.was_open(),
            Phase::Gone => false,
        };
        is_open.then(|| Memo { agent_id: self.agent_id.to_string(), told: self.is_told, parent: self.parent.clone() })
    }

    /// A turn that an earlier instance began.
    pub(in crate::connection) fn take_up_turn(&mut self, request: ClientRequest, tag: String, retold: bool) {
        let Some(turns) = self.turns_mut() else { return };
        turns.push(Turn { retold, ..Turn::taken_up(request, tag) });
        let first = turns.first().map(|turn| turn.tag.clone());
        self.recorder.set_turn(first);
    }
}
