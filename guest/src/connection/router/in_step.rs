//! Windows that stay in step: once a second it is looked whether others have said anything in the sessions that are open here.

use std::collections::BTreeSet;

use crate::connection::key::Key;
use crate::connection::live::LiveSession;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::storage::{Result, Storage};

/// How long after a look the next one is, in milliseconds.
const LOOK_EVERY: i64 = 1000;

impl<S: Storage, E: Environment> Router<S, E> {
    /// Looks at the sessions that have changed since the last look, if it is time to. Where nothing has changed in the store
    /// that is one read.
    pub(super) fn keep_in_step(&mut self, now: i64) {
        // One that is longer is that of another time: the clock was set.
        let wait = self.connection.times.windows - now;
        if (1..=LOOK_EVERY).contains(&wait) || self.connection.sessions.is_empty() {
            return;
        }
        self.connection.times.windows = now + LOOK_EVERY;
        self.forget_over();
        let changed = self.changed_sessions().unwrap_or_else(|error| {
            self.not_recorded(&error.to_string());
            BTreeSet::new()
        });
        let is_followed = |key: &Key| self.connection.sessions.get(key).is_some_and(LiveSession::is_followed);
        let mut keys = self.session_keys();
        keys.retain(|key| is_followed(key) || key.id().is_some_and(|id| changed.contains(id)));
        for key in keys {
            let has_changed = key.id().is_some_and(|id| changed.contains(id));
            self.with(&key, |session, cx| session.keep_in_step(has_changed, cx));
        }
    }

    /// The sessions that have changed since the last look; all that are open where these are too many to tell.
    fn changed_sessions(&mut self) -> Result<BTreeSet<String>> {
        let revision = self.store.revision()?;
        let before = self.connection.times.revision;
        if before == Some(revision) {
            return Ok(BTreeSet::new());
        }
        let changed = match before.filter(|before| *before < revision) {
            Some(before) => self.store.changed_since(before)?,
            None => None,
        };
        self.connection.times.revision = Some(revision);
        let open = || self.connection.sessions.keys().filter_map(|key| key.id().map(str::to_owned)).collect();
        Ok(changed.unwrap_or_else(open))
    }
}
