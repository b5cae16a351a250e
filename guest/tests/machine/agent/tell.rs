//! What the agent tells whoever has subscribed to its list (draft: session list extensions).

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::Agent;
use crate::ground::Ground;
use crate::kind::Trait;

/// The name of the subscription, and the rows that its subscriber knows.
#[derive(Debug)]
pub(super) struct Told {
    name: String,
    rows: BTreeMap<String, Value>,
}

impl Agent {
    /// Begins a subscription, in the place of the one before it; returns its name.
    pub(super) fn begin_telling(&mut self, ground: &mut Ground) -> String {
        let name = format!("list {}", ground.talk.next_moment());
        self.told = Some(Told { name: name.clone(), rows: self.rows(ground) });
        name
    }

    /// The line that tells what has changed since the last one, if anything has.
    pub(super) fn tell_changes(&mut self, ground: &mut Ground) -> Vec<String> {
        let rows = self.rows(ground);
        let Some(told) = &mut self.told else { return Vec::new() };
        let before = std::mem::replace(&mut told.rows, rows);
        let changed: Vec<&Value> =
            told.rows.iter().filter(|(id, row)| before.get(*id) != Some(*row)).map(|(_, row)| row).collect();
        let removed: Vec<&String> = before.keys().filter(|id| !told.rows.contains_key(*id)).collect();
        if changed.is_empty() && removed.is_empty() {
            return Vec::new();
        }
        let params = json!({"subscriptionId": told.name, "sessions": changed, "removed": removed});
        let line = json!({"jsonrpc": "2.0", "method": "session/list/changes", "params": params}).to_string();
        self.deny_what_is_gone(ground);
        vec![line]
    }

    fn rows(&mut self, ground: &mut Ground) -> BTreeMap<String, Value> {
        let archives = self.kind.is(Trait::Archive);
        let sessions = &self.disk(ground).sessions;
        sessions.iter().map(|(id, kept)| (id.clone(), kept.row(id, archives))).collect()
    }
}
