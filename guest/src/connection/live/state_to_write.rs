//! Writing what is state rather than history, so that windows on one session keep what each other's agents have told.

use serde::{Deserialize, Serialize};

use crate::checksum;
use crate::storage::{Expectation, Result, Storage, Write};
use crate::store::{State, Store, keys};

/// Tells a text from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StoredAs(u64);

impl StoredAs {
    pub(super) fn of(text: &str) -> Self {
        Self(checksum::hash(&[text]))
    }
}

/// What of a session's state is to be written.
#[derive(Debug)]
pub(super) struct StateToWrite {
    /// All of it, as far as this window knows; none where that was not read.
    whole: Option<String>,
    /// What has changed of it.
    changes: State,
    /// The name of the agent that it has changed with.
    agent: String,
    /// What it was stored as when this window last wrote or read it.
    stored: Option<StoredAs>,
    /// How long its text became in bytes, and what it was stored as, if there is no more than this window knows.
    written: Option<(usize, Option<StoredAs>)>,
}

impl StateToWrite {
    /// The whole of it, as far as that is known, what has changed of it and with which agent, and what it was last stored as.
    pub(super) fn new(whole: Option<String>, changes: State, agent: &str, stored: Option<StoredAs>) -> Self {
        Self { whole, changes, agent: agent.to_owned(), stored, written: None }
    }

    /// How long its text became in bytes, and what it was stored as, if there is no more than this window knows. None where
    /// nothing was written.
    pub(super) fn written(&self) -> Option<(usize, Option<StoredAs>)> {
        self.written
    }

    /// Adds it to the writes of a commit: where another window has written its own, only what has changed of it.
    pub(super) fn add<S: Storage>(
        &mut self,
        id: &str,
        store: &Store<S>,
        expected: &mut Vec<Expectation>,
        writes: &mut Vec<Write>,
    ) -> Result<()> {
        let key = keys::state(id);
        let stored = store.record(key.clone())?;
        let (text, is_whole) = self.over(stored.as_deref());
        self.written = Some((text.len(), is_whole.then(|| StoredAs::of(&text))));
        expected.push(Expectation { key: key.clone(), value: stored });
        writes.push(Write::Put { key, value: text });
        Ok(())
    }

    /// Its text over what is stored, and whether it is the whole state as this window knows it.
    fn over(&self, stored: Option<&str>) -> (String, bool) {
        let is_alone = stored.is_none_or(|stored| self.stored == Some(StoredAs::of(stored)));
        if let Some(whole) = self.whole.as_ref().filter(|_| is_alone) {
            return (whole.clone(), true);
        }
        // What cannot be read is lost.
        let earlier = stored.and_then(|stored| State::parse(stored).ok()).unwrap_or_default().with_agent(&self.agent);
        let mut state = self.changes.clone().over(earlier);
        state.bound();
        (state.to_text(), false)
    }
}
