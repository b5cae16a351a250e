//! What can wait a moment: writing what was recorded, deadlines, retention.

use crate::engine::Engine;
use crate::environment::Environment;
use crate::rpc::RpcError;
use crate::sessions::retention;
use crate::storage::{Durability, Storage, StorageError, Write};
use crate::store::{Changed, Title, keys};
use crate::transcript::Flushed;

/// How often retention looks, in milliseconds, when it first does, and how often while there is more to remove.
const SWEEP_EVERY: i64 = 600_000;
const SWEEP_FIRST: i64 = 3000;
const SWEEP_AGAIN: i64 = 100;
/// How many sessions it removes at a time: requests wait for these.
const SWEEP_BATCH: u32 = 4;
const HOUR: i64 = 3_600_000;

/// When retention would have looked last, for it to look first when a new connection has settled.
pub(super) fn first_sweep(now: i64) -> i64 {
    now - SWEEP_EVERY + SWEEP_FIRST
}

impl<S: Storage, E: Environment> Engine<S, E> {
    /// Time has passed. Returns when to call again.
    pub(crate) fn tick(&mut self) -> u32 {
        let now = self.now();
        if !self.connection.sessions.is_empty() {
            self.beat();
        }
        self.write_due();
        self.attach_overdue(now);
        self.closing_overdue(now);
        self.sweep(now);
        if self.discover_some() {
            return 0;
        }
        let is_dirty = self
            .connection
            .sessions
            .values()
            .any(|open| open.recorder.is_dirty() || open.state_dirty || open.touched.is_some());
        if is_dirty { self.settings.flush_ms } else { 1000 }
    }

    /// Writes what was recorded, if it has waited long enough.
    fn write_due(&mut self) -> bool {
        let now = self.now();
        if now - self.connection.flushed < i64::from(self.settings.flush_ms) {
            return false;
        }
        self.connection.flushed = now;
        for id in self.connection.sessions.keys().cloned().collect::<Vec<_>>() {
            self.renew_mark(&id);
            // A failure has been reported; what could not be written waits for the next time.
            let _ = self.write_session(&id, false);
        }
        true
    }

    /// The same while lines keep coming, and what has grown large at once.
    pub(crate) fn flush_full(&mut self) {
        if self.write_due() {
            return;
        }
        let full = self.connection.sessions.iter().filter(|(_, open)| open.recorder.is_full());
        for id in full.map(|(id, _)| id.clone()).collect::<Vec<_>>() {
            let _ = self.write_session(&id, false);
        }
    }

    /// Writes what was recorded of a session. At the end of a turn (`close`) it is on disk when this returns, and what
    /// comes next starts a new entry.
    pub(super) fn write_session(&mut self, id: &str, close: bool) -> Result<(), RpcError> {
        let result = self.try_write_session(id, close);
        if let Err(error) = &result {
            self.recording_failed(error);
        } else {
            self.connection.warned = false;
        }
        Ok(result?)
    }

    fn try_write_session(&mut self, id: &str, close: bool) -> Result<(), StorageError> {
        let Some(open) = self.connection.sessions.get_mut(id) else { return Ok(()) };
        if open.deleted {
            open.recorder.discard();
            return Ok(());
        }
        if open.replaying.as_ref().is_some_and(|replaying| replaying.is_unknown) && open.attach.is_some() {
            // Nothing is stored of a session before the agent has said that it exists, unless it is a lot.
            if !open.recorder.is_full() {
                return Ok(());
            }
        }
        if close {
            open.recorder.close_run();
        }
        let state = open.state_dirty.then(|| Write::Put { key: keys::state(id), value: open.state.to_text() });
        let state: Vec<Write> = state.into_iter().collect();
        if open.recorder.flush(&self.store, &state, Durability::Relaxed)? == Flushed::Deleted {
            open.deleted = true;
            return Ok(());
        }
        open.state_dirty = false;
        let (Some(now), prompts, title) = (open.touched, open.new_prompts, open.title.clone()) else { return Ok(()) };
        let change = self.store.change(id);
        let change = if close { change.durable() } else { change };
        let changed = change.commit(|before, _, _| {
            let Some(mut session) = before.cloned() else { return Ok(None) };
            session.touch(now);
            session.prompts += prompts;
            if session.title == Title::None
                && let Some(title) = &title
            {
                session.title = Title::Auto(title.clone());
            }
            Ok(Some(Some(session)))
        })?;
        let Some(open) = self.connection.sessions.get_mut(id) else { return Ok(()) };
        open.touched = None;
        open.new_prompts = 0;
        open.title = None;
        match changed {
            Changed::Nothing => open.deleted = true,
            Changed::Done { before: Some(before), after: Some(after) } => {
                if let (Title::None, Title::Auto(title)) = (&before.title, &after.title) {
                    let update = serde_json::json!({ "sessionUpdate": "session_info_update", "title": title });
                    self.notify(id, &update.to_string());
                }
            }
            Changed::Done { .. } => {}
        }
        Ok(())
    }

    /// Tells the host, once, that the conversation goes on but is not recorded.
    pub(super) fn recording_failed(&mut self, error: &StorageError) {
        if !std::mem::replace(&mut self.connection.warned, true) {
            self.warn(format!("what is said now is not recorded: {error}"));
        }
    }

    /// Removes what has been idle for too long, a few sessions at a time.
    fn sweep(&mut self, now: i64) {
        if now - self.connection.swept < SWEEP_EVERY {
            return;
        }
        let policy = retention::Policy {
            idle_since: days_before(now, self.settings.retain_days),
            unprompted_since: hours_before(now, self.settings.prune_empty_hours),
        };
        let from = self.connection.sweep_from.take();
        match retention::sweep(&self.store, &policy, now, SWEEP_BATCH, from) {
            Ok(swept) => {
                self.connection.swept = if swept.next.is_some() { now - SWEEP_EVERY + SWEEP_AGAIN } else { now };
                self.connection.sweep_from = swept.next;
            }
            Err(error) => {
                self.connection.swept = now;
                self.warn(format!("old sessions could not be removed: {error}"));
            }
        }
    }
}

fn days_before(now: i64, days: u32) -> Option<i64> {
    (days > 0).then(|| now - i64::from(days) * 24 * HOUR)
}

fn hours_before(now: i64, hours: u32) -> Option<i64> {
    (hours > 0).then(|| now - i64::from(hours) * HOUR)
}
