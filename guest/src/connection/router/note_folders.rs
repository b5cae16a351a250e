//! Noting of which repository the directories of sessions are. The host finds it out by the way: it is asked about several
//! side by side, again with each `idle` for a second, then a little later each time, and as either side leaves.

use crate::connection::router::Router;
use crate::connection::router::folder_notes::Waiting;
use crate::environment::Environment;
use crate::sessions::folders;
use crate::storage::Storage;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Asks about the directories that are due, and notes what is known.
    pub(super) fn note_folders(&mut self, now: i64) {
        let due = self.connection.folders.take_due(now);
        self.ask_about(due, now);
    }

    /// Asks about all directories, and notes what is known, whether or not it is time: the connection may be about to
    /// end.
    pub(super) fn note_last_folders(&mut self) {
        let last = self.connection.folders.take_last();
        if !last.is_empty() {
            self.ask_about(last, self.now());
        }
    }

    fn ask_about(&mut self, directories: Vec<Waiting>, now: i64) {
        for waiting in directories {
            match self.environment.repository(&waiting.cwd) {
                // What cannot be read or written now is noted with the next session there.
                Some(repository) => drop(folders::note(&self.store, &waiting.cwd, &repository)),
                None => self.connection.folders.wait_again(waiting, now),
            }
        }
    }
}
