//! Another window has taken over what its agent has told, while this one has the session open: places in the transcript are
//! others than they were, and something was said that neither this one's agent has heard nor its client was shown.

use super::LiveSession;
use super::agents_copy::AgentsCopy;
use super::opened::untold;
use crate::connection::cx::Cx;
use crate::connection::effect::Effect;
use crate::connection::told::Untold;
use crate::environment::Environment;
use crate::storage::{Storage, StorageError};
use crate::store::{Known, Session};
use crate::transcript::{LaidOut, Shown};

impl LiveSession {
    /// Looks whether the transcript was laid out anew, and reckons by that.
    pub(super) fn note_layout<S: Storage, E: Environment>(
        &mut self,
        cx: &mut Cx<'_, S, E>,
    ) -> Result<(), StorageError> {
        let Some(id) = self.key.id().map(str::to_owned) else { return Ok(()) };
        let Some(session) = cx.store.session(&id)? else { return Ok(()) };
        let agrees = || session.agents.get(&cx.agent.name).is_some_and(Known::agrees);
        if matches!(self.copy, AgentsCopy::Known { .. }) && cx.follows_list() && agrees() {
            self.copy = AgentsCopy::Known { at: Some(cx.now()) };
        }
        if self.in_step.laid_out().is_of(&session) {
            return Ok(());
        }
        let before = self.in_step.lay_out(LaidOut::of(&session));
        self.show_taken_over(&before, &id, cx);
        self.reckon_anew(&before, &session, cx);
        Ok(())
    }

    /// Its positions are those of a transcript that was laid out like this; the record has it as it is now.
    fn reckon_anew<S: Storage, E: Environment>(&mut self, before: &LaidOut, session: &Session, cx: &mut Cx<'_, S, E>) {
        let is_any_new = self.in_step.laid_out().new_since(before, &session.id).next().is_some();
        let seen = self.recorder.seen().unwrap_or_default();
        let unheard = self.untold_for_sure();
        // What it has told by itself it may be told once more.
        self.overheard = None;
        let heard = match unheard {
            Some(Untold::Place(heard)) => Some(before.carried(heard, session)),
            Some(Untold::Entry(behind)) if is_any_new => Some(before.carried_up_to(behind, session)),
            None if is_any_new => Some(before.carried_up_to(seen, session)),
            Some(Untold::Entry(_)) | None => None,
        };
        self.untold = match heard {
            Some(heard) => untold(session, heard, cx),
            None => unheard,
        };
        for turn in self.turns_mut().into_iter().flatten() {
            if let Some(Untold::Place(heard)) = turn.account {
                turn.account = Some(Untold::Place(before.carried(heard, session)));
            }
        }
        // It has heard nothing of its session yet.
        if self.stands_in_since.is_some() {
            self.stands_in_since = Some(session.length_up_to(seen));
        }
    }

    /// Its client was shown the log so far, of a transcript that was laid out like this.
    pub(super) fn note_shown_as<S: Storage, E: Environment>(
        &mut self,
        shown: Shown,
        laid_out: &LaidOut,
        cx: &mut Cx<'_, S, E>,
    ) {
        self.note_shown(shown, cx);
        let id = self.key.id().unwrap_or_default().to_owned();
        self.show_taken_over(laid_out, &id, cx);
    }

    /// What others have taken over since the transcript of the session of this id was laid out like this is to be shown. Where
    /// that cannot be read, a load shows it.
    pub(super) fn show_taken_over<S: Storage, E: Environment>(
        &mut self,
        before: &LaidOut,
        id: &str,
        cx: &mut Cx<'_, S, E>,
    ) {
        if let Err(error) = self.in_step.show_taken_over(before, id, cx.store.storage()) {
            cx.push(Effect::NotRecorded(error.to_string()));
        }
    }
}
