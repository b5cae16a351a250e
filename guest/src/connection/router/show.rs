//! Serving histories: a little at each `pull`, as far as the client has room, one session after the other.

use crate::connection::live::{LiveSession, Piece};
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::storage::Storage;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Sends of the histories under way about as much as there is room for.
    pub(crate) fn show_histories(&mut self, client_room: u32) {
        self.mark_shown();
        let mut room = (client_room as usize).saturating_sub(self.answered);
        while room > 0
            && let Some(key) = self.connection.showing.pop_front()
        {
            let shown = self.with(&key, |session, cx| {
                let is_first = session.is_history_to_begin();
                (is_first, session.show_some(room, cx))
            });
            let Some((is_first, piece)) = shown else { continue };
            if let Piece::More(sent) = piece {
                room = room.saturating_sub(sent);
                if !self.connection.showing.contains(&key) {
                    self.connection.showing.push_back(key.clone());
                }
            }
            // What comes next may write to the store: a first piece does not wait for that.
            if is_first && !self.outputs.is_empty() {
                self.connection.to_mark = Some(key);
                break;
            }
        }
    }

    /// Whether there is a history that goes on when there is room, or one to be marked.
    pub(super) fn has_histories(&self) -> bool {
        !self.connection.showing.is_empty() || self.connection.to_mark.is_some()
    }

    /// Marks a session as open whose history is on its way.
    pub(super) fn mark_shown(&mut self) {
        if let Some(key) = self.connection.to_mark.take() {
            self.with(&key, LiveSession::mark);
        }
    }
}
