//! `_meta` of a `session/list`. The layer answers lists by itself; what a client says in there to the agent is said when
//! the agent's own list is read.

use serde_json::{Map, Value};

use crate::rpc::Object;

/// Members that say where a request comes from, and ask for nothing (protocol v1, extensibility).
const TRACES: [&str; 3] = ["traceparent", "tracestate", "baggage"];

/// `_meta` for the agent, as JSON; none where there is nothing in it.
#[derive(Debug, Clone, Default)]
pub(super) struct ListMeta(Option<String>);

impl ListMeta {
    /// Of a client's request, without what is the layer's.
    pub(super) fn read(meta: Option<&str>) -> Self {
        let is_some = |meta: &&str| Object::parse(meta).is_some_and(|meta| meta.iter().next().is_some());
        Self(meta.filter(is_some).map(str::to_owned))
    }

    /// Whether both ask for the same.
    pub(super) fn asks_as(&self, other: &Self) -> bool {
        self.wishes() == other.wishes()
    }

    /// How many bytes it has.
    pub(super) fn size(&self) -> usize {
        self.0.as_ref().map_or(0, String::len)
    }

    /// What it asks for.
    fn wishes(&self) -> Map<String, Value> {
        let meta = self.0.as_deref().and_then(|json| serde_json::from_str(json).ok());
        let mut wishes: Map<String, Value> = meta.unwrap_or_default();
        wishes.retain(|name, _| !TRACES.contains(&name.as_str()));
        wishes
    }

    /// The params for a page of the agent's list, `archived` with this value.
    pub(super) fn params(&self, cursor: Option<&str>, archived: Option<&str>) -> String {
        let mut params = Object::default();
        if let Some(cursor) = cursor {
            params.set("cursor", Value::from(cursor).to_string());
        }
        if let Some(archived) = archived {
            params.set("archived", Value::from(archived).to_string());
        }
        if let Some(meta) = &self.0 {
            params.set("_meta", meta.as_str());
        }
        params.to_json()
    }
}
