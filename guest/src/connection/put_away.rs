//! What closing, deleting and archiving do to the store, once a session is open no more or never was.

use super::client_request::ClientRequest;
use super::cx::Cx;
use super::effect::Effect;
use super::params::Rest;
use crate::environment::Environment;
use crate::rpc::RpcError;
use crate::sessions::{archive, delete};
use crate::storage::Storage;
use crate::store::Known;

/// What follows once the session is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Then {
    Nothing,
    Delete,
    Archive,
}

/// What a client asks for.
#[derive(Debug)]
pub(super) struct PutAway {
    pub(super) request: ClientRequest,
    pub(super) then: Then,
    /// What else it says to the agent.
    pub(super) rest: Rest,
}

/// Does it; the result is the answer to the request. `open_as`: the agent had it open by this id.
pub(super) fn put_away<S: Storage, E: Environment>(
    session: &str,
    open_as: Option<&str>,
    away: &PutAway,
    cx: &mut Cx<'_, S, E>,
) -> Result<String, RpcError> {
    match away.then {
        Then::Nothing => {
            if cx.store.session(session)?.is_none() {
                return Err(RpcError::session_not_found(session));
            }
        }
        Then::Archive => {
            if !archive::set_archived(cx.store, session, true)? {
                return Err(RpcError::session_not_found(session));
            }
            cx.push(Effect::ArchiveAtAgent { session: session.to_owned(), rest: away.rest.clone() });
        }
        Then::Delete => {
            let deleted = delete::delete(cx.store, session, cx.now())?;
            cx.push(Effect::Deleted(deleted.iter().map(|deleted| deleted.id.clone()).collect()));
            let known = deleted.iter().filter_map(|deleted| deleted.agents.get(&cx.agent.name));
            let ids: Vec<&str> = known.flat_map(Known::ids).collect();
            let mut ids = delete::unconfirmed(cx.store, &cx.agent.name, &ids)?;
            // The agent that had it open has it by this id, though another of its name has handed that out again.
            ids.extend(
                open_as.filter(|open| !deleted.is_empty() && ids.iter().all(|id| id != open)).map(str::to_owned),
            );
            // What nothing is here of, or no more, the agent may have, and list again.
            if deleted.is_empty() && delete::unknown(cx.store, &cx.agent.name, session, cx.now())? {
                ids.push(session.to_owned());
            }
            cx.push(Effect::DeleteAtAgent { ids, rest: away.rest.clone() });
        }
    }
    Ok("{}".to_owned())
}
