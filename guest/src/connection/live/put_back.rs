//! A session that somebody has forgotten though it is open here.
//!
//! It was one of which only an agent knew, and that agent's list lacks it now; see [`crate::sessions::vanish`]. Who read that
//! list saw no open mark that could be believed: the store has not taken it, or the clock was set. What is said here has
//! to be found all the same.

use super::LiveSession;
use crate::connection::cx::Cx;
use crate::environment::Environment;
use crate::rpc::Object;
use crate::storage::{Storage, StorageError, Write};
use crate::store::{Changed, Decision, Origin, Session, keys};

impl LiveSession {
    /// Makes sure that it has a record before something is written of it.
    pub(super) fn put_back<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) -> Result<(), StorageError> {
        let Some(id) = self.key.id() else { return Ok(()) };
        if cx.store.record(keys::session(id))?.is_some() {
            return Ok(());
        }
        let changed = cx.store.change(id).commit(|before, _, writes| {
            if before.is_some() || cx.store.is_deleted(id)? {
                return Ok(Decision::Keep);
            }
            if !self.agent_id.is_empty() {
                let key = keys::agent_session(&cx.agent.name, &self.agent_id);
                writes.push(Write::Put { key, value: id.to_owned() });
            }
            Ok(Decision::put(self.record_anew(id, cx)))
        })?;
        if let Changed::Done { .. } = changed {
            // Its state went with its record.
            self.state_changed(cx);
        }
        Ok(())
    }

    /// Its record by what is known of it here.
    fn record_anew<S: Storage, E: Environment>(&self, id: &str, cx: &Cx<'_, S, E>) -> Session {
        let given = Object::parse_or_empty(self.given.as_deref().unwrap_or("{}"));
        // Where it was is not known of one that an agent has begun by itself.
        let directory = given.get_string("cwd").unwrap_or_else(|| "/".to_owned());
        let mut session = Session::new(id.to_owned(), directory, cx.now());
        session.origin = Origin::Agent;
        if !self.agent_id.is_empty() {
            session.give_to(&cx.agent.name, &self.agent_id, 0);
        }
        session
    }
}
