//! Permissions that the agent asks for: history, though it is never replayed as something to answer.

use serde_json::json;

use super::LiveSession;
use crate::rpc::{Object, Outcome};
use crate::transcript::Kind;

impl LiveSession {
    /// The agent asks for permission; `params` without the session's id.
    pub(in crate::connection) fn permission_asked(&mut self, now: i64, params: &str) {
        if self.is_open() {
            self.recorder.push(Kind::PermissionAsked, now, params);
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
