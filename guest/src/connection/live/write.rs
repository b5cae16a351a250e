//! Writing what was recorded: the log and the state now and then, and at the end of a turn with the record, in one
//! commit.

use super::activity::{Activity, By};
use super::state_to_write::StateToWrite;
use super::{Busy, Failing, LiveSession, Phase, StandsIn};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::environment::Environment;
use crate::rpc::RpcError;
use crate::sessions::delete;
use crate::sessions::open_marks::{self, Written};
use crate::storage::{Durability, Expectation, Storage, StorageError, Write};
use crate::store::{ActivityState, Changed, Decision, State, Store, Title, keys};
use crate::transcript::{Flushed, Piece};

impl LiveSession {
    /// Writes what waits. At the end of a turn, or where it is to be looked at (`close`), it is on disk when this returns, and what
    /// comes next starts a new entry, though it may go on with the same message.
    pub(in crate::connection) fn write<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
        close: bool,
    ) -> Result<(), StorageError> {
        let result = self.try_write(cx, close);
        match &result {
            Ok(()) => {
                self.failing = None;
                self.note_own_turn_written();
            }
            Err(error) => {
                self.failing = Some(Failing::again(self.failing.as_ref(), cx.now(), cx.settings.flush_ms));
                cx.push(Effect::NotSaved { session: self.key.clone(), reason: error.to_string() });
            }
        }
        result
    }

    /// Writes what waits, where it may wait: not while the store is to be left alone because it failed. Says whether
    /// all is written.
    pub(in crate::connection) fn write_if_due<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
        close: bool,
    ) -> bool {
        // A failure is reported; what could not be written waits for the next time.
        self.failing.as_ref().is_none_or(|failing| failing.is_due(cx.now())) && self.write(cx, close).is_ok()
    }

    /// Writes what waits, where what is there is to be looked at, which can be done though nothing can be written. Says
    /// whether all is written.
    pub(in crate::connection) fn write_if_possible<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<bool, StorageError> {
        match self.write(cx, true) {
            Ok(()) => Ok(true),
            // What an agent at work says meanwhile is shown as it stands in the log.
            Err(error) if error.is_not_to_write() && !self.is_in_turn() => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn try_write<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
        close: bool,
    ) -> Result<(), StorageError> {
        let Some(id) = self.key.id().map(str::to_owned) else { return Ok(()) };
        match self.phase {
            Phase::Open { .. } | Phase::Closing(_) => {}
            // Nothing is stored of a session before it is open: one that does not open after all leaves nothing behind.
            Phase::Opening(_) | Phase::Gone => return Ok(()),
            Phase::Deleted { .. } => {
                self.forget_unwritten();
                return Ok(());
            }
        }
        // What comes with a change of its record puts that back itself.
        if self.is_dirty() && (self.activity.touched.is_none() || self.recorder.is_long()) {
            self.put_back(cx)?;
        }
        if !cx.requests.is_told_in_vain(&self.agent_id) {
            self.spending.end_history();
        }
        if close {
            self.recorder.part_run();
        }
        self.leave_out_given_back(cx)?;
        self.leave_out_taken_over(cx)?;
        let durability = if close { Durability::Durable } else { Durability::Relaxed };
        if self.write_pieces(cx, &id, durability)? == Flushed::Deleted {
            self.deleted(cx);
            return Ok(());
        }
        let note = self.note_of_write(cx, &id);
        let unsent = self.unsent.writes().collect();
        let mut beside = Beside { state: self.state_to_write(&cx.agent.name), note, unsent, id };
        let (id, is_noted) = (beside.id.clone(), beside.note.is_some());
        if self.activity.touched.is_none() && self.spending.is_dirty() && !self.is_in_turn() {
            return self.write_spending(cx, beside);
        }
        if self.activity.touched.is_none() {
            if self.flush_beside(&mut beside, cx)? == Flushed::Deleted {
                self.deleted(cx);
            }
            self.all_written(is_noted, beside.state, cx);
            return Ok(());
        }
        let (activity, agent, now) = (&self.activity, cx.agent.name.as_str(), cx.now());
        let by = By {
            agent,
            agent_id: &self.agent_id,
            copy: self.copy,
            takes_place_since: self.stands_in_since.filter(|_| self.stands_in == StandsIn::Until),
            laid_out: self.in_step.laid_out(),
        };
        let has_settled = self.others_ended && !self.is_in_turn();
        let forgotten = self.forgotten();
        let (store, spending) = (cx.store, Some(&self.spending).filter(|spending| spending.is_dirty()));
        let mut is_told = false;
        let (flushed, changed) =
            self.recorder.flush_with_end(cx.store, durability, |before, end, expected, writes| {
                is_told = false;
                beside.add(store, expected, writes)?;
                let mut session = before.cloned().unwrap_or_else(|| forgotten.record(&id, by.agent, now, writes));
                let id_before = session.id_at(by.agent).map(str::to_owned);
                activity.note(&mut session, &by, end, now);
                let told = (agent, activity.touched.unwrap_or(now));
                is_told = spending.is_some_and(|spending| spending.note(store, &mut session, told, expected, writes));
                if session.id_at(by.agent) != id_before.as_deref() {
                    // The store may not have taken it when the agent began its session.
                    writes.push(Write::Put {
                        key: keys::agent_session(by.agent, by.agent_id),
                        value: session.id.clone(),
                    });
                }
                if has_settled && end.is_known() {
                    session.settled = session.length_up_to(end.last);
                }
                Ok(Decision::put(session))
            })?;
        self.all_written(is_noted, beside.state, cx);
        if is_told {
            self.spending.noted();
        }
        let activity = std::mem::take(&mut self.activity);
        self.stands_in_since.take_if(|_| activity.succeeded && self.stands_in == StandsIn::Until);
        match changed {
            Changed::Done { before: Some(before), after: Some(after) } => {
                if let (Title::None, Title::Auto(title)) = (&before.title, &after.title) {
                    self.name_to_tell = Some(title.clone());
                }
                if close || !self.is_in_turn() {
                    self.tell_name(&after.title, cx);
                }
            }
            // Its state went with its record.
            Changed::Done { before: None, .. } => self.state_changed(cx),
            _ if flushed == Flushed::Deleted => self.deleted(cx),
            _ => {}
        }
        Ok(())
    }

    /// Writes what waits where no turn is under way and there is more of what the session has used: its record says so.
    fn write_spending<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
        mut beside: Beside,
    ) -> Result<(), StorageError> {
        let is_noted = beside.note.is_some();
        let (store, agent, now) = (cx.store, cx.agent.name.as_str(), cx.now());
        let spending = &self.spending;
        let mut is_told = false;
        let (flushed, _) = self.recorder.flush_with(store, Durability::Relaxed, |before, expected, writes| {
            is_told = false;
            beside.add(store, expected, writes)?;
            let Some(before) = before else { return Ok(Decision::Keep) };
            let mut session = before.clone();
            is_told = spending.note(store, &mut session, (agent, now), expected, writes);
            Ok(if is_told { Decision::put(session) } else { Decision::Keep })
        })?;
        if is_told {
            self.spending.noted();
        }
        if flushed == Flushed::Deleted {
            self.deleted(cx);
        }
        self.all_written(is_noted, beside.state, cx);
        Ok(())
    }

    /// Writes what waits where the record stays as it is.
    fn flush_beside<S: Storage, E: Environment>(
        &mut self,
        beside: &mut Beside,
        cx: &Cx<'_, S, E>,
    ) -> Result<Flushed, StorageError> {
        if beside.state.is_none() {
            let note: Vec<Write> = beside.note.take().into_iter().chain(std::mem::take(&mut beside.unsent)).collect();
            return self.recorder.flush(cx.store, &note, Durability::Relaxed);
        }
        let (flushed, _) = self.recorder.flush_with(cx.store, Durability::Relaxed, |_, expected, writes| {
            beside.add(cx.store, expected, writes)?;
            Ok(Decision::Keep)
        })?;
        Ok(flushed)
    }

    /// Writes all that waits but the last piece of it.
    fn write_pieces<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
        id: &str,
        durability: Durability,
    ) -> Result<Flushed, StorageError> {
        if !self.recorder.is_long() {
            return Ok(Flushed::Written);
        }
        self.mark(cx);
        loop {
            let (marked, times, state) = (self.marked.as_deref(), *cx.writes + 1, self.activity_state());
            let note = |arrivals| {
                let arrivals = u32::try_from(arrivals).unwrap_or(u32::MAX);
                mark_of_write(id, marked, Written { times, arrivals }, state)
            };
            match self.recorder.write_piece(cx.store, durability, cx.before, note)? {
                Piece::Last => return Ok(Flushed::Written),
                Piece::Written { is_noted } => self.written(is_noted, cx),
                Piece::Deleted => return Ok(Flushed::Deleted),
            }
        }
    }

    /// What is written beside the log, if anything is written to it: how far the arrivals are in it then. A fresh instance
    /// is given again what a lost one was at.
    fn note_of_write<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>, id: &str) -> Option<Write> {
        if !self.recorder.is_dirty() && !self.is_awaited_unwritten() {
            return None;
        }
        self.mark(cx);
        let written = Written { times: *cx.writes + 1, arrivals: cx.arrivals };
        mark_of_write(id, self.marked.as_deref(), written, self.activity_state())
    }

    /// All that waited was written.
    fn all_written<S: Storage, E: Environment>(
        &mut self,
        is_noted: bool,
        state: Option<StateToWrite>,
        cx: &mut Cx<'_, S, E>,
    ) {
        self.written(is_noted, cx);
        self.state_written(state, cx);
        self.unsent.clear_begun();
    }

    /// Something was written. With a note, it was one of the connection's writes to logs.
    fn written<S: Storage, E: Environment>(&mut self, is_noted: bool, cx: &mut Cx<'_, S, E>) {
        if is_noted {
            *cx.writes += 1;
            self.writes = *cx.writes;
            self.awaited_written();
            self.note_mark_written();
        }
    }

    /// Tells the clients something about it.
    pub(in crate::connection) fn notify<S: Storage, E: Environment>(&self, update: &str, cx: &mut Cx<'_, S, E>) {
        if let Some(id) = self.key.id() {
            cx.notify(id, update);
        }
    }

    /// Nothing of it is kept any more.
    fn forget_unwritten(&mut self) {
        self.recorder.discard();
        self.state_dirty = false;
        self.state_changes = State::default();
        self.activity = Activity::default();
    }

    /// Somebody else has deleted it.
    pub(in crate::connection) fn deleted<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        self.recorder.discard();
        if let Err(error) = self.delete_unnoted(cx) {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
        if let Phase::Closing(closing) = &mut self.phase {
            closing.deleted = true;
        }
        if let Phase::Open { turns, busy } = &mut self.phase {
            let busy = busy.take();
            self.phase = Phase::Deleted { turns: std::mem::take(turns) };
            if let Some(request) = busy.as_ref().and_then(Busy::request) {
                cx.finish(request, Err(RpcError::session_deleted_meanwhile(self.key.id().unwrap_or_default())));
            }
            // What waited for the page is told the same.
            self.release(cx);
        }
    }

    /// What the agent has it open by is to be deleted too, also where the store did not take note of that id, so that who
    /// deleted it did not know.
    fn delete_unnoted<S: Storage, E: Environment>(&self, cx: &mut Cx<'_, S, E>) -> Result<(), StorageError> {
        let Some(id) = self.key.id().filter(|_| !self.agent_id.is_empty()) else { return Ok(()) };
        if cx.store.is_deleted(id)? {
            delete::unknown(cx.store, &cx.agent.name, &self.agent_id, cx.now())?;
        }
        Ok(())
    }
}

/// The open mark of a session, if a connection has set it, with what the connection has written and is doing.
fn mark_of_write(id: &str, marked: Option<&str>, written: Written, state: ActivityState) -> Option<Write> {
    marked.map(|connection| open_marks::mark_written(id, connection, written, state))
}

/// What is written with what waits, besides the record.
struct Beside {
    id: String,
    state: Option<StateToWrite>,
    note: Option<Write>,
    /// What takes out of the store what has waited for its turn.
    unsent: Vec<Write>,
}

impl Beside {
    /// Adds it to the writes of a commit.
    fn add<S: Storage>(
        &mut self,
        store: &Store<S>,
        expected: &mut Vec<Expectation>,
        writes: &mut Vec<Write>,
    ) -> Result<(), StorageError> {
        writes.extend(self.note.iter().chain(&self.unsent).cloned());
        self.state.as_mut().map_or(Ok(()), |state| state.add(&self.id, store, expected, writes))
    }
}
