//! Deleted stays deleted.

use acp_sessions_guest::storage::Memory;
use acp_sessions_guest::store::Store;

use serde_json::Value;

use crate::ground::Broke;
use crate::talk::{Life, Talk};

/// What was deleted has no record, and is not in this list.
pub(crate) fn deleted(talk: &Talk, memory: &Memory, rows: &[Value]) -> Vec<Broke> {
    let store = Store::new(memory);
    let is_listed = |id: &str| rows.iter().any(|row| row["sessionId"] == id);
    let gone = talk.sessions.iter().filter(|(_, session)| session.life == Life::Gone).map(|(id, _)| id);
    let back = gone.filter(|id| is_listed(id) || !matches!(store.session(id), Ok(None)));
    back.map(|id| Broke::new("deleted", format!("`{id}` was deleted and is back"))).collect()
}
