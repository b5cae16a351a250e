//! `_meta` of a `session/list`. The layer answers lists by itself; what a client says in there to the agent is said when
//! the agent's own list is read.

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::rpc::{Object, is_same};

/// Members that say where a request comes from, and ask for nothing (protocol v1, extensibility).
const TRACES: [&str; 3] = ["traceparent", "tracestate", "baggage"];

/// `_meta` for the agent, as JSON; none where there is nothing in it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct ListMeta(Option<String>);

impl ListMeta {
    /// Of a client's request, without what is the layer's.
    pub(super) fn read(meta: Option<&str>) -> Self {
        let is_some = |meta: &&str| Object::parse(meta).is_some_and(|meta| meta.iter().next().is_some());
        Self(meta.filter(is_some).map(str::to_owned))
    }

    /// Whether both ask for the same.
    pub(super) fn asks_as(&self, other: &Self) -> bool {
        is_same(&self.without_traces(), &other.without_traces())
    }

    /// How many bytes it has.
    pub(super) fn size(&self) -> usize {
        self.0.as_ref().map_or(0, String::len)
    }

    /// What it asks for, as JSON.
    fn without_traces(&self) -> String {
        without_traces(self.0.as_deref().unwrap_or("{}"))
    }

    /// The params for a page of the agent's list, or of its list of one folder, `archived` with this value.
    pub(super) fn params(&self, cursor: Option<&str>, archived: Option<&str>, folder: Option<&str>) -> String {
        let mut params = Object::default();
        if let Some(folder) = folder {
            params.set("cwd", json!(folder).to_string());
        }
        if let Some(cursor) = cursor {
            params.set("cursor", json!(cursor).to_string());
        }
        if let Some(archived) = archived {
            params.set("archived", json!(archived).to_string());
        }
        if let Some(meta) = &self.0 {
            params.set("_meta", meta.as_str());
        }
        params.to_json()
    }
}

/// What a `_meta` asks for, as JSON.
pub(super) fn without_traces(meta: &str) -> String {
    let mut asked = Object::parse_or_empty(meta);
    for name in TRACES {
        asked.remove(name);
    }
    asked.to_json()
}
