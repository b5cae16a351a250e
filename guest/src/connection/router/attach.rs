//! Attaching a session that is open to an agent that was started again, when it is next used.

use crate::connection::client_request::ClientRequest;
use crate::connection::key::Key;
use crate::connection::live::{LiveSession, OpenRequest, Wanted, given_where};
use crate::connection::method::Method;
use crate::connection::router::Router;
use crate::environment::Environment;
use crate::rpc::{Object, RpcError};
use crate::storage::Storage;
use crate::store::Session;

impl<S: Storage, E: Environment> Router<S, E> {
    /// The session whose being attached a message of the client's has to wait for, if it does.
    pub(super) fn attach_for(&mut self, method: Method, params: Option<&str>) -> Result<Option<Key>, RpcError> {
        let named = || Object::parse(params?)?.get_string("sessionId");
        let Some(id) = named().filter(|_| method.needs_open_session()) else { return Ok(None) };
        let key = Key::Session(id);
        let is_to_be_opened = |session: &&LiveSession| session.is_detached() || session.owes_opening();
        let open = self.connection.sessions.get(&key).filter(is_to_be_opened);
        let Some((given, follows)) = open.and_then(|open| Some((open.given()?.clone(), open.follows_record()))) else {
            // It is there only for what waits to be written: what it was opened with is not known.
            return if open.is_some() {
                Err(RpcError::session_not_open(key.id().unwrap_or_default()))
            } else {
                Ok(None)
            };
        };
        let is_detached = open.is_some_and(LiveSession::is_detached);
        // What was said elsewhere is shown as it was said, before the agent tells it in its own way.
        if self.with(&key, LiveSession::comes_into_step).unwrap_or(false) {
            return Ok(Some(key));
        }
        let rest = |session: &Session| if follows { given_where(session, &given) } else { given.to_string() };
        if is_detached {
            self.attach(&key, None, Wanted::Nothing, rest)?;
        } else {
            self.open_as_given(&key, rest)?;
        }
        // Nothing may wait for what is not under way.
        let is_under_way = self.connection.sessions.get(&key).is_some_and(LiveSession::is_opening);
        Ok(is_under_way.then_some(key))
    }

    /// Has the agent open such a session; `rest` makes what it is asked with, but for the session's id.
    pub(super) fn attach(
        &mut self,
        key: &Key,
        request: Option<&ClientRequest>,
        wanted: Wanted,
        rest: impl FnOnce(&Session) -> String,
    ) -> Result<(), RpcError> {
        // What was said is in the log before that is compared with what the agent tells, where the store takes it.
        let is_written = self.with(key, |session, cx| session.write_if_due(cx, true)).unwrap_or(true);
        let mut session = self.still_stored(key)?;
        // What only the agent has is not shown without it, and would be there twice by what it tells.
        let tells = request.is_none() || wanted.is_history();
        if !is_written && tells && self.is_only_with_agent(&session) {
            self.with(key, |session, cx| session.write(cx, true)).unwrap_or(Ok(()))?;
            session = self.still_stored(key)?;
        }
        // What came of it before is none of what is asked for now.
        if let Some(agent_id) = session.id_at(&self.connection.agent.name).map(str::to_owned) {
            self.settle_early(&agent_id);
        }
        let asked = OpenRequest { request: request.cloned(), rest: rest(&session), wanted };
        self.with(key, |live, cx| live.attach(session, asked, cx)).unwrap_or(Ok(()))
    }

    /// Has the agent open a session that it has open with what its client has given since; `rest` makes what it is asked with, but
    /// for the session's id.
    fn open_as_given(&mut self, key: &Key, rest: impl FnOnce(&Session) -> String) -> Result<(), RpcError> {
        if !self.with(key, LiveSession::write_if_possible).unwrap_or(Ok(true))? {
            // Until that is written it goes on as the agent has it.
            return Ok(());
        }
        let session = self.still_stored(key)?;
        let asked = OpenRequest { request: None, rest: rest(&session), wanted: Wanted::Nothing };
        self.with(key, |live, cx| live.open_otherwise(asked, cx)).unwrap_or(Ok(()))
    }

    /// The record of a session that is open; where somebody else has deleted it, it is open no more.
    fn still_stored(&mut self, key: &Key) -> Result<Session, RpcError> {
        let id = key.id().unwrap_or_default();
        let Some(session) = self.store.session(id)? else {
            self.with(key, LiveSession::deleted);
            return Err(RpcError::session_deleted(id));
        };
        Ok(session)
    }
}
