//! A layer in front of this one, or behind it, with a store of its own. Each is in step with other windows by its own store, so
//! what is said through both is told by both: the one in front says which store it has, the one behind tells with what was said
//! elsewhere through which store that was, and the one in front passes over what was said through its own.

use serde_json::json;

use super::Router;
use super::kept::Kept;
use crate::connection::handled::Handled;
use crate::connection::key::Key;
use crate::connection::params::OWN;
use crate::environment::Environment;
use crate::rpc::{self, Object};
use crate::sessions::open_marks;
use crate::storage::Storage;

/// The notification by which a layer tells the one behind it which store it has: `{"store": NAME}`.
pub(super) const STORE: &str = "_acp-sessions/store";

/// How much of a store's name stands with what is said through it, in characters.
const TOLD: usize = 8;

/// The beginning of a store's name.
fn beginning(store: &str) -> Option<&str> {
    store.get(..TOLD).filter(|name| name.bytes().all(|byte| byte.is_ascii_alphanumeric()))
}

impl<S: Storage, E: Environment> Router<S, E> {
    /// The agent has been introduced: where it is a layer, it is told which store this one has.
    pub(super) fn tell_store(&mut self) {
        let agent = &self.connection.agent;
        let store = agent.tells_store.as_ref().filter(|_| agent.is_layer);
        if let Some(store) = store {
            let params = json!({ "store": store }).to_string();
            self.send_agent(rpc::notification(STORE, &params));
        }
    }

    /// The client is a layer, and has said which store it has.
    pub(super) fn client_is_layer(&mut self, params: Option<&str>) -> Handled {
        let store = params.and_then(Object::parse).and_then(|params| params.get_string("store"));
        self.connection.clients_store = store.as_deref().and_then(beginning).map(str::to_owned);
        self.outputs.push_back(Kept::ClientsStore.with(self.connection.clients_store.clone()));
        Handled::Done
    }

    /// Whether the client is told by this layer, now or by a load, what a layer behind it tells of another window: it was said
    /// through this one's store, or others have the session open here, which are told it as well, and a load takes it over
    /// once.
    pub(super) fn is_told_here(&self, said: &SaidElsewhere, agent_id: &str) -> bool {
        let own = self.connection.agent.tells_store.as_deref().and_then(beginning);
        if own.is_none() || said.through.as_deref() == own {
            return true;
        }
        let Some(id) = self.connection.by_agent.get(agent_id).and_then(Key::id) else { return true };
        open_marks::is_open_elsewhere(&self.store, id, &self.connection.name, self.now()).unwrap_or(true)
    }
}

/// What a layer behind this one tells of another window.
#[derive(Debug)]
pub(super) struct SaidElsewhere {
    /// The beginning of the name of the store through which it was said, of a layer in front of that one.
    through: Option<String>,
}

impl SaidElsewhere {
    /// Reads the params of an update; none where they do not tell so.
    pub(super) fn read(params: &Object<'_>) -> Option<Self> {
        let meta = Object::parse(params.get("_meta")?)?;
        let mark = Object::parse(meta.get(OWN)?)?;
        (mark.get("elsewhere") == Some("true")).then(|| Self { through: mark.get_string("through") })
    }
}
