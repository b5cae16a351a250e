//! What the agent says of a session before it has named it.

use std::collections::{BTreeSet, VecDeque};

use serde::{Deserialize, Serialize};

/// Updates for sessions that the agent has made but not named yet.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Early {
    #[serde(skip)]
    pub(super) lines: VecDeque<String>,
    #[serde(skip)]
    pub(super) bytes: usize,
    /// The agent's ids of sessions of which more was told than may wait; the first few.
    pub(super) overflowed: BTreeSet<String>,
}

/// How many of these are remembered.
const MOST_OVERFLOWED: usize = 16;

impl Early {
    pub(super) fn push(&mut self, line: String) {
        self.bytes += line.len();
        self.lines.push_back(line);
    }

    pub(super) fn take_lines(&mut self) -> VecDeque<String> {
        self.bytes = 0;
        std::mem::take(&mut self.lines)
    }

    pub(super) fn overflow(&mut self, agent_id: &str) {
        if self.overflowed.len() < MOST_OVERFLOWED {
            self.overflowed.insert(agent_id.to_owned());
        }
    }
}
