//! What an agent has asked its user in a session, and waits for.

use serde::{Deserialize, Serialize};

use crate::connection::requests::Matter;
use crate::rpc::Id;

/// How many questions of a session that are waited for at once outlast the loss of the instance: the first ones. The connection
/// remembers more, all sessions' together, and all of these are waited for.
pub(super) const MOST_QUESTIONS: usize = 64;

/// Something that the agent has asked its user, and waits for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(in crate::connection) struct Question {
    /// The request's id as the client knows it, as JSON.
    pub(in crate::connection) request: String,
    /// The tool call that it is about, where it says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tool_call: Option<String>,
    /// It is no question for permission.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_elicitation: bool,
    /// When it was asked.
    #[serde(default, skip_serializing_if = "AskedWhen::is_in_turn")]
    pub(super) asked: AskedWhen,
}

impl Question {
    /// What a request asks that the client knows by this id.
    pub(in crate::connection) fn of(request: &Id, matter: &Matter) -> Self {
        let (tool_call, is_elicitation) = match matter {
            Matter::Permission { tool_call } => (tool_call.clone(), false),
            Matter::Elicitation => (None, true),
        };
        Self { request: request.as_json().to_owned(), tool_call, is_elicitation, asked: AskedWhen::InTurn }
    }

    /// What it asks.
    pub(in crate::connection) fn matter(&self) -> Matter {
        if self.is_elicitation {
            return Matter::Elicitation;
        }
        Matter::Permission { tool_call: self.tool_call.clone() }
    }
}

/// When a question was asked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum AskedWhen {
    /// In a turn that is under way.
    #[default]
    InTurn,
    /// While none was: no turn's end ends it.
    BetweenTurns,
    /// Before the session was open.
    Early,
    /// In a turn that has ended since without its being answered. The user is waited for until there is another prompt.
    InEndedTurn,
}

impl AskedWhen {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
    fn is_in_turn(&self) -> bool {
        *self == Self::InTurn
    }
}
