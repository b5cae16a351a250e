//! What is state rather than history of a session: written with what is recorded, and held in memory as far as all sessions
//! together do not take too much of it.

use super::state_to_write::{StateToWrite, StoredAs};
use super::{EarlierState, LiveSession};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::environment::Environment;
use crate::storage::Storage;
use crate::store::State;

impl LiveSession {
    /// Something of the state is as it was not before.
    pub(super) fn state_changed<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        self.state_dirty = true;
        self.bound_state(cx);
    }

    fn bound_state<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        for value in self.state.bound() {
            let id = self.key.id().unwrap_or_default();
            cx.push(Effect::Warn(format!("`{value}` of session {id} is too long to be kept as part of its state")));
        }
    }

    /// Has the whole state in memory. Where it cannot be read, what has come since it was last held is all there is.
    pub(super) fn read_state<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        if self.earlier_state == EarlierState::Known {
            return;
        }
        let Some(id) = self.key.id() else { return };
        match cx.store.state(id) {
            Ok(stored) => {
                // What has come since is newer.
                self.state = std::mem::take(&mut self.state).over(stored.with_agent(&cx.agent.name));
                self.earlier_state = EarlierState::Known;
                self.bound_state(cx);
                self.stored_state = (!self.state_dirty).then(|| StoredAs::of(&self.state.to_text()));
            }
            Err(error) => cx.push(Effect::NotRecorded(error.to_string())),
        }
    }

    /// Something of it has become so; what other windows have told meanwhile stays as it is in the store.
    pub(super) fn change_state(&mut self, change: impl Fn(&mut State)) {
        change(&mut self.state);
        change(&mut self.state_changes);
    }

    /// The state as it is to be written, if it is, with what is in force with the agent of this name.
    pub(super) fn state_to_write(&self, agent: &str) -> Option<StateToWrite> {
        self.state_dirty.then(|| {
            let whole = (self.earlier_state == EarlierState::Known).then(|| self.state.to_text());
            StateToWrite::new(whole, self.state_changes.clone(), agent, self.stored_state)
        })
    }

    /// The state was written like this.
    pub(super) fn state_written<S: Storage, E: Environment>(&mut self, state: Option<StateToWrite>, cx: &Cx<'_, S, E>) {
        let Some(state) = state else { return };
        self.state_dirty = false;
        self.state_changes = State::default();
        // Nothing is written of a session that was deleted meanwhile.
        let Some((length, stored)) = state.written() else { return };
        self.stored_state = stored;
        self.hold_state(length, cx);
    }

    /// The state is stored, and its text has this length. It is held as long as there is room.
    pub(in crate::connection) fn hold_state<S: Storage, E: Environment>(&mut self, length: usize, cx: &Cx<'_, S, E>) {
        self.state_share = None;
        let share = cx.states.share(length);
        if cx.states.is_full() && self.is_open() {
            self.state = State::default();
            self.stored_state = None;
            self.earlier_state = EarlierState::Unread;
        } else {
            self.state_share = Some(share);
        }
    }
}
