//! Deleted stays deleted.

use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::{Store, keys};

use serde_json::Value;

use super::gaps::is_given_again;
use crate::ground::{Broke, Ground};
use crate::kind::{Kind, Trait};
use crate::talk::{Life, Talk};

/// What was deleted has no record, and is not in this list.
pub(crate) fn deleted(talk: &Talk, memory: &Memory, rows: &[Value]) -> Vec<Broke> {
    let store = Store::new(memory);
    let is_listed = |id: &str| rows.iter().any(|row| row["sessionId"] == id);
    let gone = talk.sessions.iter().filter(|(_, session)| session.life == Life::Gone).map(|(id, _)| id);
    let back = gone.filter(|id| is_listed(id) || !matches!(store.session(id), Ok(None)));
    back.map(|id| Broke::new("deleted", format!("`{id}` was deleted and is back"))).collect()
}

/// What was deleted here is deleted at an agent that can, too, sooner or later.
pub(crate) fn agents_deleted(ground: &mut Ground, memory: &Memory, kind: Kind) -> Vec<Broke> {
    let Some(name) = kind.name().filter(|_| kind.is(Trait::Delete) && !kind.forgets()) else { return Vec::new() };
    let store = Store::new(memory);
    let layers: Vec<(String, String)> =
        ground.disk(kind).sessions.iter().filter_map(|(id, kept)| Some((id.clone(), kept.layers.clone()?))).collect();
    let gone = |id: &String| ground.talk.sessions.get(id).is_some_and(|session| session.life == Life::Gone);
    let is_others = |own: &str, id: &str| is_given_again(&ground.talk, &store, name, own, id);
    let left = layers.iter().filter(|(own, layers)| gone(layers) && !ground.talk.deleted_elsewhere.contains(own));
    let left = left.filter(|(own, layers)| !is_others(own, layers));
    // One that the agent began in the place of its own while the store took nothing is not known to be that one's: another
    // window that reads the agent's list meanwhile takes it for one more of the agent's own, which stays (685101). Where its
    // program is killed before, nothing tells of it (1975944).
    let is_unknown = |own: &str, id: &str| {
        let read = [keys::agent_session(name, own), keys::agent_tombstone(name, own)];
        let [holder, tombstone] = read.map(|key| store.record(key).ok().flatten());
        let is_its_own = holder.as_deref() == Some(own) || holder.is_none() && tombstone.is_none();
        ground.talk.had_faults && own != id && is_its_own
    };
    let left = left.filter(|(own, layers)| !is_unknown(own, layers));
    left.map(|(own, id)| Broke::new("undeleted", format!("`{id}` was deleted, its agent keeps it as `{own}`")))
        .collect()
}
