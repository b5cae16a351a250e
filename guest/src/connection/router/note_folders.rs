//! Noting of which repository the directories of sessions are. The host finds it out by the way: it is asked, and asked again
//! a little later.

use crate::connection::router::Router;
use crate::connection::router::folder_notes::{FIRST, LAST, Waiting};
use crate::environment::Environment;
use crate::sessions::folders;
use crate::storage::Storage;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Asks about one of the directories that are due, and notes what is known.
    pub(super) fn note_folder(&mut self, now: i64) {
        let notes = &mut self.connection.folders;
        // One that is further off was put there by a clock that has been set back since.
        let is_due = |waiting: &Waiting| !(now + 1..=now + LAST).contains(&waiting.due);
        let Some(at) = notes.waiting.iter().position(is_due) else { return };
        let Some(Waiting { cwd, wait, .. }) = notes.waiting.remove(at) else { return };
        // What cannot be read or written now is noted with the next session there.
        if wait == FIRST && folders::is_noted(&self.store, &cwd).unwrap_or(true) {
            return;
        }
        match self.environment.repository(&cwd) {
            Some(repository) => drop(folders::note(&self.store, &cwd, &repository)),
            None if wait <= LAST => {
                self.connection.folders.waiting.push_back(Waiting { cwd, due: now + wait, wait: wait * 2 });
            }
            None => {}
        }
    }
}
