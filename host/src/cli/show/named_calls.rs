//! What a tool call is called at last. Some agents first tell a call by the name of its tool, and in an update what it does with it.

use std::collections::{HashMap, VecDeque};

use crate::cli::update::Update;

/// Updates that were read and are not shown yet, in their order.
#[derive(Debug, Default)]
pub(super) struct NamedCalls {
    ahead: VecDeque<Option<Update>>,
    /// How many came before these.
    shown: usize,
    /// The place of the last call by each id, of those that are not shown yet.
    calls: HashMap<String, usize>,
}

impl NamedCalls {
    /// Takes in an update that was read; none is one that cannot be read.
    pub(super) fn push(&mut self, update: Option<Update>) {
        if let Some(update) = &update
            && let Some(call) = &update.call
        {
            match update.kind.as_deref() {
                Some("tool_call") => drop(self.calls.insert(call.clone(), self.shown + self.ahead.len())),
                Some("tool_call_update") => self.rename(call, update.title.as_ref()),
                _ => {}
            }
        }
        self.ahead.push_back(update);
    }

    /// The first that are to be shown, but for as many as are kept. None is one that cannot be read.
    pub(super) fn take_but(&mut self, kept: usize) -> impl Iterator<Item = Option<Update>> {
        let count = self.ahead.len().saturating_sub(kept);
        self.shown += count;
        self.calls.retain(|_, place| *place >= self.shown);
        self.ahead.drain(..count)
    }

    fn rename(&mut self, call: &str, title: Option<&String>) {
        let place = self.calls.get(call).and_then(|place| place.checked_sub(self.shown));
        let told = place.and_then(|place| self.ahead.get_mut(place)).and_then(Option::as_mut);
        if let (Some(told), Some(title)) = (told, title.filter(|title| !title.is_empty())) {
            told.title = Some(title.clone());
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn call(id: &str, title: &str) -> Value {
        json!({ "sessionUpdate": "tool_call", "toolCallId": id, "title": title })
    }

    fn later(id: &str, title: &Value) -> Value {
        json!({ "sessionUpdate": "tool_call_update", "toolCallId": id, "title": title })
    }

    #[test]
    fn a_call_is_called_as_it_was_told_last_before_it_is_shown() {
        let mut calls = NamedCalls::default();
        let mut shown = Vec::new();
        let mut take = |calls: &mut NamedCalls| {
            let told = calls.take_but(0).flatten();
            shown.extend(told.filter(|update| update.kind.as_deref() == Some("tool_call")));
        };
        let (null, empty) = (Value::Null, json!(""));
        for update in [call("1", "Terminal"), later("1", &json!("ls")), later("1", &null), later("1", &empty)] {
            calls.push(Update::read(&update.to_string()));
        }
        assert_eq!(calls.take_but(4).count(), 0, "as many are kept");
        take(&mut calls);
        calls.push(None);
        // An id that is given again is another call's.
        let (second, first) = (later("2", &json!("Edit a.rs")), later("1", &json!("Read a.rs")));
        for update in [call("1", "Read"), call("2", "Edit"), second, first] {
            calls.push(Update::read(&update.to_string()));
        }
        take(&mut calls);
        // What has been shown stays.
        calls.push(Update::read(&later("1", &json!("Too late")).to_string()));
        take(&mut calls);
        let titles: Vec<&str> = shown.iter().filter_map(|update| update.title.as_deref()).collect();
        assert_eq!(titles, ["ls", "Read a.rs", "Edit a.rs"]);
    }
}
