//! Agents that want their user to log in (protocol v1, `authenticate`, `logout`).

use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::Outcome;
use crate::storage::Storage;

impl<S: Storage, E: Environment> Engine<S, E> {
    /// The agent knows its user now, and may have more to list.
    pub(super) fn authenticated(&mut self, outcome: Outcome<'_>) {
        if let Outcome::Result(_) = outcome {
            self.connection.needs_login = false;
            self.begin_discovery();
            self.repeat_deletes();
        }
    }

    /// The agent knows its user no more.
    pub(super) fn logged_out(&mut self, outcome: Outcome<'_>) {
        if let Outcome::Result(_) = outcome {
            self.connection.needs_login = true;
            self.forget_discovery();
        }
    }
}
