//! Agents that want their user to log in (protocol v1, `authenticate`, `logout`).

use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::Outcome;
use crate::storage::Storage;

use super::kept::Kept;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Notes whether the agent wants its user to log in first.
    pub(super) fn set_needs_login(&mut self, needs_login: bool) {
        if std::mem::replace(&mut self.connection.needs_login, needs_login) != needs_login {
            let value = needs_login.then(|| "needed".to_owned());
            self.outputs.push_back(Kept::Login.with(value));
        }
    }

    /// The agent knows its user now, and may have more to list.
    pub(super) fn authenticated(&mut self, outcome: Outcome<'_>) {
        if let Outcome::Result(_) = outcome {
            self.set_needs_login(false);
            self.begin_discovery();
            self.repeat_deletes();
        }
    }

    /// The agent knows its user no more.
    pub(super) fn logged_out(&mut self, outcome: Outcome<'_>) {
        if let Outcome::Result(_) = outcome {
            self.set_needs_login(true);
            self.end_agents_subscription();
            self.forget_discovery();
        }
    }
}
