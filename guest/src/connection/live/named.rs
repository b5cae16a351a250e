//! What the client knows of the title that a user has set: one that is set in another window is told within a second or so.

use serde_json::json;

use super::LiveSession;
use super::in_step::Named;
use crate::connection::cx::Cx;
use crate::environment::Environment;
use crate::storage::Storage;
use crate::store::{Session, Title};

impl LiveSession {
    /// Tells the client what the session is called.
    pub(super) fn tell_title<S: Storage, E: Environment>(&mut self, session: &Session, cx: &mut Cx<'_, S, E>) {
        self.note_known_title(&session.title);
        cx.tell_title(session);
    }

    /// A turn has ended: tells the client what the session has been called after a prompt, if it still is.
    pub(super) fn tell_name<S: Storage, E: Environment>(&mut self, title: &Title, cx: &mut Cx<'_, S, E>) {
        let name = self.name_to_tell.take().filter(|name| matches!(title, Title::Auto(title) if title == name));
        if let Some(name) = name {
            self.notify(&json!({ "sessionUpdate": "session_info_update", "title": name }).to_string(), cx);
        }
    }

    /// The client has set this title, or was told it, or could know it from a list.
    pub(in crate::connection) fn note_known_title(&mut self, title: &Title) {
        self.in_step.named = Named::of(title);
    }

    /// The session has changed: tells the client a title that a user has set elsewhere. What the client is being shown ends with
    /// the title anyway.
    pub(super) fn tell_new_name<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        if self.hides_updates() || self.is_catching_up() {
            return;
        }
        let session = match cx.store.session(self.key.id().unwrap_or_default()) {
            Ok(Some(session)) => session,
            Ok(None) => return,
            Err(error) => return self.put_off(&error, cx),
        };
        if self.in_step.named.lacks(&session.title) {
            self.tell_title(&session, cx);
        } else {
            self.note_known_title(&session.title);
        }
    }
}
