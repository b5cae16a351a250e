//! What the agent's own list has said is being done in its sessions (draft: session list extensions, `state`).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::sessions::states::{AgentsWord, AgentsWords};

/// How long what it has said is believed, in milliseconds.
const BELIEVED_FOR: i64 = 30_000;
/// How old it may be before a list or a subscription has the agent asked anew.
const FRESH_FOR: i64 = 10_000;
/// Of how many sessions it is noted.
const MOST: usize = 4096;

/// What it has said, by session, and when.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct AgentsStates {
    #[serde(skip)]
    said: BTreeMap<String, (AgentsWord, i64)>,
    /// When its list was last begun to be read, of an agent that says such things.
    asked: Option<i64>,
    /// Up to which revision of the store it was looked whether there were other prompts.
    looked: u64,
}

impl AgentsStates {
    /// The agent has said so of a session.
    pub(super) fn note(&mut self, session: String, word: AgentsWord, now: i64) {
        self.asked.get_or_insert(now);
        if self.said.len() < MOST || self.said.contains_key(&session) {
            self.said.insert(session, (word, now));
        }
    }

    /// The agent does not say of a session any more what is being done in it.
    pub(super) fn forget(&mut self, session: &str) {
        self.said.remove(session);
    }

    /// Its list has been read to its end, which was begun then: what it has not said again it does not say any more.
    pub(super) fn forget_before(&mut self, begun: i64, now: i64) {
        self.said.retain(|_, (_, at)| (begun..=now).contains(at));
    }

    /// The sessions in which it has said that something is being done, and how many prompts each had got then.
    pub(super) fn at_work(&self) -> impl Iterator<Item = (&String, u64)> {
        self.said.iter().filter_map(|(id, (word, _))| Some((id, word.prompts?)))
    }

    /// Up to which revision of the store it was looked whether there were other prompts.
    pub(super) fn looked(&self) -> u64 {
        self.looked
    }

    /// It was looked whether there were other prompts, up to this revision: there were in these.
    pub(super) fn prompted_again(&mut self, sessions: &[String], looked: u64) {
        for session in sessions {
            self.forget(session);
        }
        self.looked = looked;
    }

    /// Whether nothing is noted.
    pub(super) fn are_none(&self) -> bool {
        self.said.is_empty()
    }

    /// What is still believed of those that nobody is at work in here. An agent that tells what changes is believed until it does.
    pub(super) fn believed(&mut self, now: i64, tells_changes: bool, is_at_work: impl Fn(&str) -> bool) -> AgentsWords {
        self.said.retain(|_, (_, at)| tells_changes || (*at..*at + BELIEVED_FOR).contains(&now));
        let others = self.said.iter().filter(|(id, _)| !is_at_work(id));
        others.map(|(id, (word, _))| (id.clone(), word.clone())).collect()
    }

    /// Whether it is time to ask the agent again; then it counts as asked.
    pub(super) fn ask_again(&mut self, now: i64) -> bool {
        let is_old = self.asked.is_some_and(|asked| !(asked..asked + FRESH_FOR).contains(&now));
        if is_old {
            self.asked = Some(now);
        }
        is_old
    }
}
