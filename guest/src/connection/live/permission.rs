//! Permissions that the agent asks for: history, though it is never replayed as something to answer.

use super::LiveSession;
use crate::transcript::Kind;

impl LiveSession {
    /// The agent asks for permission; `params` without the session's id.
    pub(in crate::connection) fn permission_asked(&mut self, now: i64, params: &str) {
        if self.is_open() {
            self.recorder.push(Kind::PermissionAsked, now, params);
        }
    }

    /// The client has answered.
    pub(in crate::connection) fn permission_answered(&mut self, now: i64, answer: &str) {
        if self.is_open() || self.is_closing() {
            self.recorder.push(Kind::PermissionAnswered, now, answer);
        }
    }
}
