//! What the layer needs to know of the agent.

use std::hash::Hasher as _;

use serde::{Deserialize, Serialize};
use siphasher::sip::SipHasher13;

use crate::rpc::Object;

/// The agent's name and what it can do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a capability of its own")]
pub(super) struct AgentProfile {
    /// Its name: from `agentInfo`, else what the host calls it.
    pub(super) name: String,
    pub(super) load: bool,
    pub(super) resume: bool,
    pub(super) list: bool,
    /// Its list is that of the draft of list extensions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) list_extensions: Option<ListExtensions>,
    pub(super) fork: bool,
    pub(super) delete: bool,
    pub(super) close: bool,
    /// Unstable: `session/archive`, `session/unarchive`, and a list that leaves archived sessions out.
    pub(super) archive: bool,
    #[serde(default)]
    pub(super) title: bool,
    /// It is a layer such as this one, with a store of its own: what is said in other windows of its it hears by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(super) is_layer: bool,
    /// The name of this layer's store, which one behind it is told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tells_store: Option<String>,
    /// It is one over the very same store: it does all there is to do.
    #[serde(default)]
    pub(super) has_same_store: bool,
    /// A digest of all that it says it can do, to the client too.
    #[serde(default)]
    abilities: u64,
}

/// What an agent has of the draft of list extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ListExtensions {
    /// It tells those who subscribe what changes in its list.
    pub(super) tells_changes: bool,
}

impl ListExtensions {
    /// Reads `sessionCapabilities.list`; none where there is nothing of the draft in it.
    fn read(list: &Object<'_>) -> Option<Self> {
        let has = |name: &str| list.get_some(name).is_some_and(|marker| marker != "false");
        let tells_changes = has("subscribe");
        (tells_changes || has("limit") || has("changes")).then_some(Self { tells_changes })
    }
}

impl AgentProfile {
    /// Reads the result of `initialize`; `called` is the agent's name where it gives none, `store` says which store the
    /// layer has.
    pub(super) fn read(result: &Object<'_>, called: &str, store: Option<&str>) -> Self {
        let info = result.get_object("agentInfo");
        let capabilities = result.get_object("agentCapabilities");
        let session = capabilities.get_object("sessionCapabilities");
        // RFD 004 had them there.
        let of_old = capabilities.get_object("session");
        // A marker is an object; some agents of old say `true`.
        let has = |name: &str| {
            let marker = session.get_some(name).or_else(|| of_old.get_some(name));
            marker.is_some_and(|marker| marker != "false")
        };
        let list = session.get_object("list");
        let meta = capabilities.get_object("_meta");
        let layer = meta.get_object("acp-sessions");
        let their_store = layer.get_string("store");
        let has_same_store = their_store.is_some() && their_store.as_deref() == store;
        let is_layer = layer.get("version").is_some() && !has_same_store;
        Self {
            name: info.get_string("name").filter(|name| !name.is_empty()).unwrap_or_else(|| called.to_owned()),
            load: capabilities.get("loadSession") == Some("true"),
            resume: has("resume"),
            // The draft had it there, as `true` or as a marker.
            list: has("list") || capabilities.get_some("listSessions").is_some_and(|marker| marker != "false"),
            list_extensions: ListExtensions::read(&list),
            fork: has("fork"),
            delete: has("delete"),
            close: has("close"),
            archive: has("archive"),
            title: has("title"),
            abilities: digest(result),
            is_layer,
            tells_store: store.filter(|_| is_layer).map(str::to_owned),
            has_same_store,
        }
    }

    /// Whether it can go on with a session of its own.
    pub(super) fn reopens(&self) -> bool {
        self.load || self.resume
    }
}

/// The same number for the same abilities, in every runtime: what `Hash` does with lengths depends on the width of a pointer.
fn digest(result: &Object<'_>) -> u64 {
    let mut hasher = SipHasher13::new();
    for member in ["agentCapabilities", "authMethods"] {
        let value = result.get(member);
        hasher.write_u8(u8::from(value.is_some()));
        hasher.write(value.unwrap_or_default().as_bytes());
        // No JSON has it.
        hasher.write_u8(0);
    }
    hasher.finish()
}
