//! A session that somebody has forgotten though it is open here.
//!
//! It was one of which only an agent knew, and that agent's list lacks it now; see [`crate::sessions::vanish`]. Who read that
//! list saw no open mark that could be believed: the store has not taken it, or the clock was set. What is said here has
//! to be found all the same.

use std::sync::Arc;

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
            Ok(Decision::put(self.forgotten().record(id, &cx.agent.name, cx.now(), writes)))
        })?;
        if let Changed::Done { .. } = changed {
            // Its state went with its record.
            self.state_changed(cx);
        }
        Ok(())
    }

    /// What its record is made anew of.
    pub(super) fn forgotten(&self) -> Forgotten {
        Forgotten { given: self.given.clone(), agent_id: self.agent_id.clone() }
    }
}

/// What is known here of a session whose record is gone.
pub(super) struct Forgotten {
    given: Option<Arc<str>>,
    agent_id: Arc<str>,
}

impl Forgotten {
    /// Its record, and what is to be written beside it; `now`: milliseconds since 1970.
    pub(super) fn record(&self, id: &str, agent: &str, now: i64, writes: &mut Vec<Write>) -> Session {
        let given = Object::parse_or_empty(self.given.as_deref().unwrap_or("{}"));
        // Where it was is not known of one that an agent has begun by itself.
        let directory = given.get_string("cwd").unwrap_or_else(|| "/".to_owned());
        let mut session = Session::new(id.to_owned(), directory, now);
        session.origin = Origin::Agent;
        if !self.agent_id.is_empty() {
            let key = keys::agent_session(agent, &self.agent_id);
            writes.push(Write::Put { key, value: id.to_owned() });
            session.give_to(agent, &self.agent_id, 0);
        }
        session
    }
}
