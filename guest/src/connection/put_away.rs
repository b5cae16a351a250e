//! What closing, deleting and archiving do to the store, once a session is open no more or never was.

use super::cx::Cx;
use super::effect::Effect;
use super::live::Then;
use crate::environment::Environment;
use crate::rpc::RpcError;
use crate::sessions::{archive, delete};
use crate::storage::Storage;

/// Does it; the result is the answer to the request.
pub(super) fn put_away<S: Storage, E: Environment>(
    session: &str,
    then: Then,
    cx: &mut Cx<'_, S, E>,
) -> Result<String, RpcError> {
    match then {
        Then::Nothing => {
            if cx.store.session(session)?.is_none() {
                return Err(RpcError::session_not_found(session));
            }
        }
        Then::Archive => {
            if !archive::set_archived(cx.store, session, true)? {
                return Err(RpcError::session_not_found(session));
            }
        }
        Then::Delete => {
            let deleted = delete::delete(cx.store, session, cx.now())?;
            cx.push(Effect::Deleted(deleted.iter().map(|deleted| deleted.id.clone()).collect()));
            let known = deleted.iter().filter_map(|deleted| deleted.agents.get(&cx.agent.name));
            let ids = known.flat_map(|known| known.ids().map(str::to_owned)).collect();
            cx.push(Effect::DeleteAtAgent(ids));
        }
    }
    Ok("{}".to_owned())
}
