//! Asking the agent for the history once more, where what it told was mixed with what it told for an earlier request.

use super::mixed::Mixed;
use super::{Comparing, Opening};
use crate::connection::cx::Cx;
use crate::connection::live::LiveSession;
use crate::connection::live::staging::Staging;
use crate::connection::step::Step;
use crate::environment::Environment;
use crate::rpc::RpcError;
use crate::storage::Storage;
use crate::store::Origin;

impl Opening {
    /// Whether its history is here, whatever its agent tells.
    pub(super) fn is_here(&self) -> bool {
        self.target.session().origin == Origin::Layer
    }

    /// What was told is mixed. Whoever waits for the history is shown it when it could be compared, and what only the agent has is
    /// not taken over doubled. `will_end`: the earlier request is answered, or will be, so that the next telling is not mixed
    /// with that.
    pub(super) fn found_mixed(&mut self, will_end: bool) {
        let is_waited_for = self.request.is_some() && self.wanted.is_history();
        let is_worth_asking = self.mixed == Mixed::No
            && will_end
            && self.comparing == Comparing::NowIfEver
            && (is_waited_for || !self.is_here());
        self.mixed = if is_worth_asking { Mixed::Found } else { Mixed::Settled };
    }
}

impl LiveSession {
    /// Whether the agent is to be asked once more.
    pub(super) fn is_to_ask_again(&self) -> bool {
        self.opening().is_some_and(|opening| opening.mixed == Mixed::Found)
    }

    /// Asks it, unless it is still at the earlier request.
    pub(super) fn ask_again<S: Storage, E: Environment>(&mut self, cx: &mut Cx<'_, S, E>) {
        let agent_id = self.agent_id.clone();
        let Some(opening) = self.opening_mut().filter(|opening| !opening.awaits_earlier) else { return };
        opening.mixed = Mixed::Settled;
        if let Some(staging) = opening.staging.take() {
            staging.discard(cx);
        }
        let Some(opening) = self.opening_mut() else { return };
        match Staging::begin(opening.target.session(), &agent_id, cx) {
            Ok(staging) => opening.staging = Some(staging),
            Err(error) => return self.fail(error.into(), cx),
        }
        opening.plan.push_front(Step::Load);
        self.next_step(cx);
    }

    /// The agent does not tell it once more, for this reason: it has the session open, and the client is shown what is in the
    /// log. What only the agent has is taken over as it was told before, if it was told from its beginning.
    pub(super) fn go_on_unasked<S: Storage, E: Environment>(&mut self, reason: RpcError, cx: &mut Cx<'_, S, E>) {
        let Some(opening) = self.opening_mut() else { return };
        opening.mixed = Mixed::Settled;
        if !opening.is_here() && opening.staging.as_ref().is_none_or(Staging::lacks_beginning) {
            return self.fail(reason, cx);
        }
        let is_here = opening.is_here();
        if let Some(staging) = opening.staging.take_if(|_| is_here) {
            staging.discard(cx);
        }
        match self.take_over(cx) {
            Ok(()) => self.go_on_attached(cx),
            Err(error) => self.fail(error, cx),
        }
    }
}
