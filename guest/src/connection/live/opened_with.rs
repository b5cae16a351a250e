//! What a session is open with besides its conversation: MCP servers, further directories, `_meta`.

use serde::{Deserialize, Serialize};

use crate::connection::list_meta::without_traces;
use crate::rpc::{Object, is_same};

pub(super) const DIRECTORIES: &str = "additionalDirectories";

/// Whether an agent has a session open with what its client has given last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum OpenedWith {
    #[default]
    Given,
    /// The agent could not be asked when its client gave that, or it is not known what came of it: it is asked when the session
    /// is next used.
    Other,
    /// The agent has it open as before: it has no way to open it again, or has refused to for this reason. What its client has
    /// given holds when the agent next opens it.
    Before(Option<String>),
}

impl OpenedWith {
    pub(super) fn is_given(&self) -> bool {
        *self == Self::Given
    }
}

/// The further directories in the params that a session is opened with.
pub(super) fn directories(params: &str) -> Vec<String> {
    let params = Object::parse_or_empty(params);
    params.get_some(DIRECTORIES).and_then(|json| serde_json::from_str(json).ok()).unwrap_or_default()
}

/// Whether such params are for the same, wherever the session is to be.
pub(super) fn are_for_the_same(one: &str, other: &str) -> bool {
    is_same(&asked_for(one), &asked_for(other))
}

/// What such params ask for, as JSON. Nothing is as good as an empty list; where the request comes from asks for nothing.
fn asked_for(params: &str) -> String {
    let mut asked = Object::parse_or_empty(params);
    asked.remove("cwd");
    let meta = without_traces(asked.get("_meta").unwrap_or("{}"));
    asked.set("_meta", meta);
    for list in ["mcpServers", DIRECTORIES] {
        let listed = asked.get_some(list).unwrap_or("[]").to_owned();
        asked.set(list, listed);
    }
    asked.to_json()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn params_ask_for_the_same_however_they_are_written() {
        let plain = r#"{"cwd":"/w","mcpServers":[]}"#;
        let traced = r#"{"_meta":{"traceparent":"00-1"},"cwd":"/w"}"#;
        for same in ["{}", r#"{"cwd":"/x","additionalDirectories":null}"#, r#"{"_meta":{}}"#, traced] {
            assert!(are_for_the_same(plain, same), "{same}");
        }
        for other in
            [r#"{"mcpServers":[{}]}"#, r#"{"additionalDirectories":["/f"]}"#, r#"{"_meta":{"x":1}}"#, r#"{"x":1}"#]
        {
            assert!(!are_for_the_same(plain, other), "{other}");
        }
    }
}
