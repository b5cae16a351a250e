//! Forks in the agent's list whose parents the layer does not know yet: a later row may be one of these, or a change that the
//! agent tells. They are in memory only. Whoever starts anew reads the list anew, and all of them are told again.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use crate::sessions::discovered::ForkOf;

/// Of how many bytes of ids forks wait. What is past that is left to the next reading of the list.
const MOST_WAITING: usize = 1024 * 1024;

/// Those that wait, by their parents.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct WaitingForks {
    by_parent: BTreeMap<String, BTreeSet<String>>,
    size: usize,
}

impl WaitingForks {
    /// Waits for the parent of this one.
    pub(super) fn wait(&mut self, fork: ForkOf) {
        let size = size(&fork);
        if self.size + size <= MOST_WAITING && self.by_parent.entry(fork.parent).or_default().insert(fork.agent_id) {
            self.size += size;
        }
    }

    /// The session that the agent has by this id is known: those that were forked from it wait no more.
    pub(super) fn come(&mut self, parent: &str) -> Vec<ForkOf> {
        let forks = self.by_parent.remove(parent).unwrap_or_default();
        let forks: Vec<_> = forks.into_iter().map(|agent_id| ForkOf { agent_id, parent: parent.to_owned() }).collect();
        self.size = self.size.saturating_sub(forks.iter().map(size).sum());
        forks
    }
}

fn size(fork: &ForkOf) -> usize {
    fork.parent.len() + fork.agent_id.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fork(agent_id: &str, parent: &str) -> ForkOf {
        ForkOf { agent_id: agent_id.to_owned(), parent: parent.to_owned() }
    }

    #[test]
    fn forks_wait_for_their_own_parent_and_once() {
        let mut forks = WaitingForks::default();
        for (agent_id, parent) in [("f1", "p1"), ("f2", "p1"), ("f3", "p2"), ("f1", "p1")] {
            forks.wait(fork(agent_id, parent));
        }
        assert_eq!(forks.come("nobody's"), []);
        assert_eq!(forks.come("p1"), [fork("f1", "p1"), fork("f2", "p1")]);
        assert_eq!(forks.come("p1"), []);
        assert_eq!(forks.come("p2"), [fork("f3", "p2")]);
        assert_eq!(forks.size, 0);
    }

    #[test]
    fn no_more_forks_wait_than_there_is_room_for() {
        let mut forks = WaitingForks::default();
        let long = "x".repeat(MOST_WAITING / 4);
        for parent in ["p1", "p2", "p3", "p4"] {
            forks.wait(fork(&long, parent));
        }
        assert!(forks.size <= MOST_WAITING);
        assert_eq!(["p1", "p2", "p3", "p4"].map(|parent| forks.come(parent).len()), [1, 1, 1, 0]);
    }
}
