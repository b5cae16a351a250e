//! Reading the agent's own list, after `initialize` and in the background, so that sessions made without the layer are
//! listed too, and what the agent knows better of the others.

mod followed;
mod forks;
mod gone;
mod in_doubt;
mod of_folder;
mod pages;
mod reading;
mod rows;
mod seen;
mod wanted;

use std::collections::{HashSet, VecDeque};
use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::waiting_lists::{WaitingList, WaitingLists};
use crate::connection::client_request::ClientRequest;
use crate::connection::list_meta::ListMeta;
use crate::connection::running::RunningAt;
use crate::sessions::discovered::ForkOf;
use forks::WaitingForks;
use in_doubt::InDoubt;
use seen::Seen;
use wanted::WantedMetas;

/// How long the first list on a store that never had this agent's list to its end waits for it, in milliseconds.
const PATIENCE: i64 = 1000;
/// How long a store that does not take what the list says is left alone, in milliseconds.
const PAUSE: i64 = 30_000;
/// How soon after it was begun it is begun again because the agent says that it is another one, in milliseconds.
const SOON: i64 = 1000;
/// How old it may be before somebody who looks at a list has it read anew, in milliseconds, and in how long it took to read:
/// an agent that reads all of its own files for it is not to be busy with that.
const FRESH_FOR: i64 = 60_000;
const FRESH_FOR_TIMES: i64 = 100;
/// For how long after it was asked for it tells what the agent has now, in milliseconds: a session may be gone on with at any
/// time without the layer.
const RECENT_FOR: i64 = 10_000;

/// How far the agent's list has been read.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Discovery {
    phase: Phase,
    /// This agent's list was read to its end before, for this store.
    was_complete: bool,
    pages: usize,
    /// What the cursors were that have led on, as hashes: one for each page at most.
    #[serde(skip)]
    cursors: HashSet<u64>,
    /// What is still to be taken in.
    #[serde(skip)]
    said: VecDeque<SessionNews>,
    /// The page behind them.
    #[serde(skip)]
    next: Option<String>,
    #[serde(skip)]
    seen: Seen,
    #[serde(skip)]
    in_doubt: InDoubt,
    forks: WaitingForks,
    /// How often it was begun again because rows had moved while it was read.
    repeated: u32,
    /// The agent's ids of sessions that were put away or brought back since, so that it may have said something else.
    archived_here: HashSet<String>,
    /// Archived sessions are asked for too, in this word.
    #[serde(skip)]
    archived: Option<&'static str>,
    /// Lists that wait for it.
    #[serde(skip)]
    waiting: WaitingLists,
    /// The `_meta` that the pages are asked for with, or were last.
    asked: ListMeta,
    /// What clients have listed with since.
    wanted: WantedMetas,
    /// When it was begun that it was read to its end, before it was begun again.
    was_read: Option<i64>,
    /// When its last page was asked for.
    asked_at: RunningAt,
    /// Since when the first list has waited for it, or had.
    waited_since: Option<i64>,
    /// When it was begun, and how long it took to read it to its end.
    begun: i64,
    took: i64,
    /// The agent has said that it is another one by now.
    is_stale: bool,
    trouble: Trouble,
}

/// What the agent has said of its sessions.
#[derive(Debug)]
enum SessionNews {
    /// A row, as JSON, and when it was asked for the list that this is of, or has told it by itself.
    Row { json: String, asked: i64 },
    /// That it has no session by this id any more.
    Gone(String),
    /// That this one was forked from another, whose row has come since.
    Fork(ForkOf),
}

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    #[default]
    Idle,
    /// Pages are asked for and taken in.
    Reading,
    /// What is not in the list any more is looked for, behind this key.
    Sifting(String),
    Done,
}

/// Whether the store takes what the list says.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
enum Trouble {
    #[default]
    None,
    /// It has not taken all of it; the host was told.
    Told,
    /// It takes nothing, and is left alone since then.
    Paused { since: i64 },
}

impl Discovery {
    /// Whether the agent's list has been read to its end.
    pub(super) fn is_read(&self) -> bool {
        self.read_since().is_some()
    }

    /// Whether nothing of it is being read, taken in or waited for.
    pub(super) fn is_at_rest(&self) -> bool {
        let Self {
            phase,
            said,
            in_doubt,
            waiting,
            // It is for the pages that are read next, which begin anew.
            pages: _,
            cursors: _,
            next: _,
            seen: _,
            archived: _,
            // It is handed over.
            was_complete: _,
            forks: _,
            repeated: _,
            archived_here: _,
            asked: _,
            wanted: _,
            was_read: _,
            asked_at: _,
            waited_since: _,
            begun: _,
            took: _,
            is_stale: _,
            trouble: _,
        } = self;
        matches!(phase, Phase::Idle | Phase::Done) && said.is_empty() && in_doubt.is_over() && waiting.is_empty()
    }

