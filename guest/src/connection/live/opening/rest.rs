//! An answer that does not count before the agent has told the rest of the history.

use super::{Attached, Opening};
use crate::connection::cx::Cx;
use crate::connection::live::session_update::Update;
use crate::connection::live::{LiveSession, Phase};
use crate::connection::step::Step;
use crate::environment::Environment;
use crate::storage::Storage;
use crate::store::Origin;
use crate::transcript::UpdateKind;

impl Opening {
    /// Whether an agent that has answered so, and told nothing before, tells all behind its answer, as it is known to. Where that cannot
    /// be read, it is not known.
    pub(super) fn may_tell_all_behind<S: Storage, E: Environment>(&self, answer: &Attached, cx: &Cx<'_, S, E>) -> bool {
        let session = self.target.session();
        let has_history = session.origin == Origin::Agent || session.prompts > 0 || self.heard > 0;
        let may_tell = answer.step == Step::Load && !self.has_told && has_history;
        may_tell && cx.store.is_told_behind(&cx.agent.name).unwrap_or_default()
    }

    /// The agent has answered so; `None` where it may be telling the rest of the history yet, or all of it (`tells_behind`), whether or
    /// not that is compared with anything: else what it tells would be something new.
    pub(super) fn answered_in_full(&mut self, answer: Attached, tells_behind: bool, now: i64) -> Option<Attached> {
        let is_begun = answer.step == Step::Load && self.has_told;
        if !(is_begun || tells_behind) || !self.tells_on.answered(now) {
            return Some(answer);
        }
        self.answered = Some(answer);
        None
    }
}

impl LiveSession {
    /// Takes note of what the agent says while it opens the session.
    pub(in crate::connection::live) fn note_telling_on<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &Cx<'_, S, E>,
    ) {
        let now = cx.now();
        if let Some(opening) = self.opening_mut() {
            opening.tells_on.note(update, now);
        }
    }

    /// The agent says this. Where it is awaited to tell all of the history, and begins with something that is none of its user's words,
    /// it tells none: its answer counts.
    pub(in crate::connection::live) fn look_for_replay<S: Storage, E: Environment>(
        &mut self,
        update: &Update<'_>,
        cx: &mut Cx<'_, S, E>,
    ) {
        let is_none = update.kind.is_history() && update.kind != UpdateKind::UserChunk;
        if is_none && self.opening_mut().is_some_and(|opening| opening.tells_on.is_none_told()) {
            self.answer_counts(cx);
        }
    }

    /// Whether the agent may be telling the rest of a history.
    pub(in crate::connection) fn awaits_rest_of_history(&self) -> bool {
        matches!(&self.phase, Phase::Opening(opening) if opening.tells_on.is_awaited())
    }

    /// The agent's answer counts once it has been silent for long enough.
    pub(in crate::connection) fn rest_is_told<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let now = cx.now();
        if self.opening_mut().is_some_and(|opening| opening.tells_on.is_over(now)) {
            self.answer_counts(cx);
        }
    }

    fn answer_counts<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let Some(opening) = self.opening_mut() else { return };
        let Some(answer) = opening.answered.take() else { return };
        opening.current = None;
        self.attached(answer, cx);
    }
}
