//! Which tool calls of a turn have begun and not ended.

use serde::{Deserialize, Serialize};

use super::call_update::{CallUpdate, failed};

/// How many are remembered; of more, the last.
const MOST: usize = 1000;

/// The tool calls of a turn that are still pending or in progress, in the order they began in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenCalls(Vec<String>);

/// What an update says of a tool call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CallChange {
    id: String,
    is_open: bool,
}

impl CallChange {
    /// Reads the `update` member of a `session/update`; `None` where it changes no call's state.
    pub(super) fn of(update: &str) -> Option<Self> {
        CallUpdate::read(update).as_ref().and_then(Self::by)
    }

    fn by(update: &CallUpdate) -> Option<Self> {
        let is_open = update.is_open.or(update.is_whole.then_some(true))?;
        Some(Self { id: update.id.clone(), is_open })
    }
}

impl OpenCalls {
    /// Takes in the `update` member of a `session/update`, whatever it is.
    pub fn feed(&mut self, update: &str) {
        if let Some(update) = CallUpdate::read(update) {
            self.take(&update);
        }
    }

    /// Takes in a call update that has been read already.
    pub fn take(&mut self, update: &CallUpdate) {
        if let Some(change) = CallChange::by(update) {
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
        self.0.iter().map(|id| failed(id)).collect()
    }

    /// Whether this is such an update.
    pub(super) fn is_failed(update: &str) -> bool {
        CallChange::of(update).is_some_and(|call| Self(vec![call.id]).failed() == [update])
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

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
