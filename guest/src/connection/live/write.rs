//! Writing what was recorded: the log and the state now and then, and at the end of a turn with the record, in one
//! commit.

use serde_json::json;

use super::{AgentsCopy, EarlierState, Failing, LiveSession, Phase};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::environment::Environment;
use crate::rpc::RpcError;
use crate::storage::{Durability, Storage, StorageError, Write};
use crate::store::{Changed, Decision, Session, Title, keys};
use crate::transcript::Flushed;

impl LiveSession {
    /// Writes what waits. At the end of a turn (`close`) it is on disk when this returns, and what comes next starts a
    /// new entry.
    pub(in crate::connection) fn write<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
        close: bool,
    ) -> Result<(), StorageError> {
        let result = self.try_write(cx, close);
        match &result {
            Ok(()) => self.failing = None,
            Err(error) => {
                self.failing = Some(Failing::again(self.failing.as_ref(), cx.now(), cx.settings.flush_ms));
                cx.push(Effect::NotSaved { session: self.key.clone(), reason: error.to_string() });
            }
        }
        result
    }

    /// The same where it may wait: not while the store is to be left alone because it failed.
    pub(in crate::connection) fn write_if_due<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
        close: bool,
    ) {
        if self.failing.as_ref().is_none_or(|failing| failing.is_due(cx.now())) {
            // A failure has been reported; what could not be written waits for the next time.
            let _ = self.write(cx, close);
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
                self.recorder.discard();
                return Ok(());
            }
        }
        if close {
            self.recorder.close_run();
        }
        self.read_state(cx, &id);
        let writes_state = self.state_dirty && self.earlier_state == EarlierState::Known;
        let state = writes_state.then(|| Write::Put { key: keys::state(&id), value: self.state.to_text() });
        let state: Vec<Write> = state.into_iter().collect();
        if self.activity.touched.is_none() {
            if self.recorder.flush(cx.store, &state, Durability::Relaxed)? == Flushed::Deleted {
                self.deleted(cx);
            }
            self.state_dirty &= !writes_state;
            return Ok(());
        }
        let durability = if close { Durability::Durable } else { Durability::Relaxed };
        let (activity, agent, now) = (&self.activity, &cx.agent.name, cx.now());
        let (agent_id, copy) = (&*self.agent_id, self.copy);
        let (flushed, changed) = self.recorder.flush_with_end(cx.store, durability, |before, end, _, writes| {
            writes.extend(state.iter().cloned());
            let Some(mut session) = before.cloned() else { return Ok(Decision::Keep) };
            activity.note(&mut session, (agent, agent_id, copy), end, now);
            Ok(Decision::put(session))
        })?;
        self.state_dirty &= !writes_state;
        self.activity = super::Activity::default();
        match changed {
            Changed::Done { before: Some(before), after: Some(after) } => {
                if let (Title::None, Title::Auto(title)) = (&before.title, &after.title) {
                    let update = json!({ "sessionUpdate": "session_info_update", "title": title });
                    cx.notify(&id, &update.to_string());
                }
            }
            _ if flushed == Flushed::Deleted => self.deleted(cx),
            _ => {}
        }
        Ok(())
    }

    /// Tells the clients something about it.
    pub(in crate::connection) fn notify<S: Storage, E: Environment>(&self, update: &str, cx: &mut Cx<'_, S, E>) {
        if let Some(id) = self.key.id() {
            cx.notify(id, update);
        }
    }

    /// Reads the state that could not be read when the session was taken up; what has come since is newer.
    fn read_state<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>, id: &str) {
        if self.earlier_state == EarlierState::Known {
            return;
        }
        match cx.store.state(id) {
            Ok(stored) => {
                self.state = std::mem::take(&mut self.state).over(stored);
                self.earlier_state = EarlierState::Known;
            }
            Err(error) => cx.push(Effect::NotRecorded(error.to_string())),
        }
    }

    /// Somebody else has deleted it.
    pub(in crate::connection) fn deleted<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        self.recorder.discard();
        if let Phase::Open { turns, showing } = &mut self.phase {
            let showing = showing.take();
            self.phase = Phase::Deleted { turns: std::mem::take(turns) };
            if let Some((request, _)) = showing {
                cx.finish(&request, Err(RpcError::session_deleted_meanwhile(self.key.id().unwrap_or_default())));
            }
            // What waited for the page is told the same.
            self.release(cx);
        }
    }
}

impl super::Activity {
    /// What the record is to say of it; the session's own log ends at `end`.
    fn note(&self, session: &mut Session, (agent, agent_id, copy): (&str, &str, AgentsCopy), end: u32, now: i64) {
        if let Some(at) = self.touched {
            session.touch(at.max(session.updated.min(now)));
        }
        session.prompts += self.prompts;
        if session.title == Title::None
            && let Some(title) = &self.title
        {
            session.title = Title::Auto(title.clone());
        }
        let heard = session.length_up_to(end);
        if self.heard
            && let Some(known) = session.agents.get_mut(agent).filter(|known| known.id == agent_id)
        {
            known.heard = heard;
            if copy == AgentsCopy::Known {
                known.last_turn = Some((self.began.unwrap_or(now), now));
            }
        }
    }
}
