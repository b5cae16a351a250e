//! Whether nothing is under way in a session, and taking it up as another instance has left it.

use super::{Activity, Completeness, EarlierState, LiveSession, Phase};
use crate::connection::key::Key;
use crate::connection::load::Load;
use crate::store::ActivityState;

impl Phase {
    /// Open, and nothing is under way.
    pub(super) fn at_rest() -> Self {
        Self::Open { turns: Vec::new(), busy: None }
    }
}

impl LiveSession {
    /// Whether nothing is under way in it, so that all there is to know of it is handed over. Each member is named here:
    /// whatever is not handed over has to be nothing.
    pub(in crate::connection) fn is_at_rest(&self) -> bool {
        let Self {
            key,
            phase,
            waiting,
            recorder,
            failing,
            state_dirty,
            // It goes with what is dirty.
            state_changes: _,
            // It is reckoned anew.
            state_share: _,
            activity,
            spending,
            questions,
            unsent,
            own_turn,
            quote,
            retold,
            late_replay,
            recorded,
            said,
            // All of these are handed over.
            agent_id: _,
            last_turn: _,
            state: _,
            stored_state: _,
            earlier_state: _,
            untold: _,
            overheard: _,
            in_step: _,
            copy: _,
            others_ended: _,
            awaited: _,
            calls: _,
            told_calls: _,
            echo_filter: _,
            marked: _,
            opened_behind: _,
            turns_had: _,
            writes: _,
            stands_in_since: _,
            stands_in: _,
            subagents: _,
            parent: _,
            given: _,
            opened_with: _,
            folder: _,
            was_open: _,
            title_told: _,
            name_to_tell: _,
        } = self;
        let is_open = matches!(phase, Phase::Open { turns, busy: None } if turns.is_empty());
        let is_written = !recorder.is_dirty() && !state_dirty && failing.is_none() && *activity == Activity::default();
        let is_asked = !questions.is_empty() || !waiting.is_empty() || unsent.is_any() || unsent.is_any_begun();
        let is_told = spending.is_told_history() || quote.holds() || retold.is_some() || !late_replay.is_at_rest();
        let is_turns =
            own_turn.is_some() || *said != Completeness::Whole || unsent.said != ActivityState::Idle || *recorded > 0;
        key.id().is_some() && is_open && is_written && !spending.is_dirty() && !is_asked && !is_told && !is_turns
    }

    /// It goes on in this instance, under this id.
    pub(in crate::connection) fn taken_over(self, id: String, states: &Load) -> Self {
        let is_held = self.earlier_state == EarlierState::Known;
        let state_share = is_held.then(|| states.share(self.state.to_text().len()));
        Self { key: Key::Session(id), state_share, ..self }
    }
}
