//! Telling that what is said is not stored, and that it is again: the host, and a client that shows notices, each once.

use serde_json::json;

use crate::connection::key::Key;
use crate::connection::live::LiveSession;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::storage::Storage;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Tells the host, once, that the conversation goes on but is not recorded.
    pub(super) fn not_recorded(&mut self, error: &str) {
        if !std::mem::replace(&mut self.connection.warned, true) {
            self.warn(format!("what is said now is not recorded: {error}"));
        }
    }

    /// Tells the host, once, that what is said in a session is not recorded; its client is told too.
    pub(super) fn not_saved(&mut self, session: Key, reason: &str) {
        self.not_recorded(reason);
        if self.connection.told_unsaved.is_some() {
            return;
        }
        let description = format!(
            "{reason}. What is said is kept in memory as far as there is room and stored when that is possible."
        );
        self.give_notice(&session, "warning", "This conversation is not being saved", &description);
        self.connection.told_unsaved = Some(session);
    }

    /// Everything that waited has been written.
    pub(super) fn saved_again(&mut self) {
        self.connection.warned = false;
        if let Some(session) = self.connection.told_unsaved.take() {
            let description = "What was said meanwhile has been stored, as far as it was kept.";
            self.give_notice(&session, "info", "Conversations are being saved again", description);
        }
    }

    fn give_notice(&mut self, session: &Key, severity: &str, title: &str, description: &str) {
        if !self.connection.asked.admits("notice") {
            return;
        }
        let update =
            json!({ "sessionUpdate": "notice", "severity": severity, "title": title, "description": description });
        // One that is over meanwhile is shown nothing more.
        self.with(session, |live, cx| live.notify(&update.to_string(), cx));
    }

    /// Whether something could not be written and has not been since.
    pub(super) fn is_saving_put_off(&self) -> bool {
        self.connection.sessions.values().any(LiveSession::is_failing)
    }
}
