//! A session that is open on this connection.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::attach::Attach;
use super::close::Closing;
use super::replay::Replaying;
use crate::engine::{Engine, Output};
use crate::environment::Environment;
use crate::rpc::Id;
use crate::sessions::open_marks::{self, Beat};
use crate::storage::{Durability, Storage};
use crate::store::{Session, State};
use crate::transcript::{Echo, Recorder};

/// How long the first mark may wait for the first of a history to be on its way, in milliseconds: writing takes a while.
const MARK_LATER: i64 = 500;

/// What is known of a session while it is open.
#[derive(Debug)]
pub(super) struct OpenSession {
    /// The id the agent knows it by.
    pub(super) agent_id: String,
    pub(super) recorder: Recorder,
    pub(super) state: State,
    pub(super) state_dirty: bool,
    /// Prompts and activity that the record does not show yet.
    pub(super) new_prompts: u64,
    pub(super) touched: Option<i64>,
    /// Prompts the agent is working on; more than one where the client does not wait.
    pub(super) turns: Vec<Turn>,
    /// A title made of the last prompt, should the session need one.
    pub(super) title: Option<String>,
    /// The next prompt is to be preceded by what was said before.
    pub(super) rehydrate: bool,
    /// The agent is still being made to open it.
    pub(super) attach: Option<Attach>,
    pub(super) replaying: Option<Replaying>,
    pub(super) closing: Option<Closing>,
    /// Lines from the client that wait until it is open.
    pub(super) held: VecDeque<String>,
    /// Deleted by another process: nothing is recorded any more.
    pub(super) deleted: bool,
    /// When its open mark is to be written, if it still is.
    pub(super) mark_due: Option<i64>,
}

/// A prompt the agent is working on.
#[derive(Debug)]
pub(super) struct Turn {
    /// The client's request.
    pub(super) request: Id,
    pub(super) cancelled: bool,
    pub(super) echo: Echo,
    /// What the agent was told besides; if it repeats that, nobody is to see it as something the user said.
    pub(super) told: Echo,
    /// A title made of the prompt, should the session need one.
    pub(super) title: Option<String>,
}

/// What survives the loss of the instance.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Kept {
    pub(super) agent_id: String,
    pub(super) rehydrate: bool,
}

impl OpenSession {
    pub(super) fn new(session: &Session, agent_id: String, state: State) -> Self {
        Self {
            agent_id,
            recorder: Recorder::new(&session.id),
            state,
            state_dirty: false,
            new_prompts: 0,
            touched: None,
            turns: Vec::new(),
            title: None,
            rehydrate: false,
            attach: None,
            replaying: None,
            closing: None,
            held: VecDeque::new(),
            deleted: false,
            mark_due: Some(0),
        }
    }

    /// Whether prompts and the like have to wait.
    pub(super) fn is_busy_opening(&self) -> bool {
        self.attach.is_some() || self.replaying.is_some()
    }
}

impl<S: Storage, E: Environment> Engine<S, E> {
    /// Gives a heartbeat if one is due: without it no open mark is believed.
    pub(super) fn beat(&mut self) {
        let now = self.now();
        let is_fresh = |beaten: i64| (0..open_marks::BEAT_EVERY).contains(&(now - beaten));
        if self.connection.beaten.is_some_and(is_fresh) {
            return;
        }
        self.connection.beaten = Some(now);
        match open_marks::beat(&self.store, &self.connection.name, now + open_marks::BELIEVED_FOR) {
            Ok(Beat::Renewed) => {}
            Ok(Beat::First) => {
                for open in self.connection.sessions.values_mut().filter(|open| !open.deleted) {
                    open.mark_due.get_or_insert(now);
                }
            }
            Err(error) => self.recording_failed(&error),
        }
    }

    /// The session is open from now on.
    pub(super) fn insert_open(&mut self, id: &str, open: OpenSession) {
        self.connection.gone.remove(&open.agent_id);
        self.connection.by_agent.insert(open.agent_id.clone(), id.to_owned());
        self.connection.sessions.insert(id.to_owned(), open);
        self.keep_open(id);
    }

    /// The agent knows the session by this id from now on.
    pub(super) fn rename_for_agent(&mut self, id: &str, agent_id: String) {
        if let Some(open) = self.connection.sessions.get_mut(id) {
            let old = std::mem::replace(&mut open.agent_id, agent_id.clone());
            if self.connection.by_agent.get(&old).is_some_and(|mapped| mapped == id) {
                self.connection.by_agent.remove(&old);
            }
            self.connection.by_agent.insert(agent_id, id.to_owned());
        }
        self.keep_open(id);
    }

    /// Hands the host what a fresh instance needs to carry on with this session.
    pub(super) fn keep_open(&mut self, id: &str) {
        let Some(open) = self.connection.sessions.get(id) else { return };
        let kept = Kept { agent_id: open.agent_id.clone(), rehydrate: open.rehydrate };
        let value = serde_json::to_string(&kept).ok();
        self.outputs.push_back(Output::Keep { key: format!("s/{id}"), value });
    }

    /// Has the session's open mark written a little later, if [`Self::mark_now`] does not do it before.
    pub(super) fn mark_soon(&mut self, id: &str) {
        let due = self.now() + MARK_LATER;
        if let Some(open) = self.connection.sessions.get_mut(id) {
            open.mark_due = Some(due);
        }
    }

    /// Writes the session's open mark if that is still to be done.
    pub(super) fn mark_now(&mut self, id: &str) {
        self.renew_mark_due(id, self.now() + MARK_LATER);
    }

    /// Writes the session's open mark if that is due.
    pub(super) fn renew_mark(&mut self, id: &str) {
        self.renew_mark_due(id, self.now());
    }

    fn renew_mark_due(&mut self, id: &str, due: i64) {
        let Some(open) = self.connection.sessions.get_mut(id) else { return };
        if open.deleted || open.mark_due.is_none_or(|mark| mark > due) {
            return;
        }
        open.mark_due = None;
        self.beat();
        let mark = open_marks::mark(id, &self.connection.name);
        if let Err(error) = self.store.commit(&[], vec![mark], Durability::Relaxed) {
            self.recording_failed(&error);
        }
    }

    /// The session is no longer open here. What still comes from the agent for it is dropped.
    pub(super) fn remove_open(&mut self, id: &str) -> Option<OpenSession> {
        let open = self.connection.sessions.remove(id)?;
        if self.connection.by_agent.get(&open.agent_id).is_some_and(|mapped| mapped == id) {
            self.connection.by_agent.remove(&open.agent_id);
        }
        self.connection.gone.insert(open.agent_id.clone());
        self.connection.replaying.retain(|replaying| replaying != id);
        self.connection.permissions.retain(|_, session| session != id);
        self.outputs.push_back(Output::Keep { key: format!("s/{id}"), value: None });
        let unmark = open_marks::unmark(id, &self.connection.name);
        if let Err(error) = self.store.commit(&[], vec![unmark], Durability::Relaxed) {
            self.recording_failed(&error);
        }
        Some(open)
    }
}
