//! What a transcript has of its session's sub-agents: an agent says again how they are, behind each answer to opening the session.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::entry::{Entry, UpdateKind};
use super::replay::{Replay, Start};
use crate::rpc::{Object, print_of};
use crate::storage::{Result, Storage};
use crate::store::{Segment, Session};

/// Of how many sub-agents that is remembered: what is said of others counts as new.
const MOST_SUBAGENTS: usize = 1024;

/// What was said last of each sub-agent, for each member of a `subagent_update` by itself.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct SubagentStates {
    /// Where the session's own log ended when it was read.
    read_up_to: u32,
    /// By the sub-agent's id and the member's name, what stands for its value.
    said: BTreeMap<String, BTreeMap<String, u64>>,
}

impl SubagentStates {
    /// As the transcript of this session has it, whose own log ends there.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    pub fn read<S: Storage>(storage: &S, session: &Session, log_end: u32) -> Result<Self> {
        let mut states = Self { read_up_to: log_end, ..Self::default() };
        states.take_all(storage, Replay::open(storage, session, Start::Beginning)?)?;
        Ok(states)
    }

    /// Takes in what was written to the session's own log since, up to there.
    ///
    /// # Errors
    ///
    /// If the storage cannot be read.
    pub fn read_on<S: Storage>(&mut self, storage: &S, log: &str, log_end: u32) -> Result<()> {
        let since = Segment { log: log.to_owned(), from: self.read_up_to + 1, until: log_end };
        self.take_all(storage, Replay::of_parts(&[since]))?;
        self.read_up_to = log_end;
        Ok(())
    }

    fn take_all<S: Storage>(&mut self, storage: &S, replay: Replay) -> Result<()> {
        replay.each(storage, |_, text| {
            let entry = Entry::parse(text)
                .filter(|entry| entry.update_name().is_some_and(|name| UpdateKind::of(&name) == UpdateKind::Subagent));
            if let Some(entry) = entry {
                self.take(&Object::parse_or_empty(entry.json).get_object("update"));
            }
        })?;
        Ok(())
    }

    /// Where the session's own log ended when it was read.
    pub fn read_up_to(&self) -> u32 {
        self.read_up_to
    }

    /// Whether this `update` of a sub-agent says nothing that was not said of it last. It is taken in.
    pub fn repeats(&mut self, update: &str) -> bool {
        self.take(&Object::parse_or_empty(update))
    }

    fn take(&mut self, update: &Object<'_>) -> bool {
        let Some(id) = update.get_string("sessionId") else { return false };
        let is_known = self.said.contains_key(&id);
        if !is_known && self.said.len() >= MOST_SUBAGENTS {
            return false;
        }
        let last = self.said.entry(id).or_default();
        let mut has_news = !is_known;
        for (name, value) in update.iter() {
            let value = print_of(value);
            has_news |= last.insert(name.to_owned(), value) != Some(value);
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
        assert_eq!(states.said.len(), MOST_SUBAGENTS);
    }
}
