//! What a transcript has of its session's sub-agents: an agent says again how they are, behind each answer to opening the session.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::entry::{Entry, UpdateKind};
use super::replay::{Replay, Start};
use crate::storage::{Result, Storage};
use crate::store::Session;

/// Of how many sub-agents that is remembered: what is said of others counts as new.
const MOST_SUBAGENTS: usize = 1024;

/// What was said last of each sub-agent, for each member of a `subagent_update` by itself.
#[derive(Debug, Default)]
pub struct SubagentStates(BTreeMap<String, Map<String, Value>>);

impl SubagentStates {
    /// As the transcript of this session has it.
    pub fn read<S: Storage>(storage: &S, session: &Session) -> Result<Self> {
        let mut states = Self::default();
        Replay::open(storage, session, Start::Beginning)?.each(storage, |_, text| {
            let entry = Entry::parse(text)
                .filter(|entry| entry.update_name().is_some_and(|name| UpdateKind::of(&name) == UpdateKind::Subagent));
            let params = entry.and_then(|entry| serde_json::from_str::<Value>(entry.json).ok());
            if let Some(update) = params.as_ref().and_then(|params| params["update"].as_object()) {
                states.take(update);
            }
        })?;
        Ok(states)
    }

    /// Whether this `update` of a sub-agent says nothing that was not said of it last. It is taken in.
    pub fn repeats(&mut self, update: &str) -> bool {
        let update = serde_json::from_str::<Map<String, Value>>(update);
        update.is_ok_and(|update| self.take(&update))
    }

    fn take(&mut self, update: &Map<String, Value>) -> bool {
        let Some(id) = update.get("sessionId").and_then(Value::as_str) else { return false };
        let is_known = self.0.contains_key(id);
        if !is_known && self.0.len() >= MOST_SUBAGENTS {
            return false;
        }
        let last = self.0.entry(id.to_owned()).or_default();
        let mut has_news = !is_known;
        for (name, value) in update {
            has_news |= last.get(name) != Some(value);
            last.insert(name.clone(), value.clone());
        }
        !has_news
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_again_is_told_from_what_is_new() {
        let mut states = SubagentStates::default();
        for (update, repeats) in [
            (r#"{"sessionUpdate":"subagent_update","sessionId":"a","title":"A"}"#, false),
            (
                r#"{"sessionUpdate":"subagent_update","sessionId":"a","state":{"state":"idle","stopReason":"end_turn"}}"#,
                false,
            ),
            (
                r#"{"sessionUpdate":"subagent_update","sessionId":"a","state":{"stopReason":"end_turn","state":"idle"}}"#,
                true,
            ),
            (r#"{"sessionUpdate":"subagent_update","sessionId":"a"}"#, true),
            (r#"{"sessionUpdate":"subagent_update","sessionId":"b"}"#, false),
            (r#"{"sessionUpdate":"subagent_update","sessionId":"a","title":"A","state":{"state":"running"}}"#, false),
            (
                r#"{"sessionUpdate":"subagent_update","sessionId":"a","state":{"stopReason":"end_turn","state":"idle"}}"#,
                false,
            ),
            (r#"{"sessionUpdate":"subagent_update","title":"A"}"#, false),
            (r#"{"sessionUpdate":"subagent_update","title":"A"}"#, false),
            ("[]", false),
        ] {
            assert_eq!(states.repeats(update), repeats, "{update}");
        }
        for number in 0..=MOST_SUBAGENTS {
            states.repeats(&format!(r#"{{"sessionUpdate":"subagent_update","sessionId":"{number}"}}"#));
        }
        assert_eq!(states.0.len(), MOST_SUBAGENTS);
    }
}
