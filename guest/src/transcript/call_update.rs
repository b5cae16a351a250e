//! What an update says of a tool call.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;
use serde_json::value::RawValue;

/// What an update says of a tool call, as far as it matters whether that goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallUpdate {
    pub(super) id: String,
    /// Whether it tells the call as a whole.
    pub(super) is_whole: bool,
    /// Whether the call is pending or in progress, where it says that.
    pub(super) is_open: Option<bool>,
    /// Whether it says what the call is given.
    pub(super) has_input: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallFields<'a> {
    #[serde(borrow)]
    session_update: Cow<'a, str>,
    tool_call_id: String,
    #[serde(borrow, default)]
    status: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    raw_input: Option<&'a RawValue>,
}

impl CallUpdate {
    /// Reads the `update` member of a `session/update`; `None` where it is about no tool call.
    pub fn read(update: &str) -> Option<Self> {
        // Most updates are something else, and some are long.
        if !update.contains("toolCallId") {
            return None;
        }
        let CallFields { session_update, tool_call_id: id, status, raw_input } = serde_json::from_str(update).ok()?;
        let is_whole = match &*session_update {
            "tool_call" => true,
            "tool_call_update" => false,
            _ => return None,
        };
        let is_open = status.map(|status| matches!(&*status, "pending" | "in_progress"));
        Some(Self { id, is_whole, is_open, has_input: raw_input.is_some_and(|input| says_something(input.get())) })
    }
}

/// Whether a member of a call (JSON) says something: agents give empty ones where they do not know yet.
pub(super) fn says_something(member: &str) -> bool {
    !matches!(member, "null" | "{}" | "[]" | "\"\"")
}

/// The `update` member that ends this call as failed.
pub(super) fn failed(id: &str) -> String {
    ended(id, "failed")
}

/// The `update` member that ends this call as completed.
pub(super) fn completed(id: &str) -> String {
    ended(id, "completed")
}

fn ended(id: &str, status: &str) -> String {
    json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status}).to_string()
}
