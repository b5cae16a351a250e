//! Turns that the agent has heard, though it need not have heard all that stands before them.

use std::collections::BTreeSet;

use super::opening::Opening;
use super::{LiveSession, Target};
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::step::Step;
use crate::environment::Environment;
use crate::sessions::mend;
use crate::storage::{Storage, StorageError};
use crate::store::Session;
use crate::transcript::{is_any_said, is_last_of, turns_behind};

impl LiveSession {
    /// The tags of the turns that it has heard wherever they stand: those of the window's since it has the session open, and those that
    /// it had then.
    pub(super) fn turns_heard<S: Storage, E: Environment>(
        &self,
        window: &str,
        cx: &Cx<'_, S, E>,
    ) -> Result<BTreeSet<String>, StorageError> {
        let id = self.key.id().unwrap_or_default();
        let since =
            self.opened_behind.map(|behind| turns_behind(cx.store.storage(), id, behind, window)).transpose()?;
        Ok(since.into_iter().flatten().chain(self.turns_had.iter().cloned()).collect())
    }

    /// The agent has opened it in this way, or told it once more.
    pub(super) fn note_turns_had(&mut self, opening: &mut Opening, step: Step) {
        if !opening.was_open() || opening.is_detached() {
            self.turns_had.clear();
        }
        self.turns_had.append(&mut opening.turns_told);
        if let (Step::Fork, Target::Fork(parent)) = (step, &mut opening.target) {
            self.turns_had.append(&mut parent.turns_heard);
        }
    }

    /// The turns that it has heard, for the agent to fork its session: all of them that are not known to be heard by what the record
    /// says. An agent whose programs each go on with a branch of their own may fork the one that was written to last, so there are none
    /// unless that is this window's.
    pub(in crate::connection) fn turns_to_fork<S: Storage, E: Environment>(
        &self,
        session: &Session,
        cx: &mut Cx<'_, S, E>,
    ) -> BTreeSet<String> {
        let is_its_own = session.id_at(&cx.agent.name) == Some(&*self.agent_id);
        if !self.is_open() || self.is_in_turn() || !is_its_own || cx.agent.is_layer {
            return BTreeSet::new();
        }
        // What cannot be read it is told once more.
        self.turns_of_branch(session, cx).unwrap_or_else(|error| {
            cx.push(Effect::NotRecorded(error.to_string()));
            BTreeSet::new()
        })
    }

    fn turns_of_branch<S: Storage, E: Environment>(
        &self,
        session: &Session,
        cx: &Cx<'_, S, E>,
    ) -> Result<BTreeSet<String>, StorageError> {
        let (storage, window) = (cx.store.storage(), self.window(cx));
        let heard = session.heard_under_any_name(&cx.agent.name, &self.agent_id);
        let is_elsewhere = || mend::is_at_work_elsewhere(cx.store, &session.id, cx.connection, cx.now());
        if is_any_said(storage, session, heard)? && is_last_of(storage, session, &window)? && !is_elsewhere()? {
            return self.turns_heard(&window, cx);
        }
        Ok(BTreeSet::new())
    }
}
