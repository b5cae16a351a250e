//! What an agent has kept of a session, and what it tells of that.

use std::collections::BTreeSet;

use acp_sessions_guest::time;
use serde_json::Value;

use super::habit::Habit;
use crate::scenes::row;

/// What an agent has kept.
#[derive(Debug, Default)]
pub(super) struct Kept {
    pub(super) items: Vec<(Option<usize>, Value)>,
    /// What is kept no more.
    pub(super) dropped: BTreeSet<usize>,
}

impl Kept {
    pub(super) fn add(&mut self, behind: Option<usize>, mut told: Value, habit: Habit) -> usize {
        if habit.has_ids {
            told["messageId"] = format!("m{}", self.items.len()).into();
        }
        self.items.push((behind, told));
        self.items.len() - 1
    }

    pub(super) fn told(&self, habit: Habit) -> Vec<Value> {
        let is_kept = |at: &usize| !self.dropped.contains(at);
        let all = 0..self.items.len();
        let last = all.clone().rev().find(is_kept);
        let chain: BTreeSet<usize> = std::iter::successors(last, |at| self.items[*at].0).collect();
        let told = all.filter(|at| is_kept(at) && (!habit.has_branches || chain.contains(at)));
        told.map(|at| self.items[at].1.clone()).collect()
    }
}

/// What the agent's list says where something was last kept then.
pub(super) fn listed(kept_at: Option<i64>) -> Vec<Value> {
    kept_at.map(|at| row("s1", "A session", &time::format(at))).into_iter().collect()
}
