//! Which tool calls of a turn have begun and not ended.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::json;

/// How many are remembered; of more, the last.
const MOST: usize = 1000;

/// The tool calls of a turn that are still pending or in progress, in the order they began in.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OpenCalls(Vec<String>);

/// What an update says of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallChange {
    id: String,
    is_open: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallUpdate<'a> {
    #[serde(borrow)]
    session_update: Cow<'a, str>,
    tool_call_id: String,
    #[serde(borrow, default)]
    status: Option<Cow<'a, str>>,
}

impl CallChange {
    /// Reads the `update` member of a `session/update`; `None` where it changes no call's state.
    pub(super) fn of(update: &str) -> Option<Self> {
        // Most updates are something else, and some are long.
        if !update.contains("toolCallId") {
            return None;
        }
        let update: CallUpdate<'_> = serde_json::from_str(update).ok()?;
        let is_open = match (&*update.session_update, update.status.as_deref()) {
            ("tool_call", None) | ("tool_call" | "tool_call_update", Some("pending" | "in_progress")) => true,
            ("tool_call" | "tool_call_update", Some(_)) => false,
            _ => return None,
        };
        Some(Self { id: update.tool_call_id, is_open })
    }
}

impl OpenCalls {
    /// Takes in the `update` member of a `session/update`, whatever it is.
    pub fn feed(&mut self, update: &str) {
        if let Some(change) = CallChange::of(update) {
            self.change(change);
        }
    }

    pub(super) fn change(&mut self, CallChange { id, is_open }: CallChange) {
        let at = self.0.iter().position(|open| *open == id);
        match (at, is_open) {
            (None, true) => {
                if self.0.len() >= MOST {
                    self.0.remove(0);
                }
                self.0.push(id);
            }
            (Some(at), false) => {
                self.0.remove(at);
            }
            (Some(_), true) | (None, false) => {}
        }
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The ids of those that are open.
    pub fn ids(&self) -> &[String] {
        &self.0
    }

    /// The `update` members that end each of them as failed.
    pub fn failed(&self) -> Vec<String> {
        let failed = |id: &String| json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": "failed"});
        self.0.iter().map(|id| failed(id).to_string()).collect()
    }

    /// Whether this is such an update.
    pub(super) fn is_failed(update: &str) -> bool {
        CallChange::of(update).is_some_and(|call| Self(vec![call.id]).failed() == [update])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_open_from_their_beginning_to_their_last_state() {
        let mut calls = OpenCalls::default();
        for (kind, id, status, open) in [
            ("tool_call", "a", None, "a"),
            ("tool_call", "b", Some("in_progress"), "ab"),
            ("tool_call", "c", Some("completed"), "ab"),
            ("tool_call_update", "a", None, "ab"),
            ("tool_call_update", "a", Some("in_progress"), "ab"),
            ("tool_call_update", "d", Some("pending"), "abd"),
            ("tool_call_update", "a", Some("failed"), "bd"),
            ("tool_call_update", "b", Some("a later version's"), "d"),
            ("agent_message_chunk", "d", Some("completed"), "d"),
            ("tool_call_update", "d", Some("completed"), ""),
        ] {
            let mut update =
                json!({"sessionUpdate": kind, "toolCallId": id, "title": "t", "rawInput": {"status": "x"}});
            if let Some(status) = status {
                update["status"] = status.into();
            }
            calls.feed(&update.to_string());
            assert_eq!(calls.ids().concat(), open, "{update}");
            assert_eq!(calls.failed().len(), open.len());
        }
        assert!(calls.is_empty());
    }

    #[test]
    fn no_agent_makes_it_grow_without_end() {
        let mut calls = OpenCalls::default();
        for id in 0..MOST + 10 {
            calls.feed(&json!({"sessionUpdate": "tool_call", "toolCallId": id.to_string()}).to_string());
        }
        assert_eq!((calls.ids().len(), calls.ids()[0].as_str()), (MOST, "10"));
    }
}
