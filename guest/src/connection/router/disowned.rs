//! Sessions of the agent's that are nobody's.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Sessions that the agent has made in vain, or that are over before the store took note of whose they are: what it says of
/// them is for nobody.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Disowned(VecDeque<String>);

/// How many of them are remembered; the agent was asked to let go of each.
const MOST_DISOWNED: usize = 256;

impl Disowned {
    pub(super) fn insert(&mut self, agent_id: String) {
        if self.0.len() >= MOST_DISOWNED {
            self.0.pop_front();
        }
        self.0.push_back(agent_id);
    }

    pub(super) fn contains(&self, agent_id: &str) -> bool {
        self.0.iter().any(|id| id == agent_id)
    }
}