    /// When it was begun that it was last read to its end.
    fn read_since(&self) -> Option<i64> {
        let is_over = matches!(self.phase, Phase::Sifting(_) | Phase::Done);
        if is_over { Some(self.begun) } else { self.was_read }
    }

    /// When it was begun that it was last read to its end, and when the reading was that is under way, unless it is another one by now.
    pub(super) fn begun(&self) -> [Option<i64>; 2] {
        let is_being_read = self.phase == Phase::Reading;
        [self.read_since(), is_being_read.then_some(self.begun)].map(|begun| begun.filter(|_| !self.is_stale))
    }

    /// During which times it tells what the agent has then: for a moment, as long as nothing waits to be taken in. What an agent tells
    /// of changes is no more than that: a time alone it does not tell (draft: session list extensions).
    pub(super) fn holds(&self) -> Range<i64> {
        match self.read_since() {
            Some(_) if self.is_stale || !self.said.is_empty() => 0..0,
            Some(begun) => begun..begun.saturating_add(RECENT_FOR),
            None => 0..0,
        }
    }

    /// Whether a list would lack what the agent is about to tell. One that is long in coming, or does not come, was waited for
    /// when the first list has waited.
    pub(super) fn is_worth_waiting_for(&self, now: i64) -> bool {
        let is_about_to_tell = self.phase == Phase::Reading && !matches!(self.trouble, Trouble::Paused { .. });
        is_about_to_tell && !self.was_complete && self.waited_since.is_none_or(|since| patience(since, now) > 0)
    }

    /// Whether it is too early to try the store again.
    fn is_paused(&self, now: i64) -> bool {
        matches!(self.trouble, Trouble::Paused { since } if (0..PAUSE).contains(&(now - since)))
    }

    /// Whether it was read so long ago that it is to be read anew for somebody who looks at a list.
    pub(super) fn is_old(&self, now: i64) -> bool {
        self.is_read() && !(0..FRESH_FOR.max(self.took * FRESH_FOR_TIMES)).contains(&(now - self.begun))
    }

    /// Whether it is to be read anew because it is another one by now.
    fn is_outdated(&self, now: i64) -> bool {
        self.is_stale && !(0..SOON).contains(&(now - self.begun))
    }

    /// Whether it is to be read anew with what a client has listed with. An agent that gave no list is not asked again.
    fn is_wanted(&self, now: i64) -> bool {
        self.phase != Phase::Reading && self.is_read() && self.wanted.are_due(now)
    }

    /// A client lists with this: the agent is to be asked with it, unless that is what it is being asked with. Where that is
    /// what it was asked with last, it is left alone for a moment.
    fn want(&mut self, meta: ListMeta) {
        let is_asked = meta.asks_as(&self.asked);
        if is_asked && self.phase == Phase::Reading {
            return;
        }
        let again = self.begun + SOON.max(self.took * FRESH_FOR_TIMES);
        self.wanted.add(meta, if is_asked { again } else { 0 });
    }

    /// Whether lists wait.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn wait(&mut self, list: WaitingList) {
        self.waited_since.get_or_insert(list.since);
        self.waiting.push(list);
    }

    /// The user has put a session away, or brought it back, that the agent knows by this id.
    pub(super) fn archived_here(&mut self, agent_id: &str) {
        if self.phase == Phase::Reading {
            self.archived_here.insert(agent_id.to_owned());
        }
    }

    /// The agent has deleted a session.
    pub(super) fn deleted_there(&mut self) {
        self.seen.has_moved |= self.phase == Phase::Reading;
    }

    /// Takes a waiting list back; says whether it waited here.
    pub(super) fn withdraw(&mut self, request: &ClientRequest) -> bool {
        self.waiting.withdraw(request)
    }

    pub(super) fn release_lists(&mut self) {
        self.waiting.release();
    }

    /// A list that waits for nothing but room for its answer.
    pub(super) fn next_due(&mut self) -> Option<WaitingList> {
        self.waiting.next_released()
    }

    /// Whether there is one.
    pub(super) fn has_due(&self) -> bool {
        self.waiting.are_released()
    }

    /// For how many milliseconds lists that wait may still wait.
    pub(super) fn patience(&self, now: i64) -> Option<u32> {
        let since = self.waited_since.filter(|_| self.waiting.are_held())?;
        Some(patience(since, now))
    }
}

/// For how many milliseconds lists may wait now, if the first has since then. A clock that was set back ends that.
fn patience(since: i64, now: i64) -> u32 {
    let waited = now - since;
    if (0..PATIENCE).contains(&waited) { u32::try_from(PATIENCE - waited).unwrap_or(0) } else { 0 }
}
