//! A window, and the program of the agent behind it.

use std::collections::{BTreeSet, VecDeque};

use acp_sessions_guest::storage::Memory;
use serde_json::Value;

use super::habit::{Habit, Opens, opens};
use super::kept::listed;
use crate::desk::{Desk, World};
use crate::scenes::listing;

/// A prompt that an agent was sent.
#[derive(Debug)]
pub(super) struct Turn {
    pub(super) request: Value,
    pub(super) blocks: Vec<Value>,
    pub(super) answer: String,
    /// How often something was said.
    pub(super) answers: usize,
    /// What is kept of it once it has come to its end.
    pub(super) items: Vec<Value>,
    /// What is kept of it already.
    pub(super) kept: Vec<usize>,
    pub(super) is_command: bool,
    /// Which of the turns that were had.
    pub(super) had: usize,
    /// What the agent was told before it.
    pub(super) account: BTreeSet<String>,
    /// Behind what it was begun, and how much was kept then.
    pub(super) behind: Option<usize>,
    pub(super) begun_at: usize,
}

/// A window, with a program of the agent of its own.
pub(super) struct Window<'a> {
    pub(super) desk: Desk<'a>,
    pub(super) last: Option<usize>,
    /// Something was kept that was said in it.
    pub(super) has_kept: bool,
    pub(super) running: Option<Turn>,
    pub(super) queue: VecDeque<Turn>,
    /// What its program has heard.
    pub(super) heard: BTreeSet<String>,
    /// What it may have.
    pub(super) may_have_heard: BTreeSet<String>,
    /// What nobody knows of whether it has.
    pub(super) unclear: BTreeSet<String>,
}

impl<'a> Window<'a> {
    pub(super) fn new(store: &'a Memory, world: &'a World, habit: Habit, kept_at: Option<i64>) -> Self {
        let desk = match habit.opens {
            Opens::ByLoad | Opens::ByResume => Desk::ready(store, world, &opens(habit)),
            Opens::AsListed => listing(store, world, "a", &opens(habit), &listed(kept_at)),
        };
        Self {
            desk,
            last: None,
            has_kept: false,
            running: None,
            queue: VecDeque::new(),
            heard: BTreeSet::new(),
            may_have_heard: BTreeSet::new(),
            unclear: BTreeSet::new(),
        }
    }
}
