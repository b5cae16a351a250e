//! Permissions that the agent asks for: history, though it is never replayed as something to answer.

use serde_json::json;

use super::{LiveSession, Phase};
use crate::connection::cx::Cx;
use crate::environment::Environment;
use crate::rpc::{Object, Outcome};
use crate::storage::Storage;
use crate::store::ActivityState;
use crate::transcript::Kind;

impl LiveSession {
    /// The agent asks for permission; `params` without the session's id. Lists say at once that its user is waited for.
    pub(in crate::connection) fn permission_asked<S: Storage, E: Environment>(
        &mut self,
        params: &str,
        cx: &mut Cx<'_, S, E>,
    ) {
        if self.is_open() {
            self.recorder.push(Kind::PermissionAsked, cx.now(), params);
            self.questions += 1;
            self.write_if_due(cx, false);
        }
    }

    /// What is being done in it.
    pub(super) fn activity_state(&self) -> ActivityState {
        match &self.phase {
            Phase::Open { turns, .. } if !turns.is_empty() && self.questions > 0 => ActivityState::RequiresAction,
            Phase::Open { turns, .. } if !turns.is_empty() => ActivityState::Running,
            Phase::Closing(closing) if !closing.turns.is_empty() => ActivityState::Running,
            _ => ActivityState::Idle,
        }
    }

    /// The client has answered what it was asked for a tool call, and calls itself so.
    pub(in crate::connection) fn permission_answered(
        &mut self,
        now: i64,
        outcome: Outcome<'_>,
        tool_call: Option<&str>,
        client: Option<&str>,
    ) {
        self.questions = self.questions.saturating_sub(1);
        if !self.is_open() && !self.is_closing() {
            return;
        }
        let mut entry = match outcome {
            Outcome::Result(result) => Object::parse_or_empty(result),
            Outcome::Error(error) => {
                let mut entry = Object::default();
                entry.set("error", error);
                entry
            }
        };
        // What the client may have called so itself is no answer.
        for (member, value) in [("toolCallId", tool_call), ("client", client)] {
            entry.remove(member);
            if let Some(value) = value {
                entry.set(member, json!(value).to_string());
            }
        }
        self.recorder.push(Kind::PermissionAnswered, now, &entry.to_json());
    }
}
